"""Stands in for Celery and its queues: messages wait here, and a test says which comes next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from common import names
from common.broker import Message, join_call
from common.contracts import Assignment, Escalation, Failure, Result
from supervisor.aggregate import aggregate
from supervisor.join import join
from supervisor.office import Office
from supervisor.reconcile import reconcile
from supervisor.start import start
from tests.unit.samples import claim, outcome

Body = Result | Escalation | Failure
Work = Callable[[Assignment], Body]


@dataclass
class Chord:
    """What fires when as many headers as were published have returned."""

    body: Message
    left: int


@dataclass
class Queues:
    """The broker of an office, with everything that would take messages from it."""

    waiting: list[tuple[Message, Chord | None]] = field(default_factory=list)
    chords: list[list[str]] = field(default_factory=list)
    """The steps of each chord, in the order in which they were published."""
    assignments: list[Assignment] = field(default_factory=list)
    """What was worked on, in order."""

    def publish(self, *messages: Message) -> None:
        self.waiting += [(message, None) for message in messages]

    def publish_chord(self, headers: Sequence[Message], body: Message) -> None:
        chord = Chord(body, len(headers))
        self.chords.append([header.kwargs["assignment"]["step"] for header in headers])
        self.waiting += [(header, chord) for header in headers]

    def deliver(self, office: Office, number: int, work: Work, *, keep: bool = False) -> None:
        """Have the message of this number handled; one that is kept is delivered again later."""
        message, chord = self.waiting[number]
        if keep:
            # A second delivery of a header is no part of its chord.
            self.waiting[number] = (message, None)
        else:
            del self.waiting[number]
        kwargs = message.kwargs
        match message.task:
            case names.PLAN:
                start(office, kwargs["job"])
            case names.JOIN:
                join(office, kwargs["job"], kwargs["step"], alone=kwargs["alone"])
            case names.AGGREGATE:
                aggregate(office, kwargs["job"])
            case names.WORK:
                self._work(office, Assignment.model_validate(kwargs["assignment"]), work)
        if chord is not None:
            chord.left -= 1
            if chord.left == 0:
                self.publish(chord.body)

    def _work(self, office: Office, assignment: Assignment, work: Work) -> None:
        token = uuid4().hex
        if claim(office.store, assignment, token) != "granted":
            return
        self.assignments.append(assignment)
        done = outcome(
            assignment.step,
            work(assignment),
            attempt=assignment.attempt,
            job=assignment.job,
            specialist=assignment.specialist,
        )
        assert office.store.steps.finish(done, token)
        if not isinstance(done.body, Result):
            self.publish(join_call(assignment.job, assignment.step, alone=True))

    def run(self, office: Office, work: Work) -> None:
        """Have everything handled, first come first served, until nothing moves any more."""
        while True:
            while self.waiting:
                self.deliver(office, 0, work)
            reconcile(office)
            if not self.waiting:
                return
