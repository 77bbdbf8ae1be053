"""Jobs of steps that do nothing or only wait, through the whole flow from submission to report."""

from collections.abc import Mapping, Sequence
from uuid import uuid4

from common import names
from common.broker import Broker, make_app, supervisor_call
from common.contracts import Job, Specialist, Team
from common.contracts.team import ByGraph, GraphStep, TeamLimits
from common.store import JobRecord, Store
from supervisor.office import Office

SPECIALISTS = {
    name: Specialist(
        description="Takes part in a measurement.",
        prompt="You take part in a measurement.",
        instruction="Do as the tool of this specialist does.",
        criterion="A result comes back for this step.",
        tools=(name,),
        queue="bench",
    )
    for name in ("noop", "wait", "slow")
}


class Ours:
    """Runs graphs of steps as jobs."""

    def __init__(self) -> None:
        self.office = Office(Store.open(5.0), Broker(make_app("bench")))

    def fan_out(self, specialist: str, count: int) -> JobRecord:
        """Run so many steps that do not depend on each other."""
        return self.graph(specialist, {f"s{n}": () for n in range(count)})

    def graph(self, specialist: str, needs: Mapping[str, Sequence[str]]) -> JobRecord:
        """Run a graph of steps, and return the job when its report is there."""
        return self.ended(self.submit(specialist, needs))

    def submit(self, specialist: str, needs: Mapping[str, Sequence[str]], **changes: object) -> str:
        """Submit a job of these steps, to a team with these changes."""
        steps = tuple(
            GraphStep(id=step, specialist=specialist, depends_on=tuple(needed))
            for step, needed in needs.items()
        )
        fields = {
            "name": "bench",
            "description": "A team for measuring.",
            "final_instruction": "Count what came back from all of the steps.",
            "plan": ByGraph(by="graph", steps=steps),
            "specialists": SPECIALISTS,
            "limits": TeamLimits(steps=20_000, seconds=300),
        }
        team = Team.model_validate(fields | changes)
        job = self.office.store.jobs.submit(
            uuid4().hex[:12], Job(team="bench", request="measure"), team
        )
        self.office.broker.publish(supervisor_call(names.PLAN, f"job={job}", job=job))
        return job

    def ended(self, job: str) -> JobRecord:
        """Return a job that came to its full report."""
        record = self.office.store.jobs.wait(job, 300)
        assert record.report is not None, f"job {job} has no report: {record.error}"
        assert record.report.state == "complete"
        return record
