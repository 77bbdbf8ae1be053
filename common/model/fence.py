"""Markers around texts that a model must take as data, with a code that no text can know."""

from dataclasses import dataclass, field
from secrets import token_hex


@dataclass(frozen=True)
class Fence:
    """The markers of one prompt."""

    code: str = field(default_factory=lambda: token_hex(6))

    def around(self, kind: str, name: str, text: str) -> str:
        """Return a text between markers that say what it is."""
        # A name comes from outside, too, and must not end its line.
        told = " ".join(name.split()).replace("<", "").replace(">", "")
        opening = " ".join(part for part in (kind, self.code, told) if part)
        return f"<{opening}>\n{text}\n</{kind} {self.code}>"
