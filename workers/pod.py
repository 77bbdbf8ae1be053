"""One worker process: it claims steps, keeps its claims alive, and stores what they came to."""

import logging
import os
import socket
from functools import partial
from secrets import token_hex
from typing import Any

from pydantic import ValidationError

from common import leases, names
from common.broker import Broker, join_call
from common.contracts import Assignment, Result
from common.leases import Leases
from common.store import Store
from workers.bodies import fetched
from workers.run import run

logger = logging.getLogger(__name__)


class Pod:
    """A stateless worker. Any pod that serves a queue can do any step on it."""

    def __init__(self, store: Store, broker: Broker, largest: int) -> None:
        self.id = f"{socket.gethostname()}-{os.getpid()}"
        self._store = store
        self._broker = broker
        self._leases = Leases(store)
        self._largest = largest

    def work(self, raw: dict[str, Any]) -> str | None:
        """Do a step and return the reference of its outcome; None when another pod has it."""
        try:
            assignment = Assignment.model_validate(raw)
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False)
            logger.error("a message was refused: %s", faults)
            return None
        token = token_hex(8)
        claim = self._store.steps.claim(assignment, token, self.id, leases.SECONDS)
        if claim == "granted":
            self._attempt(assignment, token)
        elif claim in ("held", "unknown"):
            logger.info("step %s of job %s is %s", assignment.step, assignment.job, claim)
            return None
        return names.attempt_field(assignment.step, assignment.attempt)

    def _attempt(self, assignment: Assignment, token: str) -> None:
        member = names.lease_member(assignment.job, assignment.step, assignment.attempt, token)
        with self._leases.held(member) as lost:
            outcome, events = run(
                assignment,
                fetch=partial(fetched, self._store),
                pod=self.id,
                stopped=lost.is_set,
                largest=self._largest,
            )
            counted = self._store.steps.finish(outcome, token, events)
        if not counted:
            logger.warning("the outcome of %s came too late to count", member)
        elif not isinstance(outcome.body, Result):
            # What to do about it need not wait for the rest of its chord.
            self._broker.publish(join_call(outcome.job, outcome.step, alone=True))
