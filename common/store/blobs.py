"""Bodies too large for a message, stored under the hash of their content."""

import hashlib
from collections.abc import Iterable
from typing import Any

import redis

from common import names
from common.errors import InputError
from common.store.connection import Connection

INLINE_LIMIT = 32 * 1024
"""The most bytes of bodies that travel inside one message."""


def ref(text: str) -> str:
    """Return the reference under which a text is stored."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class Blobs:
    """Stored bodies."""

    def __init__(self, connection: Connection, ttl: int) -> None:
        self._connection = connection
        self._ttl = ttl

    def put(self, texts: Iterable[str]) -> None:
        """Store texts; one that is there already is kept for longer."""
        pairs = {names.BLOBS + ref(text): text for text in texts}

        def store(client: redis.Redis) -> None:
            with client.pipeline(transaction=False) as pipe:
                for key, text in pairs.items():
                    pipe.set(key, text, ex=self._ttl)
                pipe.execute()

        if pairs:
            self._connection.ask(store)

    def get(self, refs: Iterable[str]) -> dict[str, str]:
        """Return stored texts by reference; a missing or altered one is refused."""
        wanted = sorted(set(refs))
        if not wanted:
            return {}
        keys = [names.BLOBS + r for r in wanted]
        texts: Any = self._connection.ask(lambda client: client.mget(keys))
        found = {r: text for r, text in zip(wanted, texts, strict=True) if text is not None}
        for r in wanted:
            if r not in found:
                raise InputError(f"body {r} is not stored any more; submit the job again")
            if ref(found[r]) != r:
                raise InputError(f"body {r} was altered in the store; submit the job again")
        return found
