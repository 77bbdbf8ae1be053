"""Tokens of a request, and which of them a prompt cache has seen before."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any

from tests.messages_api.asked import Asked, blocks

LOOK_BACK = 20  # blocks before a breakpoint in which an older entry is found
LIFETIME = {"5m": 300.0, "1h": 3600.0}


def tokens(text: str) -> int:
    """Estimate the tokens of a text: one for four characters."""
    return max(1, len(text) // 4)


@dataclass(frozen=True)
class Prefix:
    """A request up to the end of one block."""

    digest: str
    tokens: int
    ttl: str | None  # of the breakpoint that ends it, if one does


@dataclass(frozen=True)
class Counted:
    """The input tokens of a request: read from the cache, written to it, and neither."""

    total: int
    read: int = 0
    written: dict[str, int] | None = None

    def usage(self) -> dict[str, Any]:
        """Return the part of `usage` that is about input."""
        written = self.written or {}
        created = sum(written.values())
        return {
            "input_tokens": self.total - self.read - created,
            "cache_creation_input_tokens": created,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written.get("5m", 0),
                "ephemeral_1h_input_tokens": written.get("1h", 0),
            },
        }


def prefixes(asked: Asked) -> list[Prefix]:
    """Return the prefix that each block ends, in the order in which a model reads them."""
    found: list[Prefix] = []
    digest, length = hashlib.sha256(asked.model.encode()), 0
    for text, control in _rendered(asked):
        digest.update(text.encode() + b"\0")
        length += len(text)
        ttl = control.get("ttl", "5m") if control else None
        found.append(Prefix(digest.hexdigest(), max(1, length // 4), ttl))
    if automatic := asked.body.get("cache_control"):
        last = found[-1]
        found[-1] = Prefix(last.digest, last.tokens, automatic.get("ttl", "5m"))
    return found


def _rendered(asked: Asked) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield each block as text: tools, the asked schema, the system prompt, the turns."""
    for tool in asked.body.get("tools") or ():
        yield _text(tool), tool.get("cache_control")
    if asked.schema is not None:
        # The API tells the model of the schema before the system prompt.
        yield _text(asked.schema), None
    for block in blocks(asked.body.get("system")):
        yield _text(block), block.get("cache_control")
    for turn in asked.turns:
        for block in turn["content"]:
            yield turn["role"] + _text(block), block.get("cache_control")


def _text(block: dict[str, Any]) -> str:
    kept = {key: value for key, value in block.items() if key != "cache_control"}
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


class PromptCache:
    """The prefixes that were written, for as long as they live."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._until: dict[str, float] = {}

    def count(self, asked: Asked, minimum: int) -> Counted:
        """Count the input of a request by what the cache holds when it comes."""
        line = prefixes(asked)
        ends = [number for number, prefix in enumerate(line) if _lasts(prefix, minimum)]
        with self._lock:
            read = max((self._found(line, end, minimum) for end in ends), default=0)
        written: dict[str, int] = {}
        reached = read
        for end in ends:
            if line[end].tokens > reached:
                ttl = line[end].ttl or "5m"
                written[ttl] = written.get(ttl, 0) + line[end].tokens - reached
                reached = line[end].tokens
        return Counted(line[-1].tokens, read, written)

    def keep(self, asked: Asked, minimum: int) -> None:
        """Write the prefixes of a request, which is when its answer begins."""
        now = time.monotonic()
        with self._lock:
            for prefix in prefixes(asked):
                if _lasts(prefix, minimum):
                    self._until[prefix.digest] = now + LIFETIME[prefix.ttl or "5m"]

    def _found(self, line: list[Prefix], end: int, minimum: int) -> int:
        now = time.monotonic()
        for prefix in reversed(line[max(0, end - LOOK_BACK + 1) : end + 1]):
            if prefix.tokens >= minimum and self._until.get(prefix.digest, 0) > now:
                return prefix.tokens
        return 0


def _lasts(prefix: Prefix, minimum: int) -> bool:
    return prefix.ttl is not None and prefix.tokens >= minimum
