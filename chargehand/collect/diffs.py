"""What a unified diff changes, with the whole files where they are at hand."""

import codecs
from functools import partial
from pathlib import Path

from chargehand.collect import content, git, guidelines, history, patch
from chargehand.collect.collected import NO_LINE, Basket, Collected, tally
from chargehand.collect.content import LeftOut, megabytes
from chargehand.collect.git import GitFailed, Repository
from chargehand.collect.patch import Patch
from common.errors import InputError

LIMIT = 20_000_000
"""The most bytes that a diff may have."""

HEADERS = ("diff --git ", "--- ", "+++ ", "@@ ", "Index: ")


def from_diff(text: str | bytes, folder: Path | None = None) -> Collected:
    """Collect what a diff changes; files come from the folder when they are what it made of them.

    A file that is not there, or is another version, is rebuilt from the lines that the diff shows:
    the lines between them are blank, so that line numbers stay right, and the file is listed among
    the exclusions as known in part.
    """
    patches = patch.parse(_decoded(text))
    if not patches:
        raise InputError("the diff does not parse: it names no file; make it with `git diff`")
    basket = Basket()
    taken = [p for p in patches if _add(basket, folder, p)]
    if folder:
        _add_history(basket, folder, taken)
        guidelines.add(basket, folder)
    added, removed = sum(p.added for p in taken), sum(p.removed for p in taken)
    return basket.sealed(tally("a diff", len(taken), added, removed))


def _decoded(text: str | bytes) -> str:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > LIMIT:
        raise InputError(
            f"the diff has {megabytes(len(data))}, over the limit of {megabytes(LIMIT)}; split it"
        )
    if not data.strip():
        raise InputError("nothing to review: the diff is empty")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # Some shells write what a program prints as UTF-16.
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    diff = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    return diff.replace("\r\n", "\n") if _converted(diff) else diff


def _converted(diff: str) -> bool:
    """Tell whether the diff itself, and not only a file in it, has the line ends of Windows."""
    for line in diff.split("\n"):
        if line.startswith(HEADERS):
            return line.endswith("\r")
    return False


def _add(basket: Basket, folder: Path | None, change: Patch) -> bool:
    reason = change.textless or ("binary" if change.binary else None)
    if reason:
        basket.leave_out(change.path, reason)
        return False
    whole = _whole(folder, change) if folder else None
    load = partial(_rebuilt, change) if whole is None else lambda: whole
    document = basket.put(change.path, load, change.changed)
    if document and whole is None and change.before is not None:
        basket.leave_out(
            change.path, "in part: only the lines in the diff are at hand, the others are blank"
        )
    return document is not None


def _whole(folder: Path, change: Patch) -> bytes | None:
    """Return the file from the folder when it has every line that the diff shows of it."""
    try:
        data = content.read(folder, change.path)
    except (LeftOut, ValueError):
        # Not there, not usable, or a name that no file can have: the diff's own lines remain.
        return None
    return data if _fits(data, change.new) else None


def _fits(data: bytes, shown: dict[int, str]) -> bool:
    """Tell whether a file has these lines at these numbers, whatever its line ends are."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return all(
        number <= len(lines) and _bare(lines[number - 1]) == _bare(line)
        for number, line in shown.items()
    )


def _bare(line: str) -> str:
    return line.removeprefix("\ufeff").rstrip("\r\n")


def _add_history(basket: Basket, folder: Path, taken: list[Patch]) -> None:
    """Add what git says about the lines, where the diff starts from HEAD."""
    repository = git.find_or_none(folder)
    if repository is None or repository.root != folder.resolve():
        return
    history.add(basket, repository, "HEAD", [p for p in taken if _starts_at_head(repository, p)])


def _starts_at_head(repository: Repository, change: Patch) -> bool:
    if change.before is None:
        return False
    try:
        return _fits(repository.blob("HEAD", change.before), change.old)
    except GitFailed:
        return False


def _rebuilt(change: Patch) -> bytes:
    """Return the lines that the diff shows at their numbers, with blank lines between them."""
    if not change.new and change.before is not None:
        raise LeftOut(NO_LINE)
    last = max(change.new, default=0)
    content.within_limit(last)
    blank = "\n"
    text = "".join(change.new.get(number, blank) for number in range(1, last + 1))
    return text.encode("utf-8", "surrogateescape")
