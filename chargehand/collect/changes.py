"""What changed in a git repository since a ref."""

from functools import partial
from pathlib import Path

from chargehand.collect import content, git, guidelines, history, patch
from chargehand.collect.collected import Basket, Collected, tally
from chargehand.collect.content import LeftOut
from chargehand.collect.git import Repository
from chargehand.collect.patch import Patch
from common.contracts import Span
from common.errors import InputError


def from_git(folder: Path, base: str) -> Collected:
    """Collect what changed from the merge base of a ref and HEAD to the working tree.

    Staged, unstaged and untracked changes count; what git ignores does not.
    """
    repository = git.find(folder)
    start = repository.merge_base(base)
    patches, untracked = _changes(repository, start)
    if not patches and not untracked:
        raise InputError(f"nothing to review: no change since {base}")
    basket = Basket()
    taken = [p for p in patches if _add(basket, repository.root, p)]
    added = sum(_add_whole(basket, repository.root, path) for path in untracked)
    history.add(basket, repository, start, taken)
    guidelines.add(basket, repository.root)
    added += sum(p.added for p in taken)
    removed = sum(p.removed for p in taken)
    return basket.sealed(tally(f"changes since {base}", len(basket.subjects()), added, removed))


def _changes(repository: Repository, start: str) -> tuple[list[Patch], list[str]]:
    diff = repository.diff(start).decode("utf-8", "surrogateescape")
    untracked = repository.untracked()
    # A file that was taken out of the index but left on disk is in both lists.
    whole = set(untracked)
    return [p for p in patch.parse(diff) if p.path not in whole], untracked


def _add(basket: Basket, root: Path, change: Patch) -> bool:
    if reason := change.textless:
        basket.leave_out(change.path, reason)
        return False
    load = partial(_load, root, change)
    return basket.put(change.path, load, change.changed) is not None


def _load(root: Path, change: Patch) -> bytes:
    data = content.read(root, change.path)
    if change.binary:
        raise LeftOut("binary" if b"\0" in data else "binary to git, so its changes are unknown")
    return data


def _add_whole(basket: Basket, root: Path, path: str) -> int:
    """Add a file that is new as a whole, and return how many lines it has."""
    if path.endswith("/"):
        basket.leave_out(path, "nested git repository")
        return 0
    everything = [Span(start=1, end=content.LIMIT)]
    document = basket.put(path, partial(content.read, root, path), everything)
    return document.lines if document else 0
