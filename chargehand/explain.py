"""Why a step went where it did, in plain sentences, from the trace of its job."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from common.errors import InputError
from common.store import Event, JobRecord, StepRecord

SHOWN = 20
"""How many of a job's steps an error names."""


@dataclass(frozen=True)
class Told:
    """A sentence about a step, and the seconds from the job's submission to what it tells of."""

    text: str
    at: float | None = None


def explain(
    job: JobRecord, step: str, record: StepRecord | None, events: Sequence[Event]
) -> list[Told]:
    """Return the story of a step; a step that the job does not have is refused."""
    planned = _planned(job, step)
    story = [Told(_head(job, step, planned, record))]
    for event in events:
        if event.step == step or (not event.step and event.event in ("stopped", "resumed")):
            at = event.time - events[0].time
            story += [Told(text, at) for text in _told(job, planned, event)]
    return story


def _planned(job: JobRecord, step: str) -> str:
    """Return the specialist that the plan names for a step."""
    if job.plan is None:
        why = job.error or "its planner has not come to it"
        raise InputError(f"job {job.id} is {job.state} and has no plan: {why}")
    found = {each.id: each.specialist for each in job.plan.steps}
    if step not in found:
        known = ", ".join(list(found)[:SHOWN])
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise InputError(f"no step {step!r} in job {job.id}; it has: {known}{more}")
    return found[step]


def _head(job: JobRecord, step: str, planned: str, record: StepRecord | None) -> str:
    said = f"step {step} of job {job.id} (team {job.team.name}): planned for {planned}"
    if record is None:
        return f"{said}."
    return f"{said}; {_state(record, planned)}."


def _state(record: StepRecord, planned: str) -> str:
    who = record.specialist or planned
    done_by = who if who == planned else f"{who}, a backup"
    match record.state:
        case "succeeded":
            return f"done by {done_by}, on pod {record.pod}, at try {record.attempt}"
        case "waiting":
            return f"it waits to be sent to a queue, for try {record.attempt}"
        case "queued":
            return f"it waits on queue {record.queue} for {done_by}, try {record.attempt}"
        case "running":
            return f"{done_by} does it now, on pod {record.pod}, try {record.attempt}"
        case "undecided":
            return f"try {record.attempt} came back from {done_by} without a result"
    return f"it {_ended(record)}{f': {record.why}' if record.why else ''}"


def _ended(record: StepRecord) -> str:
    return {"escalated": "was handed back"}.get(record.state, f"was {record.state}").replace(
        "was failed", "failed"
    )


def _told(job: JobRecord, planned: str, event: Event) -> Iterator[str]:
    """Yield the sentences about an event; what does not bear on the question has none."""
    data = event.data
    match event.event:
        case "dispatched":
            yield from _sent(job, planned, event)
        case "started":
            waited = f"after {data['waited']:.2f} s on queue {data['queue']}"
            yield f"Pod {data['pod']} started try {data['attempt']}, {waited}."
        case "outcome" if data["kind"] == "result":
            yield f"Try {data['attempt']} gave a result in {data['seconds']:.2f} s."
        case "outcome":
            why = f"{data['kind']}, {data['reason']}: {data['message']}"
            yield f"Try {data['attempt']} came back after {data['seconds']:.2f} s with a {why}."
        case "decided":
            yield f"{_DECIDED.get(data['action'], data['action'])}: {data['why']}."
            if data["action"] == "retry":
                yield f"It was to be tried again after {data['delay']:g} s."
        case "lost":
            yield f"Pod {data['pod']} lost try {data['attempt']}: {data['why']}."
        case "reconciled":
            yield f"The reconciler {_ACTS.get(data['act'], data['act'])}: {data['why']}."
        case "refused":
            yield "An answer came too late to count, for another try had taken its place."
        case "stopped":
            yield f"The job was stopped: {data['why']}."
        case "resumed":
            yield "The job was carried on."


_DECIDED = {
    "retry": "The join decided to try again",
    "failed": "It was given up",
    "escalated": "It was handed back",
    "skipped": "It was skipped",
}
_ACTS = {
    "move": "took it from its queue",
    "republish": "published it again",
    "join": "had it decided",
    "dispatch": "had it sent",
}


def _sent(job: JobRecord, planned: str, event: Event) -> Iterator[str]:
    data = event.data
    who = data["specialist"] if data["specialist"] == planned else f"backup {data['specialist']}"
    yield f"Sent to queue {data['queue']} for {who}: {_reason(job, planned, data['reason'])}."
    for seen in filter(None, data.get("loads", "").split("; ")):
        yield f"Seen: {seen}."


def _reason(job: JobRecord, planned: str, reason: str) -> str:
    limit = f"{job.team.routing.overflow_seconds:g} s"
    if reason == "primary" and job.team.routing.by == "static":
        return "the team routes statically, and that is its own queue"
    told = {
        "primary": "that is its own queue, and nothing spoke for another",
        "overflow": f"{planned} would have let it wait for longer than {limit}, this one for less",
        "no live pod": f"no pod served the queue of {planned}, and this one has some",
        "breaker open": f"{planned} failed again and again, so its breaker was open",
        "probe": f"the breaker of {planned} was open, and this step was to test it",
    }
    return told.get(reason, reason)
