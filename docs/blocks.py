"""The fenced blocks of a Markdown file, each with the comment above it that tells what it is for.

| comment | the block |
|---|---|
| `<!-- run -->` | is run, and ends with exit code 0 |
| `<!-- run: exit 1 -->` | is run, and ends with exit code 1 |
| `<!-- serve -->` | is a long-running command: it is started, gets ready, and is stopped |
| `<!-- file: NAME -->` | is the content of a file |
| `<!-- append: NAME -->` | is added to the file |
| `<!-- shown: COMMAND -->` | is an excerpt of what the command prints |
| `<!-- shown -->` | is an excerpt of what the last command printed |
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"(?:^<!-- (?P<purpose>run|serve|file|append|shown)(?:: (?P<argument>[^\n]*?))? -->\n)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    place: str
    """File and line, for the message of a failed test."""
    language: str
    text: str
    purpose: str
    argument: str

    def lines(self) -> list[str]:
        """Return the lines, without empty ones and comments, and with broken ones put together."""
        whole = re.sub(r"\s*\\\n\s*", " ", self.text)
        return [line for line in whole.splitlines() if line.strip() and not line.startswith("#")]


def blocks(file: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a file, from top to bottom."""
    text = file.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start("text"))
        yield Block(
            place=f"{file.name}:{line}",
            language=found["language"],
            text=found["text"],
            purpose=found["purpose"] or "",
            argument=found["argument"] or "",
        )
