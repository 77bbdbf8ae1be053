"""One worker process: it claims steps, keeps its claims alive, and stores what they came to."""

import logging
import threading
from functools import partial
from secrets import token_hex
from typing import Any

from pydantic import ValidationError

from common import crash, logs, metrics, names, telemetry
from common.broker import Broker, join_call
from common.contracts import Assignment, Failure, Outcome, Result
from common.pulse import LEASE, Pulse
from common.settings import settings
from common.store import Attempt, Claimed, PodFacts, Store
from workers.bodies import fetched, prompts
from workers.run import run
from workers.think import Thinking

logger = logging.getLogger(__name__)

ENDLESS = 1_000_000
"""More tries than any step has: giving a step back is no try."""


class Pod:
    """A stateless worker. Any pod that serves a queue can do any step on it."""

    def __init__(self, store: Store, broker: Broker, *, largest: int, grace: float) -> None:
        self._store = store
        self._broker = broker
        self.pulse = self._pulse = Pulse(store)
        self._largest = largest
        self._grace = grace
        self._leaving: threading.Timer | None = None

    def start(self, facts: PodFacts) -> None:
        """Announce the pod, and go on doing so."""
        self._pulse.start(facts)

    def stop(self) -> None:
        """Take the pod off the list; its steps have ended or were given back."""
        if self._leaving:
            self._leaving.cancel()
        self._pulse.stop()

    def leave(self) -> None:
        """Let running steps finish; those that take longer than the grace time are given back."""
        self._leaving = threading.Timer(self._grace, self._give_back)
        self._leaving.daemon = True
        self._leaving.start()

    def _give_back(self) -> None:
        for member in self._pulse.members():
            attempt = Attempt.parse(member)
            logger.warning("step %s of job %s is given back", attempt.step, attempt.job)
            self._store.steps.lose(attempt, self._unused(attempt), ENDLESS, blame=False)
            self._pulse.drop(member)

    def _unused(self, attempt: Attempt) -> Outcome:
        """Return what would end a step on its last try, which giving it back never is."""
        return Outcome(
            job=attempt.job,
            team="unknown",
            step=attempt.step,
            attempt=attempt.number,
            specialist="unknown",
            engine="rules",
            pod=self._pulse.pod,
            seconds=0.0,
            body=Failure(reason="lost", message="its pod was told to leave"),
        )

    def work(self, raw: Any) -> str | None:
        """Do a step and return the reference of its outcome; None when another pod has it."""
        try:
            assignment = Assignment.model_validate(raw)
        except ValidationError as error:
            self._refuse(raw, error)
            return None
        with logs.about(assignment.job, assignment.step):
            return self._claimed(assignment, raw)

    def _claimed(self, assignment: Assignment, raw: Any) -> str | None:
        token = token_hex(8)
        claimed = self._store.steps.claim(assignment, token, self._pulse.pod, LEASE)
        claim = claimed.claim
        crash.point("claimed")
        if claim in ("granted", "suspect"):
            metrics.waited(claimed.queue, claimed.waited)
            with telemetry.span("work", assignment.job, **_facts(assignment, claimed)):
                self._attempt(assignment, token, claimed.left, alone=claim == "suspect")
        elif claim == "unknown":
            metrics.refused()
            self._store.fleet.refuse(assignment.specialist, "no such job or step", raw)
            return None
        elif claim == "held":
            return None
        crash.point("stored")
        return names.attempt_field(assignment.step, assignment.attempt)

    def _refuse(self, raw: Any, error: ValidationError) -> None:
        faults = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}"
            for e in error.errors(include_input=False, include_url=False)
        )
        logger.error("a message was refused: %s", faults)
        metrics.refused()
        self._store.fleet.refuse("", faults, raw)

    def _thinking(self, assignment: Assignment, *, alone: bool) -> Thinking:
        """Return how a step is thought about; without prompts, that is by rules."""
        by_model = settings().thinks() and assignment.prompts
        return Thinking(
            partial(prompts, self._store, assignment) if by_model else None, alone=alone
        )

    def _attempt(self, assignment: Assignment, token: str, left: float, *, alone: bool) -> None:
        member = names.lease_member(assignment.job, assignment.step, assignment.attempt, token)
        with self._pulse.held(member) as lost:
            outcome, events = run(
                assignment,
                fetch=partial(fetched, self._store),
                pod=self._pulse.pod,
                stopped=lost.is_set,
                left=left,
                largest=self._largest,
                thinking=self._thinking(assignment, alone=alone),
            )
            crash.point("worked")
            telemetry.tools(outcome.job, events, outcome.seconds)
            counted = self._store.steps.finish(outcome, token, events)
        telemetry.tell(outcome=outcome.body.kind, engine=outcome.engine, counted=counted)
        if not counted:
            logger.warning("the outcome of %s came too late to count", member)
            return
        metrics.step(outcome)
        if not isinstance(outcome.body, Result):
            telemetry.failed(f"{outcome.body.kind}: {outcome.body.reason}")
            # What to do about it need not wait for the rest of its chord.
            self._broker.publish(join_call(outcome.job, outcome.step, alone=True))


def _facts(assignment: Assignment, claimed: Claimed) -> dict[str, telemetry.Value]:
    """Return what a trace tells about an attempt."""
    return {
        "step": assignment.step,
        "attempt": assignment.attempt,
        "team": assignment.team,
        "specialist": assignment.specialist,
        "queue": claimed.queue,
        "waited": claimed.waited,
    }
