"""Steps in Redis: dispatched, claimed, finished and decided upon, each as one atomic transition."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter

from common import names
from common.contracts import Assignment, Outcome, Result
from common.states import StepState
from common.store.breakers import FAILURES_IN_A_ROW, breaker_name, lesson
from common.store.connection import Connection
from common.store.fleet import Attempt
from common.store.jobs import keys

BATCH = 500
"""How many steps one script call takes at the most, so that Redis is never blocked for long."""

Claim = Literal["granted", "suspect", "done", "held", "stale", "unknown"]
Loss = Literal["again", "over", "stale"]
Item = TypeVar("Item")


class StepRecord(BaseModel):
    """Where a step stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: StepState
    attempt: int
    specialist: str = ""
    """Who does it: the one that the plan names, or a backup."""
    queue: str = ""
    queued: float | None = None
    token: str = ""
    pod: str = ""
    started: float | None = None
    ended: float | None = None
    suspect: bool = False
    """An earlier attempt was lost with its pod: this step may be what took the pod down."""
    why: str = ""
    """Why it ended without an outcome."""
    spared: int = 0
    """How many attempts do not count as tries, because their pod was told to leave."""


class Claimed(NamedTuple):
    """What became of a claim; the rest is known when it was granted."""

    claim: Claim
    left: float = 0.0
    """The seconds that the job has left."""
    queue: str = ""
    waited: float = 0.0
    """The seconds that the step was on its queue."""


@dataclass(frozen=True)
class Routed:
    """A step with the queue that it goes to, who does it there, and why."""

    step: str
    queue: str
    specialist: str
    reason: str
    loads: str = ""
    """What the choice was made from, for those who ask later."""


@dataclass(frozen=True)
class Decision:
    """What to do about one attempt at one step."""

    step: str
    attempt: int
    action: Literal["retry", "escalated", "failed", "skipped"]
    why: str
    delay: float = 0.0
    state: StepState = StepState.UNDECIDED
    """The state that the step must be in for this to hold."""


_record = TypeAdapter(StepRecord)


def _facts(outcome: Outcome) -> dict[str, Any]:
    """Return what the trace tells about an outcome."""
    body = outcome.body
    facts: dict[str, Any] = {
        "attempt": outcome.attempt,
        "kind": body.kind,
        "engine": outcome.engine,
        "pod": outcome.pod,
        "seconds": round(outcome.seconds, 6),
    }
    if isinstance(body, Result):
        return facts | {"findings": len(body.findings), "characters": len(body.text)}
    return facts | {"reason": body.reason, "message": body.message[:500]}


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
                data = {"queue": r.queue, "specialist": r.specialist, "reason": r.reason}
                args += [r.step, r.queue, r.specialist, json.dumps(data | {"loads": r.loads})]
            answer = self._connection.run("dispatch", keys(job), args)
            taken.update(zip(answer[::2], answer[1::2], strict=True))
        return taken

    def claim(self, assignment: Assignment, token: str, pod: str, seconds: float) -> Claimed:
        """Claim an attempt for a pod, for so many seconds unless renewed."""
        args = [assignment.step, assignment.attempt, token, pod, seconds]
        claim, *granted = self._connection.run("claim", keys(assignment.job), args)
        if not granted:
            return Claimed(claim)
        left, queue, waited = granted
        return Claimed(claim, float(left), queue, max(0.0, float(waited)))

    def scheduled(self, job: str, steps: Sequence[str]) -> set[str]:
        """Return those of the steps that are to be tried again at a time that is set."""
        if not steps:
            return set()
        members = [f"{job} {step}" for step in steps]
        times: Any = self._connection.ask(lambda client: client.zmscore(names.DUE, members))
        return {step for step, time in zip(steps, times, strict=True) if time is not None}

    def not_due(self, job: str, step: str) -> None:
        """Take a step off the list of those to be tried again."""
        self._connection.ask(lambda client: client.zrem(names.DUE, f"{job} {step}"))

    def open(self, job: str) -> list[str]:
        """Return the ids of a job's steps that have not ended."""
        found: Any = self._connection.ask(lambda client: client.smembers(names.open_steps(job)))
        return sorted(found)

    def finish(self, outcome: Outcome, token: str, events: Sequence[tuple[str, str]] = ()) -> bool:
        """Store an outcome and what happened on the way; False when it does not count."""
        state = StepState.SUCCEEDED if isinstance(outcome.body, Result) else StepState.UNDECIDED
        args: list[Any] = [outcome.step, outcome.attempt, token, state, outcome.model_dump_json()]
        args += [json.dumps(_facts(outcome)), self._ttl, outcome.seconds]
        args += [breaker_name(outcome.team, outcome.specialist), lesson(outcome), FAILURES_IN_A_ROW]
        args += [part for event in events for part in event]
        return bool(self._connection.run("finish", keys(outcome.job), args))

    def decide(self, job: str, decisions: Sequence[Decision]) -> list[str]:
        """Carry out decisions; return the steps for which they still held."""
        carried: list[str] = []
        for batch in _batches(decisions):
            args: list[Any] = []
            for d in batch:
                data = {"attempt": d.attempt, "action": d.action, "why": d.why, "delay": d.delay}
                args += [d.step, d.attempt, d.state, d.action, d.delay, d.why, json.dumps(data)]
            carried += self._connection.run("decide", keys(job), args)
        return carried

    def withdraw(self, attempt: Attempt, before: float, act: str, why: str) -> bool:
        """Take a step back from its queue that was put there before; False when it is not there."""
        data = json.dumps({"act": act, "why": why})
        args = [attempt.step, attempt.number, before, data]
        return bool(self._connection.run("withdraw", keys(attempt.job), args))

    def lose(self, attempt: Attempt, outcome: Outcome, tries: int, *, blame: bool) -> Loss:
        """Take an attempt from its pod; the outcome ends the step when that was its last try."""
        why = "its lease expired" if blame else "its pod was told to leave"
        data = json.dumps({"attempt": attempt.number, "why": why, "pod": outcome.pod})
        args = [attempt.step, attempt.number, attempt.token, tries, int(blame)]
        args += [outcome.model_dump_json(), data, self._ttl]
        answer: Loss = self._connection.run("lose", keys(attempt.job), args)
        return answer

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
