"""Bring back into motion what stands still, from what the store knows.

Chords are the fast path; this is what holds when a pod, a supervisor, a message or Redis was lost.
Every act here may be done twice, or while the fast path does the same: the store lets one through.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from pydantic import ValidationError

from common import logs, metrics, names
from common.broker import supervisor_call
from common.contracts import Failure, Outcome
from common.errors import ChargehandError, UnknownJob
from common.states import JobState, StepState
from common.store import Attempt, Attention, Lost, Routed, StepRecord
from supervisor.dispatch import choose, dispatch
from supervisor.ended import ended
from supervisor.graph import ready
from supervisor.join import GONE, conclude, decide, join
from supervisor.office import Case, Office

logger = logging.getLogger(__name__)

SETTLED = 1.0
"""Seconds after an outcome in which its join may still be on its way."""

UNDONE = (StepState.UNDECIDED, *GONE)
"""States about which a join may not have done all: decided, and skipped what hangs on them."""
MOVES = ("no live pod", "breaker open")
"""Reasons to take a step away from the queue that it waits on."""

Act = tuple[str, Callable[[], None]]


def reconcile(office: Office) -> None:
    """Take up everything that needs attention, unless another process does.

    What one job lacks does not hold up the others.
    """
    seen = office.store.fleet.watch(office.pulse.pod)
    for job, act in _acts(office, seen) if seen else ():
        try:
            with logs.about(job):
                act()
        except UnknownJob:
            logger.warning("job %s has expired; it is taken off the lists", job)
            office.store.jobs.forget(job)
        except (ChargehandError, ValidationError, KeyError) as error:
            logger.warning("job %s could not be reconciled: %s", job, error)
            office.store.fleet.count("reconciling_failed")


def _acts(office: Office, seen: Attention) -> Iterator[Act]:
    for job, step in seen.due:
        yield job, partial(_try_again, office, job, step)
    for lost in seen.lost:
        yield lost.job, partial(_recover, office, lost)
    for attempt, before in seen.vanished:
        yield attempt.job, partial(_republish, office, attempt, before)
    for job in seen.overdue:
        yield job, partial(_end, office, job)
    for job in seen.jobs:
        yield job, partial(look, office, job)


def _try_again(office: Office, job: str, step: str) -> None:
    try:
        case = office.case(job)
    except UnknownJob:
        office.store.steps.not_due(job, step)
        raise
    if case is not None:
        dispatch(office, case, [case.graph.steps[step]])


def _recover(office: Office, lost: Attempt | Lost) -> None:
    """Have what lost its lease done by another process."""
    if isinstance(lost, Lost):
        look(office, lost.job)
        return
    case = office.case(lost.job)
    if case is None:
        return
    record = office.store.steps.records(lost.job, [lost.step])[lost.step]
    tries = case.team.limits.tries
    outcome = _lost_outcome(case, lost, record, tries)
    match office.store.steps.lose(lost, outcome, tries, blame=True):
        case "again":
            metrics.reconciled("recover")
            dispatch(office, case, [case.graph.steps[lost.step]])
        case "over":
            metrics.reconciled("recover")
            metrics.step(outcome)
            join(office, lost.job, lost.step, alone=True)


def _lost_outcome(case: Case, attempt: Attempt, record: StepRecord, tries: int) -> Outcome:
    message = f"its pod was lost while it ran (last: {record.pod}), {tries} times"
    return Outcome(
        job=attempt.job,
        team=case.team.name,
        step=attempt.step,
        attempt=attempt.number,
        specialist=record.specialist,
        engine="rules",
        pod=record.pod,
        seconds=0.0,
        body=Failure(reason="lost", message=message),
    )


def _republish(office: Office, attempt: Attempt, before: float) -> None:
    """Publish a step again whose message has vanished."""
    _move(office, attempt, before, "republish", "its message is on no queue")


def _move(office: Office, attempt: Attempt, before: float, act: str, why: str) -> None:
    """Take a step back from its queue, and dispatch it anew."""
    case = office.case(attempt.job)
    if case is not None and office.store.steps.withdraw(attempt, before, act, why):
        metrics.reconciled(act)
        dispatch(office, case, [case.graph.steps[attempt.step]])


def _end(office: Office, job: str) -> None:
    """End a job past its deadline with what there is."""
    queued = [r.queue for r in office.store.steps.records(job).values() if r.queue]
    loads = office.store.loads.read(sorted(set(queued)))
    deserted = [queue for queue, load in loads.items() if load.slots == 0]
    metrics.reconciled("end")
    state = office.store.jobs.stop(job, "deadline", deserted)
    if state is JobState.FAILED:
        ended(office.store.jobs.get(job), state)
    if state is JobState.AGGREGATING:
        office.broker.publish(supervisor_call(names.AGGREGATE, f"job={job}", job=job))


def look(office: Office, job: str, settled: float = SETTLED) -> None:
    """Carry on a job that nothing carries on; outcomes younger than `settled` have their join."""
    match office.store.jobs.state(job):
        case JobState.SUBMITTED:
            _call_again(office, names.PLAN, job)
        case JobState.AGGREGATING:
            _call_again(office, names.AGGREGATE, job)
        case JobState.RUNNING:
            case = office.case(job)
            if case is not None:
                _look_at_steps(office, case, settled)


def _call_again(office: Office, task: str, job: str) -> None:
    """Publish a phase again; when a process has it, that one goes on alone."""
    metrics.reconciled(task.removeprefix("chargehand."))
    office.broker.publish(supervisor_call(task, f"job={job}", job=job))


def _look_at_steps(office: Office, case: Case, settled: float) -> None:
    """Do what a join that did not fire, or a dispatch that stopped halfway, left undone."""
    records = office.store.steps.records(case.id)
    before = office.store.fleet.now() - settled
    undone = [
        step
        for step, record in records.items()
        if record.state in UNDONE and (record.ended or 0.0) < before
    ]
    for step in undone:
        if records[step].state is StepState.UNDECIDED:
            _traced(office, case, "join", step, "it came back and nothing was decided")
    if undone:
        decide(office, case, undone)
        records = office.store.steps.records(case.id)
    _dispatch_stranded(office, case, records, before)
    _leave_bad_queues(office, case, records)


def _dispatch_stranded(
    office: Office, case: Case, records: Mapping[str, StepRecord], before: float
) -> None:
    ended = [s for s, r in records.items() if r.state.ended and (r.ended or 0.0) < before]
    waiting = [s for s, r in records.items() if r.state is StepState.WAITING]
    scheduled = office.store.steps.scheduled(case.id, waiting)
    stranded = ready(case.graph, [s for s in waiting if s not in scheduled], ended)
    for step in stranded:
        _traced(office, case, "dispatch", step.id, "all that it needs has ended")
    dispatch(office, case, stranded)
    if len(ended) == len(records):
        conclude(office, case.id)


def _leave_bad_queues(office: Office, case: Case, records: Mapping[str, StepRecord]) -> None:
    """Move steps that wait on a queue which went bad after they were put there."""
    queued = {s: r for s, r in records.items() if r.state is StepState.QUEUED}
    steps = [case.graph.steps[step] for step in queued]
    for choice in choose(office, case, steps, probing=False):
        record = queued[choice.step]
        if isinstance(choice, Routed) and choice.reason in MOVES and choice.queue != record.queue:
            attempt = Attempt(case.id, choice.step, record.attempt)
            why = f"{record.queue}: {choice.reason}"
            _move(office, attempt, record.queued or 0.0, "move", why)


def _traced(office: Office, case: Case, act: str, step: str, why: str) -> None:
    metrics.reconciled(act)
    office.store.trace.add(case.id, "reconciled", {"act": act, "why": why}, step)
