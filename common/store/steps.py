"""Steps in Redis: dispatched, claimed, finished and decided upon, each as one atomic transition."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

from common import names
from common.contracts import Assignment, Failure, Outcome, Result
from common.states import StepState
from common.store.connection import Connection
from common.store.jobs import keys

BATCH = 500
"""How many steps one script call takes at the most, so that Redis is never blocked for long."""

Claim = Literal["granted", "done", "held", "stale", "unknown"]
Item = TypeVar("Item")


class StepRecord(BaseModel):
    """Where a step stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: StepState
    attempt: int
    queue: str = ""
    queued: float | None = None
    token: str = ""
    pod: str = ""
    started: float | None = None
    ended: float | None = None
    deliveries: int = 0


@dataclass(frozen=True)
class Routed:
    """A step with the queue that it goes to, and why."""

    step: str
    queue: str
    reason: str


@dataclass(frozen=True)
class Decision:
    """What to do about one attempt at one step."""

    step: str
    attempt: int
    action: Literal["retry", "escalated", "failed", "skipped"]
    why: str
    delay: float = 0.0


_record = TypeAdapter(StepRecord)


def _batches(items: Sequence[Item]) -> Iterable[Sequence[Item]]:
    return (items[i : i + BATCH] for i in range(0, len(items), BATCH))


class Steps:
    """The steps of all jobs."""

    def __init__(self, connection: Connection, ttl: int) -> None:
        self._connection = connection
        self._ttl = ttl

    def dispatch(self, job: str, routed: Sequence[Routed]) -> dict[str, int]:
        """Put waiting steps on their queues; return those that were waiting, with their attempt."""
        taken: dict[str, int] = {}
        for batch in _batches(routed):
            args: list[Any] = []
            for r in batch:
                args += [r.step, r.queue, json.dumps({"queue": r.queue, "reason": r.reason})]
            answer = self._connection.run("dispatch", keys(job), args)
            taken.update(zip(answer[::2], answer[1::2], strict=True))
        return taken

    def claim(self, assignment: Assignment, token: str, pod: str, seconds: float) -> Claim:
        """Claim an attempt for a pod, for so many seconds unless renewed."""
        args = [assignment.step, assignment.attempt, token, pod, seconds]
        answer: Claim = self._connection.run("claim", keys(assignment.job), args)
        return answer

    def finish(self, outcome: Outcome, token: str, events: Sequence[tuple[str, str]] = ()) -> bool:
        """Store an outcome and what happened on the way; False when it does not count."""
        body = outcome.body
        state = StepState.SUCCEEDED if isinstance(body, Result) else StepState.UNDECIDED
        data: dict[str, Any] = {
            "attempt": outcome.attempt,
            "kind": body.kind,
            "engine": outcome.engine,
            "pod": outcome.pod,
            "seconds": round(outcome.seconds, 6),
        }
        if isinstance(body, Result):
            data |= {"findings": len(body.findings), "characters": len(body.text)}
        else:
            data |= {"reason": body.reason, "message": body.message[:500]}
        if isinstance(body, Failure):
            data["transient"] = body.transient
        args = [outcome.step, outcome.attempt, token, state, outcome.model_dump_json()]
        args += [json.dumps(data), self._ttl, *(part for event in events for part in event)]
        return bool(self._connection.run("finish", keys(outcome.job), args))

    def decide(self, job: str, decisions: Sequence[Decision]) -> list[str]:
        """Carry out decisions; return the steps for which they still held."""
        carried: list[str] = []
        for batch in _batches(decisions):
            args: list[Any] = []
            for d in batch:
                data = {"attempt": d.attempt, "action": d.action, "why": d.why, "delay": d.delay}
                args += [d.step, d.attempt, d.action, d.delay, json.dumps(data)]
            carried += self._connection.run("decide", keys(job), args)
        return carried

    def renew(self, members: Sequence[str], seconds: float) -> list[str]:
        """Renew leases; return those that are no longer held."""
        lost: list[str] = self._connection.run("renew", [], [seconds, *members])
        return lost

    def due(self) -> list[tuple[str, str]]:
        """Return the job and id of every step whose time to be tried again has come."""
        seconds, micros = self._connection.ask(lambda client: client.time())
        members: Any = self._connection.ask(
            lambda client: client.zrangebyscore(names.DUE, "-inf", seconds + micros / 1e6)
        )
        return [(job, step) for job, step in (member.split(" ", 1) for member in members)]

    def records(self, job: str, steps: Iterable[str] | None = None) -> dict[str, StepRecord]:
        """Return the records of these steps, or of all."""
        if steps is None:
            raw: Any = self._connection.ask(lambda client: client.hgetall(names.steps(job)))
        else:
            wanted = list(steps)
            if not wanted:
                return {}
            values: Any = self._connection.ask(lambda c: c.hmget(names.steps(job), wanted))
            raw = {s: v for s, v in zip(wanted, values, strict=True) if v is not None}
        return {step: _record.validate_json(value) for step, value in raw.items()}

    def outcomes(self, job: str, attempts: dict[str, int]) -> dict[str, Outcome]:
        """Return the outcomes of these attempts, by step; a step without one is left out."""
        if not attempts:
            return {}
        fields = [names.attempt_field(step, attempt) for step, attempt in attempts.items()]
        values: Any = self._connection.ask(lambda client: client.hmget(names.outcomes(job), fields))
        return {
            step: Outcome.model_validate_json(value)
            for step, value in zip(attempts, values, strict=True)
            if value is not None
        }
