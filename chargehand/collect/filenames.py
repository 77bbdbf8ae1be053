"""File names as diffs write them: quoted, prefixed, or leading where they must not."""

import re

from common.errors import InputError

NOWHERE = "/dev/null"

_PAIR = re.compile(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)')
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_PREFIX = re.compile(r"[abciow12]/")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


def contained(path: str) -> str:
    """Return a path of a diff, or refuse the whole diff when it leads out of its folder."""
    parts = re.split(r"[/\\]", path)
    plain = "/".join(part for part in path.split("/") if part not in ("", "."))
    if not plain or parts[0] == "" or ".." in parts or _DRIVE.match(path):
        raise InputError(
            f"the diff names {path!r}, which leaves the folder; "
            "only paths below the repository's root are reviewed"
        )
    return plain


def pair(names: str) -> tuple[str, str]:
    """Return the two names of a `diff --git` line; they may hold spaces."""
    if match := _PAIR.fullmatch(names):
        return unquoted(match[1]), unquoted(match[2])
    middle = len(names) // 2
    old, new = names[:middle], names[middle + 1 :]
    if names[middle : middle + 1] == " " and old[2:] == new[2:]:
        return old, new
    # They differ and hold spaces: the lines that follow name them again.
    old, _, new = names.partition(" b/")
    return unquoted(old), unquoted(f"b/{new}" if new else old)


def unquoted(name: str) -> str:
    """Return a name without a time stamp and without git's quotes and escapes."""
    name = name.partition("\t")[0]
    if len(name) < 2 or not (name[0] == name[-1] == '"'):
        return name
    raw = name[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(_unescaped, raw).decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF if len(code) == 3 else _ESCAPED[code[0]]])


def unprefixed(old: str, new: str) -> tuple[str, str]:
    """Take `a/` and `b/`, or their like, from two names; the same on both is a folder's name."""
    named = [name for name in (old, new) if name != NOWHERE]
    if not all(_PREFIX.match(name) for name in named) or (len(named) == 2 and old[0] == new[0]):
        return old, new
    return _without_prefix(old), _without_prefix(new)


def _without_prefix(name: str) -> str:
    return name if name == NOWHERE else name[2:]
