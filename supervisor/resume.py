"""Carry on a job that has ended without a full answer."""

from common import names
from common.broker import supervisor_call
from common.contracts import Escalation, Outcome
from common.errors import InputError
from common.states import JobState, StepState
from common.store import StepRecord
from supervisor.office import Case, Office
from supervisor.reconcile import look

UNFINISHED = (StepState.FAILED, StepState.SKIPPED, StepState.CANCELLED)


def resume(office: Office, job: str, start: str | None = None) -> JobState:
    """Run again what a job lacks, or a step and all that depends on it; return its state now."""
    record = office.store.jobs.get(job)
    if not record.state.ended:
        raise InputError(f"job {job} is {record.state}; only one that has ended can be resumed")
    case = office.case(job)
    steps = _steps(office, case, start) if case else []
    if case and not steps:
        raise InputError(f"job {job} lacks nothing; name a step with --from to run it again")
    seconds = record.spec.deadline_seconds or record.team.limits.seconds
    state = office.store.jobs.resume(job, steps, min(seconds, record.team.limits.seconds))
    if state is None:
        raise InputError(f"job {job} was resumed by someone else just now")
    if state is JobState.SUBMITTED:
        office.broker.publish(supervisor_call(names.PLAN, f"job={job}", job=job))
    else:
        look(office, job, settled=0.0)
    return state


def _steps(office: Office, case: Case, start: str | None) -> list[str]:
    if start is not None:
        if start not in case.graph.steps:
            known = ", ".join(sorted(case.graph.steps)[:20])
            raise InputError(f"no step {start!r} in job {case.id}; it has: {known}")
        return sorted({start} | case.graph.below([start]))
    records = office.store.steps.records(case.id)
    escalated = {s: r.attempt for s, r in records.items() if r.state is StepState.ESCALATED}
    outcomes = office.store.steps.outcomes(case.id, escalated)
    return unfinished(records, outcomes)


def unfinished(records: dict[str, StepRecord], outcomes: dict[str, Outcome]) -> list[str]:
    """Return the steps that another run may finish; what the engine does not do is no such step."""
    lost = {step for step, record in records.items() if record.state in UNFINISHED}
    bodies = {step: outcome.body for step, outcome in outcomes.items()}
    open_ = {
        step
        for step, body in bodies.items()
        if isinstance(body, Escalation) and body.reason != "out_of_scope"
    }
    return sorted(lost | open_)
