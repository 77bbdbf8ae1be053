"""Folders and files that only their owner can read: what the stack keeps holds a password."""

import os
from pathlib import Path

from common.errors import LocalStackError


def folder(path: Path) -> Path:
    """Return the folder, created with mode 0700 if missing; refuse one that others may write."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        seen = path.stat()
    except OSError as error:
        raise LocalStackError(f"folder {path} cannot be used: {error.strerror}") from None
    if seen.st_uid != os.getuid() or seen.st_mode & 0o022:
        raise LocalStackError(f"folder {path} is not yours alone; `chmod 700` it or choose another")
    return path


def write(path: Path, text: str) -> None:
    """Replace a file by this text at one stroke, readable by its owner only."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)
