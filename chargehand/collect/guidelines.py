"""The rules that a repository has written down for those who change it."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from chargehand.collect import content, language
from chargehand.collect.collected import Basket, line_count
from chargehand.collect.content import LeftOut, megabytes
from common.contracts import Document

LIMIT = 64_000
"""The most bytes that are taken of one guideline."""
MOST = 10

_ENDINGS = ("", ".md", ".markdown", ".rst", ".txt")
_RULES = ("contributing", "style", "styleguide", "style_guide", "style-guide", "code_style")
_MORE_RULES = ("coding_style", "coding_standards", "conventions", "guidelines", "hacking")
_AGENTS = ("agents.md", "claude.md", "gemini.md", ".cursorrules", "copilot-instructions.md")
NAMES = frozenset(_AGENTS) | {rule + end for rule in _RULES + _MORE_RULES for end in _ENDINGS}
PATTERNS = ("style*.md", "coding*.md", "code-style*.md", "contributing*.md")
"""What counts in the folder `docs`."""


def add(basket: Basket, root: Path) -> None:
    """Add the guidelines of a repository, except those that are under review themselves."""
    paths = [path for path in _found(root) if not basket.holds(path)]
    for path in paths[:MOST]:
        try:
            basket.keep(_document(basket, root, path))
        except LeftOut as reason:
            basket.leave_out(path, f"guideline: {reason}")
    for path in paths[MOST:]:
        basket.leave_out(path, f"guideline: only the first {MOST} are taken")


def _found(root: Path) -> list[str]:
    return [
        *(name for name in _names(root) if name.lower() in NAMES),
        *(f".github/{name}" for name in _names(root / ".github") if name.lower() in NAMES),
        *(f"docs/{name}" for name in _names(root / "docs") if _counts_in_docs(name.lower())),
    ]


def _names(folder: Path) -> Iterator[str]:
    """Return the names of the files in a folder; a folder behind a link is not entered."""
    if not folder.is_dir() or folder.is_symlink():
        return
    for file in sorted(folder.iterdir()):
        if file.is_file() and "\\" not in file.name:
            yield file.name


def _counts_in_docs(name: str) -> bool:
    return name in NAMES or any(fnmatchcase(name, pattern) for pattern in PATTERNS)


def _document(basket: Basket, root: Path, path: str) -> Document:
    data = content.read(root, path)
    text, _ = content.decode(_cut(data))
    if not text.strip():
        raise LeftOut("empty")
    if len(data) > LIMIT:
        basket.leave_out(path, f"guideline: cut after {megabytes(LIMIT)} of {megabytes(len(data))}")
    return Document(
        path=path,
        role="guideline",
        language=language.of(path, text),
        text=text,
        lines=line_count(text),
    )


def _cut(data: bytes) -> bytes:
    """Return the whole lines that fit into the limit."""
    return data if len(data) <= LIMIT else data[: data.rfind(b"\n", 0, LIMIT) + 1 or LIMIT]
