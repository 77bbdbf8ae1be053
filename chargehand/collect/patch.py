"""A unified diff as data: which files it changes, and which lines of them.

The hunks are parsed by `unidiff`. File names are read here, since git quotes them, lets them hold
` b/`, and leaves them out of the usual places when a file has no hunk.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from unidiff.constants import RE_HUNK_HEADER
from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from chargehand.collect import filenames
from chargehand.collect.filenames import NOWHERE
from chargehand.collect.hunks import Run, Shown
from common.contracts import Span
from common.errors import InputError

HEADER_LIMIT = 10_000
"""The most characters of a line that names files: a longer one is slow to match, and no one's."""
TEXTLESS_MODES = {"120000": "symbolic link", "160000": "submodule"}
REMEDY = "make it with `git diff` or `diff -u`"

_MOVED = re.compile(r"(?:rename|copy) (?P<side>from|to) (?P<name>.+)")
# A mail's signature (`-- `) and the next file's header may follow a hunk.
_MORE_OF_A_HUNK = re.compile(r"[+ ]|-(?!-(?: |- |$))")


@dataclass(frozen=True)
class Patch:
    """What a diff does to one file."""

    path: str
    before: str | None
    """Its path in the old version; None for a new file."""
    line: int
    """Where it starts in the diff."""
    deleted: bool = False
    binary: bool = False
    mode: str | None = None
    runs: tuple[Run, ...] = ()
    old: dict[int, str] = field(default_factory=dict)
    new: dict[int, str] = field(default_factory=dict)
    """The lines of each version that the diff shows, by their number."""
    added: int = 0
    removed: int = 0

    @property
    def changed(self) -> tuple[Span, ...]:
        """Return the lines of the new version that were added or modified."""
        return tuple(run.new for run in self.runs if run.new)

    @property
    def textless(self) -> str | None:
        """Return why there is no text to review, if that is so."""
        return "deleted" if self.deleted else TEXTLESS_MODES.get(self.mode or "")


def parse(text: str) -> list[Patch]:
    """Return what a diff does to each file, or say which line of it is wrong."""
    feed = _Feed(text)
    try:
        files = list(PatchSet(feed))
    except UnidiffParseError as error:
        raise feed.wrong(str(error).partition(":")[0].lower()) from None
    except ValueError:
        raise feed.wrong("a number in it is far too large") from None
    return _each_once([feed.patch(file) for file in files])


def _each_once(patches: list[Patch]) -> list[Patch]:
    """Refuse a file that is changed twice; one that became a link is deleted and made anew."""
    created = {p.path for p in patches if not p.deleted}
    seen: dict[str, Patch] = {}
    for patch in patches:
        if patch.deleted and patch.path in created:
            continue
        if first := seen.get(patch.path):
            raise InputError(
                f"the diff changes {patch.path!r} twice, at lines {first.line} and {patch.line}; "
                "join a series of patches into one with `git diff BASE...HEAD`"
            )
        seen[patch.path] = patch
    return list(seen.values())


class _Feed:
    """Gives unidiff the diff's lines, with file names that it cannot misread."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._number = 0
        self._section: int | None = None
        """The line at which the header that is being read starts."""
        self._names: dict[int, tuple[str, str]] = {}
        """The old and the new name in each `diff --git` section, by its first line."""

    def __iter__(self) -> Iterator[str]:
        lines = self._lines if self._lines[-1] else self._lines[:-1]
        for number, line in enumerate(lines, start=1):
            self._number = number
            yield self._seen(line) + "\n"

    def wrong(self, what: str, number: int | None = None) -> InputError:
        """Return the error that names a line: by default the one that was read last."""
        number = max(1, number or self._number)
        line = self._lines[number - 1]
        shown = line if len(line) <= 60 else f"{line[:57]}..."
        return InputError(f"the diff does not parse: line {number}, {shown!r}: {what}; {REMEDY}")

    def patch(self, file: PatchedFile) -> Patch:
        """Return a parsed file as data."""
        names = self._names.get(file.diff_line_no or 0)
        deleted = file.target_file == NOWHERE if names else file.is_removed_file
        created = file.source_file == NOWHERE if names else file.is_added_file
        given = names or (
            filenames.unquoted(file.source_file),
            filenames.unquoted(file.target_file),
        )
        old, new = filenames.unprefixed(*given)
        path = filenames.contained(old if new == NOWHERE else new)
        shown = self._shown(file)
        return Patch(
            path=path,
            before=None if created else filenames.contained(path if old == NOWHERE else old),
            line=file.diff_line_no or 1,
            deleted=deleted,
            binary=file.is_binary_file,
            mode=file.target_mode or file.source_mode,
            runs=tuple(shown.runs),
            old=shown.old,
            new=shown.new,
            added=file.added,
            removed=file.removed,
        )

    def _shown(self, file: PatchedFile) -> Shown:
        shown = Shown()
        for hunk in file:
            last = max((line.diff_line_no or 0 for line in hunk), default=0)
            after = self._lines[last] if last < len(self._lines) else ""
            if _MORE_OF_A_HUNK.match(after):
                raise self.wrong("the hunk is longer than its header says", last + 1)
            try:
                shown.read(hunk)
            except ValueError as error:
                raise self.wrong(f"in the hunk that ends here {error}", last) from None
        return shown

    def _seen(self, line: str) -> str:
        if line.startswith("diff --git "):
            self._section = self._number
            self._names[self._number] = filenames.pair(self._short(line)[len("diff --git ") :])
            return f"diff --git a/{self._number} b/{self._number}"
        if line.startswith("@@"):
            self._section = None
            if not RE_HUNK_HEADER.match(line):
                merge = line.startswith("@@@")
                raise self.wrong("combined diff of a merge" if merge else "not a hunk's header")
        elif line.startswith(("Binary file", "GIT binary patch")):
            self._section = None
            return self._short(line)
        elif self._section is not None:
            return self._header(line, self._section)
        return line

    def _header(self, line: str, section: int) -> str:
        old, new = self._names[section]
        name = filenames.unquoted(line[4:])
        if moved := _MOVED.fullmatch(line):
            # These names have no prefix; giving them one makes all alike.
            name = filenames.unquoted(moved["name"])
            old, new = (f"a/{name}", new) if moved["side"] == "from" else (old, f"b/{name}")
        elif line.startswith("--- ") and name != NOWHERE:
            old, line = name, f"--- a/{section}"
        elif line.startswith("+++ ") and name != NOWHERE:
            new, line = name, f"+++ b/{section}"
        self._names[section] = old, new
        return line

    def _short(self, line: str) -> str:
        if len(line) > HEADER_LIMIT:
            raise self.wrong("the file names are too long")
        return line
