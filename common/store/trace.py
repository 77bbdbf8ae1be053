"""What happened to a job, as a stream. Waiting for a job is reading on in it."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from common import names
from common.errors import UnknownJob
from common.store.connection import Connection

LAST_EVENT = "delivered"
PAGE = 1000
BLOCK_MS = 5_000


@dataclass(frozen=True)
class Event:
    """One entry of a trace."""

    id: str
    event: str
    step: str
    data: dict[str, Any]

    @property
    def time(self) -> float:
        """When it happened, in seconds, by Redis's clock."""
        return int(self.id.split("-")[0]) / 1000


def _parse(entry: tuple[str, dict[str, str]]) -> Event:
    entry_id, fields = entry
    return Event(entry_id, fields["event"], fields["step"], json.loads(fields["data"]))


class Trace:
    """The traces of all jobs."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, job: str, event: str, data: dict[str, Any], step: str = "") -> None:
        """Append an event to a job's trace; the trace of an expired job is not begun anew."""
        fields: dict[Any, Any] = {"event": event, "step": step, "data": json.dumps(data)}
        self._connection.ask(lambda c: c.xadd(names.trace(job), fields, nomkstream=True))

    def read(self, job: str) -> list[Event]:
        """Return all that has happened to a job so far."""
        key = names.trace(job)
        entries: Any = self._connection.ask(lambda client: client.xrange(key))
        if not entries:
            raise UnknownJob(job)
        return [_parse(entry) for entry in entries]

    def follow(self, job: str, within: float | None = None) -> Iterator[Event]:
        """Yield a job's events from the first to the last, waiting for those to come.

        Ends with the job, or when `within` seconds are over.
        """
        key, last = names.trace(job), "0"
        ends = None if within is None else time.monotonic() + within
        while ends is None or time.monotonic() < ends:
            if not self._connection.ask(lambda client: client.exists(key)):
                raise UnknownJob(job)
            left = BLOCK_MS if ends is None else int((ends - time.monotonic()) * 1000)
            for event in self._next(key, last, max(1, min(BLOCK_MS, left))):
                last = event.id
                yield event
                if event.event == LAST_EVENT:
                    return

    def _next(self, key: str, last: str, block: int) -> list[Event]:
        answer: Any = self._connection.ask(
            lambda client: client.xread({key: last}, count=PAGE, block=block)
        )
        entries = answer[0][1] if answer else []
        return [_parse(entry) for entry in entries]
