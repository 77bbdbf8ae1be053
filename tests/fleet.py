"""Real processes on a real Redis, for tests: started, killed and ended by their pid."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from common import names
from common.broker import Broker, make_app, supervisor_call
from common.contracts import Budget, Job, Report, Specialist, Team
from common.contracts.team import ByGraph, GraphStep, TeamLimits
from common.store import JobRecord, Store
from supervisor.office import Office
from supervisor.submit import by_reference
from tests.eventually import eventually

ROOT = Path(__file__).parent.parent
BEHAVIOURS = ("succeed", "wait", "linger", "gate", "flaky", "broken", "raise", "die", "measure")


def team(graph: Mapping[str, tuple[str, Sequence[str]]], **changes: object) -> Team:
    """Return a team whose plan is this graph: from step to behaviour and dependencies."""
    specialists = {
        name: Specialist(
            description=f"Behaves as {name} says.",
            prompt="You are part of a test.",
            instruction="Behave as the tool of this specialist does.",
            criterion="An outcome comes back for this step.",
            tools=(name,),
            queue="tests",
            budget=Budget(seconds=30),
        )
        for name in BEHAVIOURS
    }
    steps = tuple(
        GraphStep(id=step, specialist=behaviour, depends_on=tuple(needs), documents=True)
        for step, (behaviour, needs) in graph.items()
    )
    given = {"limits": TeamLimits(seconds=60), **changes}
    return Team(
        name="tests",
        description="A team for tests.",
        final_instruction="Put together what came back.",
        plan=ByGraph(by="graph", steps=steps),
        specialists=specialists,
        **given,
    )


class Fleet:
    """Processes, and jobs for them."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.store = Store.open(5.0, url)
        self.office = Office(self.store, Broker(make_app("tests", url=url)))
        self.processes: list[subprocess.Popen[bytes]] = []

    def supervisor(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start a supervisor."""
        return self._start("supervisor.app", "supervisor", 4, environment)

    def pod(
        self, slots: int = 8, queue: str = "tests", **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start a worker pod with the tools of the tests."""
        return self._start("tests.pods", queue, slots, environment)

    def _start(
        self, app: str, queue: str, slots: int, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        number = len(self.processes)
        argv = [sys.executable, "-m", "celery", "--quiet", "-A", app, "worker", "-Q", queue]
        argv += ["-c", str(slots), "-n", f"p{number}-{uuid4().hex[:6]}@%h", "-l", "INFO"]
        with (self.folder / f"{number}-{queue}.log").open("wb") as log:
            process = subprocess.Popen(
                [*argv, "--without-gossip", "--without-mingle", "--heartbeat-interval=10"],
                cwd=ROOT,
                env={**os.environ, "CHARGEHAND_REDIS_URL": self.url, **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    def ready(self) -> None:
        """Wait until every process that was started has announced itself."""
        alive = sum(process.poll() is None for process in self.processes)
        eventually(lambda: len(self.store.fleet.pods()) >= alive, within=30)

    def submit(self, made: Team, **fields: object) -> str:
        """Submit a job to a team that is in no folder."""
        job = Job.model_validate({"team": made.name, "request": "Do what the plan says.", **fields})
        documents, bodies = by_reference(job.documents)
        self.store.blobs.put(bodies)
        stored = job.model_copy(update={"documents": documents})
        job_id = self.store.jobs.submit(uuid4().hex[:12], stored, made)
        self.office.broker.publish(supervisor_call(names.PLAN, f"job={job_id}", job=job_id))
        return job_id

    def ended(self, job: str, within: float = 30.0) -> JobRecord:
        """Return a job that has ended, or fail with what is known about it."""
        record = self.store.jobs.wait(job, within)
        assert record.state.ended, self.told(job)
        return record

    def report(self, job: str, within: float = 30.0) -> Report:
        """Return the report of a job, waiting for it."""
        report = self.ended(job, within).report
        assert report is not None, self.told(job)
        return report

    def told(self, job: str) -> str:
        """Return a job's trace, for the message of a failed test."""
        events = self.store.trace.read(job)
        return "\n".join(f"{e.time:.3f} {e.event} {e.step} {e.data}" for e in events)

    def until(self, job: str, event: str, step: str = "", count: int = 1) -> None:
        """Wait until a job's trace has so many of an event."""

        def seen() -> bool:
            found = [e for e in self.store.trace.read(job) if e.event == event]
            matching = [e for e in found if not step or e.step == step]
            assert len(matching) >= count, self.told(job)
            return True

        eventually(seen, within=20)

    def stop(self) -> None:
        """End every process that was started, by its pid."""
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
