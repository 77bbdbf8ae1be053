"""Stop a job; what was done until then is still reported."""

from common import names
from common.broker import supervisor_call
from common.states import JobState
from supervisor.office import Office


def cancel(office: Office, job: str) -> JobState:
    """End a job's open steps and have the rest aggregated; return the job's state now."""
    state = office.store.jobs.stop(job, "cancelled")
    if state is JobState.AGGREGATING:
        office.broker.publish(supervisor_call(names.AGGREGATE, f"job={job}", job=job))
    return state
