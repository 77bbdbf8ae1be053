"""The supervisor's Celery tasks: each parses, calls one plain function, and returns."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from typing import Any

from common import logs, names, telemetry
from common.broker import Broker
from common.contracts import Job
from common.endpoint import Endpoint
from common.lifecycle import accompany
from common.settings import settings
from common.store import PodFacts, Store
from supervisor.aggregate import aggregate
from supervisor.app import app
from supervisor.gauges import FleetGauges
from supervisor.join import join
from supervisor.office import Office
from supervisor.reconciler import Reconciler
from supervisor.start import start
from supervisor.submit import submit

PATIENCE = 300.0
"""Seconds for which a supervisor waits for a Redis that is away."""


@cache
def office() -> Office:
    """Return this process's office, made when first needed."""
    return Office(Store.open(PATIENCE), Broker(app))


@contextmanager
def about(job: str, phase: str) -> Iterator[None]:
    """Have the log and the trace tell what this process does for which job."""
    with logs.about(job), telemetry.span(phase, job):
        yield


@app.task(name=names.SUBMIT, ignore_result=False, bind=True)
def submit_task(self: Any, job: dict[str, Any]) -> str:
    """Take in a job from a service that speaks Celery; its id is the result."""
    # The message may be delivered twice; its own id makes it one job.
    job_id = sha256(self.request.id.encode()).hexdigest()[:12]
    return submit(office(), Job.model_validate(job), settings().teams, job_id)


@app.task(name=names.PLAN)
def plan_task(job: str) -> None:
    """Plan a submitted job and start it."""
    with about(job, "plan"):
        start(office(), job)


@app.task(name=names.JOIN)
def join_task(_references: list[str] | None = None, *, job: str, step: str, alone: bool) -> None:
    """Take up outcomes; the store is read, so the references from the chord are not needed."""
    with about(job, "join"):
        join(office(), job, step, alone=alone)


@app.task(name=names.AGGREGATE)
def aggregate_task(job: str) -> None:
    """Make and deliver the report of a job whose steps have all ended."""
    with about(job, "aggregate"):
        aggregate(office(), job)


class Beside:
    """What a supervisor does beside its tasks: it is there, and it reconciles."""

    def __init__(self) -> None:
        self._reconciler = Reconciler(office())

    def start(self, facts: PodFacts) -> None:
        """Announce the process and start the reconciler."""
        office().pulse.start(facts)
        self._reconciler.start()

    def stop(self) -> None:
        """Stop the reconciler and take the process off the list."""
        self._reconciler.stop()
        office().pulse.stop()


accompany(
    app,
    Beside,
    lambda: Endpoint(office().pulse, FleetGauges),
    lambda: telemetry.Tracing("chargehand-supervisor"),
)
