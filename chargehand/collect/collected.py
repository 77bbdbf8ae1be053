"""What was collected, and the basket in which it comes together."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chargehand.collect import content, generated, language
from chargehand.collect.content import LeftOut, megabytes
from common.contracts import Document, Exclusion, Note, Span
from common.errors import InputError

TOTAL_LIMIT = 20_000_000
"""The most bytes of text that one job may carry."""
PATH_LIMIT = 1024
NO_LINE = "no added or modified line: only removals, a new name or a new mode"


@dataclass(frozen=True)
class Collected:
    """The documents of a job, what was left out and why, and a label for people."""

    documents: tuple[Document, ...]
    excluded: tuple[Exclusion, ...]
    label: str


class Basket:
    """Takes files one by one; each becomes a document or an exclusion with its reason."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self._excluded: list[Exclusion] = []
        self._vendored: Counter[str] = Counter()
        self._size = 0

    def put(
        self,
        path: str,
        load: Callable[[], bytes],
        changed: Sequence[Span] | None,
        *,
        named: bool = False,
        below: str = ".",
    ) -> Document | None:
        """Add a file; what the user named, or is below a folder so named, is not vendored."""
        if not named and (folder := generated.vendored(path, below)):
            self._vendored[folder] += 1
            return None
        try:
            text = self._text(path, load, named)
            document = _document(path, text, changed)
        except LeftOut as reason:
            self.leave_out(path, str(reason))
            return None
        self.keep(document)
        return document

    def keep(self, document: Document) -> None:
        """Add a document."""
        self._documents[document.path] = document
        self._size += len(document.text or "")
        if self._size > TOTAL_LIMIT:
            raise InputError(
                f"too much to review: the files come to more than {megabytes(TOTAL_LIMIT)}; "
                "name fewer of them or a nearer base"
            )

    def leave_out(self, path: str, reason: str) -> None:
        """List a file, or a part of one, as not reviewed."""
        self._excluded.append(Exclusion(path=printable(path), reason=reason))

    def annotate(self, path: str, notes: tuple[Note, ...]) -> None:
        """Add what history says to a document."""
        self._documents[path] = self._documents[path].model_copy(update={"notes": notes})

    def holds(self, path: str) -> bool:
        """Tell whether a document has this path."""
        return path in self._documents

    def subjects(self) -> list[Document]:
        """Return the documents under review, by path."""
        return [d for _, d in sorted(self._documents.items()) if d.role == "subject"]

    def sealed(self, label: str) -> Collected:
        """Return what came together, in the order of paths."""
        for folder, count in self._vendored.items():
            self.leave_out(folder, f"vendored folder: {counted(count)}")
        return Collected(
            documents=tuple(d for _, d in sorted(self._documents.items())),
            excluded=tuple(sorted(self._excluded, key=lambda e: (e.path, e.reason))),
            label=label,
        )

    def _text(self, path: str, load: Callable[[], bytes], named: bool) -> str:
        _usable_name(path)
        if not named and (reason := generated.by_name(path)):
            raise LeftOut(reason)
        data = load()
        content.within_limit(len(data))
        text, replaced = content.decode(data)
        if not named and (reason := generated.by_marker(text)):
            raise LeftOut(reason)
        if not text:
            raise LeftOut("empty")
        if replaced:
            self.leave_out(path, f"{replaced} bytes that are not UTF-8 were replaced")
        return text


def counted(files: int) -> str:
    """Say a number of files."""
    return "1 file" if files == 1 else f"{files} files"


def tally(what: str, files: int, added: int, removed: int) -> str:
    """Say in a few words what is reviewed."""
    return f"{what} ({counted(files)}, +{added} -{removed})"


def printable(path: str) -> str:
    """Return a path that can be sent as UTF-8; bytes of it that cannot are replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def line_count(text: str) -> int:
    """Count lines the way git does: by line feeds only."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _usable_name(path: str) -> None:
    if printable(path) != path:
        raise LeftOut("its name is not UTF-8")
    if "\\" in path or "\0" in path:
        raise LeftOut("its name holds a backslash or a zero byte")
    if len(path) > PATH_LIMIT:
        raise LeftOut(f"its name is longer than {PATH_LIMIT} characters")


def _document(path: str, text: str, changed: Sequence[Span] | None) -> Document:
    lines = line_count(text)
    if changed is not None:
        # The file may have become shorter since its changes were listed.
        changed = [Span(start=s.start, end=min(s.end, lines)) for s in changed if s.start <= lines]
        if not changed:
            raise LeftOut(NO_LINE)
    return Document(
        path=path,
        language=language.of(path, text),
        text=text,
        lines=lines,
        changed=None if changed is None else tuple(changed),
    )
