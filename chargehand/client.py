"""Submit jobs and follow them from Python.

client = Client("redis://localhost:6379/0")
job = client.submit(Job(team="brief", request="What changed in May?", documents=(...)))
report = client.wait(job).report
"""

from collections.abc import Iterator
from pathlib import Path

from chargehand.stack import local
from common.broker import Broker, make_app
from common.contracts import Job
from common.states import JobState
from common.store import Event, JobRecord, StepRecord, Store
from supervisor.cancel import cancel
from supervisor.office import Office
from supervisor.resume import resume
from supervisor.submit import submit

PATIENCE = 2.0
"""Seconds for which a caller waits for a Redis that is away before it is told."""


class Client:
    """A caller's view of the jobs on one Redis: the given one, the configured one, or that of a
    running `chargehand up`."""

    def __init__(self, redis_url: str | None = None, teams: tuple[Path, ...] = ()) -> None:
        redis_url = redis_url or local.require()
        self._store = Store.open(PATIENCE, redis_url)
        self._office = Office(self._store, Broker(make_app("client", url=redis_url)))
        self._teams = teams

    def submit(self, job: Job) -> str:
        """Hand in a job and return its id; what is wrong with it raises InputError."""
        return submit(self._office, job, self._teams)

    def events(self, job: str, within: float | None = None) -> Iterator[Event]:
        """Yield what happens to a job, from its first event to its last."""
        return self._store.trace.follow(job, within)

    def wait(self, job: str, within: float | None = None) -> JobRecord:
        """Return a job when it has ended, or as it is after `within` seconds."""
        return self._store.jobs.wait(job, within)

    def get(self, job: str) -> JobRecord:
        """Return a job as it is now."""
        return self._store.jobs.get(job)

    def steps(self, job: str) -> dict[str, StepRecord]:
        """Return where each step of a job stands."""
        return self._store.steps.records(job)

    def recent(self, limit: int = 20) -> list[JobRecord]:
        """Return the newest jobs, the newest first."""
        return self._store.jobs.recent(limit)

    def trace(self, job: str) -> list[Event]:
        """Return what has happened to a job so far."""
        return self._store.trace.read(job)

    def cancel(self, job: str) -> JobState:
        """Stop a job; its report will say what was done until then."""
        return cancel(self._office, job)

    def resume(self, job: str, start: str | None = None) -> JobState:
        """Carry on a job that has ended: what it lacks, or from a step on; return its state."""
        return resume(self._office, job, start)
