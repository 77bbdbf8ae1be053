"""Plan a submitted job and publish the steps that it starts with."""

from common import crash
from common.errors import PlanError
from supervisor import plan
from supervisor.dispatch import dispatch
from supervisor.join import conclude
from supervisor.office import Office


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
        office.store.jobs.fail(job, str(error))
        return
    crash.point("planning")
    office.store.jobs.start(job, made, token)
    crash.point("planned")
