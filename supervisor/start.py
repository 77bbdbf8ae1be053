"""Plan a submitted job and publish the steps that it starts with."""

from common.errors import PlanError
from common.states import JobState
from supervisor import plan
from supervisor.dispatch import dispatch
from supervisor.join import conclude
from supervisor.office import Office


def start(office: Office, job: str) -> None:
    """Plan a job and dispatch its first steps; a job that was planned before is only carried on."""
    record = office.store.jobs.get(job)
    if record.state is JobState.SUBMITTED:
        try:
            office.store.jobs.start(job, plan.make(record.spec, record.team))
        except PlanError as error:
            office.store.jobs.fail(job, str(error))
    case = office.case(job)
    if case is not None:
        dispatch(office, case, case.graph.roots())
        conclude(office, job)
