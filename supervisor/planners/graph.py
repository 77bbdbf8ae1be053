"""Plan the graph that the team's file spells out."""

from common.contracts import Job, Slice, Step, Team
from common.contracts.team import ByGraph, GraphStep


def steps(job: Job, team: Team, by: ByGraph) -> list[Step]:
    """Return the team's fixed steps, filled in for this job."""
    return [_step(job, team, node) for node in by.steps]


def _step(job: Job, team: Team, node: GraphStep) -> Step:
    specialist = team.specialists[node.specialist]
    return Step(
        id=node.id,
        specialist=node.specialist,
        instruction=specialist.instruction,
        context=job.request,
        criterion=specialist.criterion,
        inputs=tuple(Slice(path=d.path) for d in job.documents) if node.documents else (),
        depends_on=node.depends_on,
        budget=specialist.budget,
        tier=specialist.tier,
    )
