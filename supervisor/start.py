"""Plan a submitted job and publish the steps that it starts with."""

from common import crash
from common.contracts import Plan, Team
from common.errors import ModelError, PlanError
from common.settings import settings
from common.states import JobState
from common.store import JobRecord
from supervisor import plan
from supervisor.dispatch import dispatch
from supervisor.ended import ended
from supervisor.join import conclude
from supervisor.office import Office
from supervisor.submit import prompts


def start(office: Office, job: str) -> None:
    """Plan a job and dispatch its first steps; a job that was planned before is only carried on."""
    with office.phase(job, "plan") as token:
        if token is not None:
            _plan(office, job, token)
    case = office.case(job)
    if case is not None:
        dispatch(office, case, case.graph.roots())
        conclude(office, job)


def _plan(office: Office, job: str, token: str) -> None:
    record = office.store.jobs.get(job)
    try:
        made = plan.make(record.spec, record.team)
    except PlanError as error:
        if office.store.jobs.fail(job, str(error)):
            ended(record, JobState.FAILED)
        return
    made, team = _improved(office, record, made)
    crash.point("planning")
    office.store.jobs.start(job, made, token, team)
    crash.point("planned")


def _improved(office: Office, record: JobRecord, made: Plan) -> tuple[Plan, Team | None]:
    """Let a model improve the plan, if one is to be asked; without an answer the plan stands."""
    if not settings().thinks() or not record.team.prompts.plan or not made.steps:
        return made, None
    # The model's part is loaded only where a model is asked.
    from supervisor.planners import claude

    try:
        better, team = claude.make(office, record.id, record.spec, record.team, made)
    except ModelError as error:
        office.store.trace.add(record.id, "fell_back", {"phase": "plan", "why": str(error)})
        return made, None
    office.store.blobs.put(prompts(team))
    return better, team
