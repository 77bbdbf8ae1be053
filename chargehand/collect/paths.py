"""Whole files, named by a user one by one or by their folder."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from chargehand.collect import content, generated, git, guidelines
from chargehand.collect.collected import Basket, Collected, counted, printable
from chargehand.collect.git import Repository
from common.errors import InputError

MOST_FILES = 5_000


def from_paths(paths: Sequence[Path]) -> Collected:
    """Collect whole files; of a folder, what git does not ignore, or all that is not hidden."""
    if not paths:
        raise InputError("nothing to review: no path is given")
    named = [_existing(path) for path in paths]
    repository = git.find_or_none(_folder(named[0]))
    root = _root(named, repository)
    basket = Basket()
    for path in dict.fromkeys(named):
        if path.is_dir() and not path.is_symlink():
            _add_folder(basket, root, path)
        else:
            _add_file(basket, root, path)
    guidelines.add(basket, repository.root if repository else root)
    what = ", ".join(printable(str(path)) for path in paths[:3]) + (", ..." if paths[3:] else "")
    return basket.sealed(f"{what} ({counted(len(basket.subjects()))})")


def _existing(path: Path) -> Path:
    try:
        # The folder is resolved and the file is not: a link stays visible as one.
        whole = path.parent.resolve() / path.name if path.name else path.resolve()
        whole.lstat()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"no path {str(path)!r}: {why}; name a file or a folder") from None
    return whole.resolve() if path.name == ".." else whole


def _folder(path: Path) -> Path:
    return path if path.is_dir() and not path.is_symlink() else path.parent


def _root(named: list[Path], repository: Repository | None) -> Path:
    """Return the folder that all paths are told from: the repository's when all are in it."""
    folders = [_folder(path) for path in named]
    for root in ([repository.root] if repository else []) + [Path.cwd().resolve()]:
        if all(folder.is_relative_to(root) for folder in folders):
            return root
    return Path(os.path.commonpath(folders))


def _add_file(basket: Basket, root: Path, path: Path) -> None:
    name = _name(root, path)
    if not basket.holds(name):
        basket.put(name, partial(content.read, root, name), None, named=True)


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _add_folder(basket: Basket, root: Path, folder: Path) -> None:
    repository = git.find_or_none(folder)
    files = [repository.root / name for name in repository.files(folder)] if repository else []
    # Git says nothing about a folder that it ignores; the user named it all the same.
    files = files or _walked(basket, root, folder)
    if len(files) > MOST_FILES:
        raise InputError(f"{folder} has more than {MOST_FILES} files; name a smaller folder")
    below = _name(root, folder)
    for file in files:
        name = _name(root, file)
        if not basket.holds(name):
            basket.put(name, partial(content.read, root, name), None, below=below)


def _walked(basket: Basket, root: Path, top: Path) -> list[Path]:
    """Return the files below a folder; hidden and vendored folders are listed, not entered."""
    found: list[Path] = []
    for parent, folders, files in os.walk(top):
        here = Path(parent)
        found += [here / name for name in sorted(files)]
        found += [here / name for name in folders if (here / name).is_symlink()]
        if len(found) > MOST_FILES:
            break
        skipped = [name for name in folders if name.startswith(".") or name in generated.VENDORED]
        for name in skipped:
            if name != ".git":
                kind = "vendored" if name in generated.VENDORED else "hidden"
                basket.leave_out(_name(root, here / name), f"{kind} folder")
        folders[:] = sorted(set(folders) - set(skipped))
    return found
