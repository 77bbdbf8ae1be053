"""What every task of the supervisor works with: the store, the broker, and plans read before."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from threading import Lock

from common import names
from common.broker import Broker
from common.contracts import Job, Team
from common.pulse import LEASE, Pulse
from common.store import Store
from common.store.jobs import Phase
from supervisor.graph import Graph

KEPT = 64
"""How many jobs' plans are kept at hand."""


@dataclass(frozen=True)
class Case:
    """What does not change about a job once it is planned."""

    id: str
    spec: Job
    team: Team
    graph: Graph


class Office:
    """The supervisor's place of work. Any of them can carry on any job."""

    def __init__(self, store: Store, broker: Broker) -> None:
        self.store = store
        self.broker = broker
        self.pulse = Pulse(store)
        self._cases: OrderedDict[str, Case] = OrderedDict()
        self._lock = Lock()

    def case(self, job: str) -> Case | None:
        """Return a planned job, or None when it has no plan yet."""
        with self._lock:
            if job in self._cases:
                self._cases.move_to_end(job)
                return self._cases[job]
        record = self.store.jobs.get(job)
        if record.plan is None:
            return None
        case = Case(job, record.spec, record.team, Graph.of(record.plan.steps))
        with self._lock:
            self._cases[job] = case
            if len(self._cases) > KEPT:
                self._cases.popitem(last=False)
        return case

    @contextmanager
    def phase(self, job: str, phase: Phase) -> Iterator[str | None]:
        """Hold a phase of a job for the length of the block.

        Gives the token to store its result with, or None when another process has the phase or it
        is over.
        """
        token = token_hex(8)
        if self.store.jobs.hold(job, phase, token, self.pulse.pod, LEASE) != "granted":
            yield None
            return
        with self.pulse.held(names.phase_member(job, phase, token)):
            yield token
