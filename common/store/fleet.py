"""The fleet in Redis: which processes there are, what they refused, and what needs attention."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from common import names
from common.store.connection import Connection

KEPT_REFUSED = 1000
BATCH = 200
"""How much of each kind the reconciler takes up in one round."""
LOOK_AGAIN = 3.0
"""Seconds after which a job that has not ended is looked at again."""
TERM = 4.0
"""Seconds for which a process stays the reconciler without asking again."""
UNCLAIMED = 3.0
"""Seconds that a message may take from its queue to its claim before it counts as vanished."""


class PodFacts(BaseModel):
    """What a process says about itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    queues: tuple[str, ...]
    slots: int
    version: str


@dataclass(frozen=True)
class Attempt:
    """An attempt at a step, as it is named in the sorted sets."""

    job: str
    step: str
    number: int
    token: str = ""

    @classmethod
    def parse(cls, member: str) -> "Attempt":
        """Read a member of the leases, or of a queue's waiting steps."""
        job, field, *token = member.split(" ")
        step, number = field.rsplit("/", 1)
        return cls(job, step, int(number), token[0] if token else "")


@dataclass(frozen=True)
class Lost:
    """An expired lease on a phase of a job."""

    job: str
    phase: str


@dataclass(frozen=True)
class Attention:
    """What needs the reconciler now."""

    due: tuple[tuple[str, str], ...]
    """Job and step of everything whose time to be tried again has come."""
    lost: tuple[Attempt | Lost, ...]
    overdue: tuple[str, ...]
    """Jobs past their deadline."""
    jobs: tuple[str, ...]
    """Jobs to look at, since it is time to."""
    vanished: tuple[tuple[Attempt, float], ...]
    """Attempts whose message is on no queue, with the time before which they were put there."""


class Fleet:
    """All processes."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def pulse(self, pod: str, facts: PodFacts, members: Sequence[str], seconds: float) -> list[str]:
        """Announce a process and renew its leases; return those that it no longer holds."""
        args = [pod, facts.model_dump_json(), seconds, *members]
        lost: list[str] = self._connection.run("pulse", [], args)
        return lost

    def leave(self, pod: str) -> None:
        """Forget a process that leaves."""
        self._connection.run("leave", [], [pod])

    def pods(self) -> dict[str, PodFacts]:
        """Return every process that announced itself and did not go silent."""
        raw: Any = self._connection.ask(lambda client: client.hgetall(names.POD_FACTS))
        return {pod: PodFacts.model_validate_json(facts) for pod, facts in sorted(raw.items())}

    def watch(self, pod: str) -> Attention | None:
        """Return what needs the reconciler now; None when another process is the reconciler."""
        args = [BATCH, LOOK_AGAIN, UNCLAIMED, pod, int(TERM * 1000)]
        answer = self._connection.run("watch", [], args)
        if not answer:
            return None
        due, leases, overdue, jobs, vanished = answer
        return Attention(
            due=tuple(tuple(member.split(" ", 1)) for member in due),
            lost=tuple(_lost(member) for member in leases),
            overdue=tuple(overdue),
            jobs=tuple(jobs),
            vanished=tuple(
                (Attempt.parse(member), float(before))
                for member, before in zip(vanished[::2], vanished[1::2], strict=True)
            ),
        )

    def now(self) -> float:
        """Return Redis's time, which is the time of all processes."""
        seconds, micros = self._connection.ask(lambda client: client.time())
        return seconds + micros / 1e6

    def refuse(self, queue: str, why: str, message: object) -> None:
        """Keep a message that was refused, shortened, and count it."""
        body = json.dumps(message, default=repr)[:4096]
        fields: dict[Any, Any] = {"queue": queue, "why": why[:1000], "message": body}
        self._connection.ask(
            lambda client: client.xadd(names.REFUSED, fields, maxlen=KEPT_REFUSED, approximate=True)
        )
        self.count("refused")

    def refused(self) -> list[dict[str, str]]:
        """Return the messages that were refused, the newest first."""
        entries: Any = self._connection.ask(lambda client: client.xrevrange(names.REFUSED))
        return [{"id": entry_id, **fields} for entry_id, fields in entries]

    def count(self, what: str) -> None:
        """Count one more of something that ought not to happen."""
        self._connection.ask(lambda client: client.hincrby(names.COUNTERS, what, 1))

    def counters(self) -> dict[str, int]:
        """Return how often things happened that ought not to."""
        raw: Any = self._connection.ask(lambda client: client.hgetall(names.COUNTERS))
        return {what: int(number) for what, number in sorted(raw.items())}


def _lost(member: str) -> Attempt | Lost:
    job, what, _ = member.split(" ")
    return Attempt.parse(member) if "/" in what else Lost(job, what)
