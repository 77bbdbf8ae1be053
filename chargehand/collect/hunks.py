"""The lines that a diff shows of the two versions of a file, and the runs of changes in them."""

from dataclasses import dataclass, field

from unidiff.patch import Hunk

from common.contracts import Span


@dataclass(frozen=True)
class Run:
    """Lines that changed together: where they are now, and what they replaced or stand next to."""

    new: Span | None
    old: Span | None


@dataclass
class Shown:
    """The lines of each version, by number, and the runs."""

    old: dict[int, str] = field(default_factory=dict)
    new: dict[int, str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)

    def read(self, hunk: Hunk) -> None:
        """Take the lines of the next hunk; ValueError when it is not below those before it."""
        start = hunk.target_start
        if hunk.target_length and start <= max(next(reversed(self.new), 0), 0):
            raise ValueError(f"its new lines start at {start}, not below those before it")
        removed: list[int] = []
        added: list[int] = []
        # The header of a hunk without old lines names the line before it.
        before = hunk.source_start - (hunk.source_length > 0)
        ended = self.new
        for line in hunk:
            if line.is_removed:
                removed.append(_put(self.old, line.source_line_no, line.value))
                ended = self.old
            elif line.is_added:
                added.append(_put(self.new, line.target_line_no, line.value))
                ended = self.new
            elif line.is_context:
                self._close(removed, added, before)
                before = _put(self.old, line.source_line_no, line.value)
                _put(self.new, line.target_line_no, line.value)
                removed, added, ended = [], [], self.new
            elif line.line_type == "\\":
                _end_without_line_feed(ended)
        self._close(removed, added, before)

    def _close(self, removed: list[int], added: list[int], before: int) -> None:
        if removed or added:
            old = removed or ([before] if before > 0 else [])
            self.runs.append(Run(new=_span(added), old=_span(old)))


def _put(lines: dict[int, str], number: int | None, text: str) -> int:
    if not number:
        raise ValueError("its lines count from 0; the first line of a file is 1")
    lines[number] = text
    return number


def _end_without_line_feed(lines: dict[int, str]) -> None:
    if lines:
        last = next(reversed(lines))
        lines[last] = lines[last].removesuffix("\n")


def _span(numbers: list[int]) -> Span | None:
    return Span(start=numbers[0], end=numbers[-1]) if numbers else None
