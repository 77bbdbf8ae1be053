"""Make a plan for a job, and check any plan whoever made it."""

from collections import Counter

from common.contracts import Job, Plan, Team
from common.contracts.team import ByFiles
from common.errors import PlanError
from supervisor.graph import Graph
from supervisor.planners import files, graph

FEWEST_WORDS = 4
"""An instruction or criterion with fewer words than this is too vague to work by."""


def make(job: Job, team: Team) -> Plan:
    """Return the plan of the rules planner, checked."""
    by = team.plan
    excluded = list(job.excluded)
    if isinstance(by, ByFiles):
        steps = files.steps(job, team, by)
        excluded += files.exclusions(job, team)
    else:
        steps = graph.steps(job, team, by)
    plan = Plan(
        goal=job.request,
        final_instruction=team.final_instruction,
        planner="rules",
        steps=tuple(steps),
        excluded=tuple(sorted(excluded, key=lambda e: e.path)),
    )
    return checked(plan, job, team)


def checked(plan: Plan, job: Job, team: Team) -> Plan:
    """Return the plan, or raise PlanError with every fault of it."""
    faults = [*_step_faults(plan, job, team), *_graph_faults(plan, team)]
    if faults:
        raise PlanError(faults)
    return plan


def _step_faults(plan: Plan, job: Job, team: Team) -> list[str]:
    paths = {document.path for document in job.documents}
    faults = []
    for step in plan.steps:
        if step.specialist not in team.specialists:
            known = ", ".join(sorted(team.specialists))
            faults.append(
                f"step {step.id!r}: no specialist {step.specialist!r} in team {team.name!r}; "
                f"it has: {known}"
            )
        for field, text in (("instruction", step.instruction), ("criterion", step.criterion)):
            if len(text.split()) < FEWEST_WORDS:
                faults.append(f"step {step.id!r}: {field} {text!r} is vague; say what and where")
        unknown = sorted({part.path for part in step.inputs} - paths)
        faults += [f"step {step.id!r}: input {path!r} is not in the job" for path in unknown]
    return faults


def _graph_faults(plan: Plan, team: Team) -> list[str]:
    ids = Counter(step.id for step in plan.steps)
    faults = [f"step id {step!r} is used {n} times" for step, n in ids.items() if n > 1]
    unknown = [
        f"step {step.id!r}: depends on {needed!r}, which is not in the plan"
        for step in plan.steps
        for needed in step.depends_on
        if needed not in ids
    ]
    if not unknown:
        cyclic = Graph.of(plan.steps).cyclic()
        if cyclic:
            faults.append(f"steps that wait for each other: {', '.join(cyclic)}")
    if len(plan.steps) > team.limits.steps:
        faults.append(f"{len(plan.steps)} steps; the team's cap is {team.limits.steps}")
    return faults + unknown
