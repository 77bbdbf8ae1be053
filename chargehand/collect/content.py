"""Bytes become text with right line numbers, or the reason why they do not."""

import codecs
import stat
from pathlib import Path

LIMIT = 1_000_000
"""The most bytes that one file may have."""

SNIFFED = 8_000
MOST_FOREIGN = 0.3
"""The most of a text that may be neither UTF-8 nor printable before it counts as binary."""

_TEXT_CONTROLS = b"\t\n\r\f\b\x1b"


class LeftOut(Exception):
    """A file is not reviewed; the message is the reason that the user reads."""


def megabytes(size: int) -> str:
    """Say a number of bytes in the unit that fits."""
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size / 1000:.1f} kB"


def within_limit(size: int) -> None:
    """Refuse a file that is too large, and say by how much."""
    if size > LIMIT:
        raise LeftOut(f"too large: {megabytes(size)}, over the limit of {megabytes(LIMIT)}")


def read(root: Path, path: str) -> bytes:
    """Return what a regular file below a folder holds; no link is followed out of the folder."""
    file = root / path
    try:
        status = file.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise LeftOut("symbolic link")
        if stat.S_ISDIR(status.st_mode):
            raise LeftOut("submodule or nested repository")
        if not stat.S_ISREG(status.st_mode):
            raise LeftOut("no regular file")
        if not file.resolve().is_relative_to(root.resolve()):
            raise LeftOut("reached through a symbolic link that leaves the folder")
        within_limit(status.st_size)
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise LeftOut("deleted") from None
    except OSError as error:
        raise LeftOut(f"cannot be read: {error.strerror}") from None


def decode(data: bytes) -> tuple[str, int]:
    """Return the text, and how many characters of it stand for bytes that are not UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _utf16(data), 0
    if b"\0" in data:
        raise LeftOut("binary")
    try:
        return data.decode("utf-8-sig"), 0
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", errors="replace")
    if _foreign(data) > MOST_FOREIGN:
        raise LeftOut("binary: most of it is neither UTF-8 nor printable")
    return text, text.count("\ufffd") - data.count("\ufffd".encode())


def _utf16(data: bytes) -> str:
    try:
        return data.decode("utf-16")
    except UnicodeDecodeError:
        raise LeftOut("binary: it starts like UTF-16 but is not") from None


def _foreign(data: bytes) -> float:
    """Return which part of the first bytes is neither UTF-8 nor printable."""
    head = data[:SNIFFED]
    broken = head.decode("utf-8", errors="replace").count("\ufffd")
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
    return (broken + controls) / max(1, len(head))
