"""Text from reviewed files, made fit to be shown: it may hold what steers a terminal."""

import re

# Controls except line feed and tab, line separators, surrogates, and what turns the direction of
# writing or hides characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def block(text: str) -> str:
    """Return a text of several lines in which every unsafe character is spelled out."""
    return _UNSAFE.sub(_spelled, text.replace("\r\n", "\n"))


def line(text: str) -> str:
    """Return a text as one line in which every unsafe character is spelled out."""
    return " ".join(block(text).split())


def name(text: str) -> str:
    """Return a path as one line that still tells it from any other path."""
    return block(text.replace("\\", "\\\\")).replace("\n", "\\n").replace("\t", "\\t")


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
