"""Take up outcomes: decide about what went wrong, start what became ready, or finish the job.

A join may run any number of times, for any step, in any order: it reads the store, and each act is
carried out only where it still holds.
"""

from collections.abc import Iterable

from common import crash, names
from common.broker import supervisor_call
from common.states import StepState
from supervisor.decide import about, skips
from supervisor.dispatch import dispatch
from supervisor.graph import ready
from supervisor.office import Case, Office

GONE = (StepState.FAILED, StepState.ESCALATED, StepState.SKIPPED, StepState.CANCELLED)


def join(office: Office, job: str, step: str, *, alone: bool = False) -> None:
    """Take up what a step, and unless alone all that it is joined with, came to."""
    case = office.case(job)
    if case is None or step not in case.graph.steps:
        return
    members = [step] if alone else case.graph.joined_with(step)
    crash.point("joining")
    decide(office, case, members)
    crash.point("decided")
    go_on(office, case, step)
    conclude(office, job)


def conclude(office: Office, job: str) -> None:
    """Have a job aggregated when all its steps have ended."""
    if office.store.jobs.conclude(job):
        crash.point("concluded")
        office.broker.publish(supervisor_call(names.AGGREGATE, f"job={job}", job=job))


def decide(office: Office, case: Case, members: Iterable[str]) -> None:
    """Decide about the members that came back without a result, and skip what hangs on them."""
    records = office.store.steps.records(case.id, members)
    undecided = {s: r.attempt for s, r in records.items() if r.state is StepState.UNDECIDED}
    outcomes = office.store.steps.outcomes(case.id, undecided)
    tries = case.team.limits.tries
    decisions = [about(o, tries + records[step].spared) for step, o in outcomes.items()]
    office.store.steps.decide(case.id, decisions)
    ended = {d.step for d in decisions if d.action != "retry"}
    gone = ended | {s for s, r in records.items() if r.state in GONE}
    _skip(office, case, _lost(office, case, gone))


def _lost(office: Office, case: Case, gone: Iterable[str]) -> list[str]:
    """Return those of the steps that leave nothing for others to work with."""
    records = office.store.steps.records(case.id, gone)
    outcomes = office.store.steps.outcomes(case.id, {s: r.attempt for s, r in records.items()})
    return [step for step in records if step not in outcomes or outcomes[step].answer is None]


def _skip(office: Office, case: Case, lost: list[str]) -> None:
    below = office.store.steps.records(case.id, sorted(case.graph.below(lost)))
    office.store.steps.decide(case.id, skips(case.graph, case.team, lost, below))


def go_on(office: Office, case: Case, step: str) -> None:
    """Dispatch what this step's dependents can start with now."""
    dependents = case.graph.dependents[step]
    needed = {n for d in dependents for n in case.graph.steps[d].depends_on}
    records = office.store.steps.records(case.id, sorted(dependents | needed))
    waiting = [d for d in dependents if records[d].state is StepState.WAITING]
    ended = [s for s, record in records.items() if record.state.ended]
    dispatch(office, case, ready(case.graph, waiting, ended))
