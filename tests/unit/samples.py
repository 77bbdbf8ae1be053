"""Small values of every contract, to be changed where a test's claim needs it."""

from collections.abc import Iterable
from typing import Any

from common.contracts import (
    Assignment,
    Document,
    Escalation,
    Evidence,
    Failure,
    Finding,
    Job,
    MergedFinding,
    Outcome,
    Plan,
    Report,
    Result,
    Span,
    Step,
    Team,
    Timings,
)
from common.states import JobState
from common.store import Claim, JobRecord, PodFacts, Routed, Store

JOB = "job0000001"
POD = "host-1"
FACTS = PodFacts(queues=("security",), slots=4, version="0.1.0")

TRANSIENT = Failure(reason="timeout", message="the step's 1 s are used up", transient=True)
FINAL = Failure(reason="bad_input", message="cannot be read")
OUT_OF_SCOPE = Escalation(reason="out_of_scope", message="needs a model's judgement")


def job(**changes: Any) -> Job:
    return Job.model_validate({"team": "sample", "request": "Review it."} | changes)


def specialist(**changes: Any) -> dict[str, Any]:
    return {
        "description": "Looks at things.",
        "prompt": "You look at things.",
        "instruction": "Find every problem there is.",
        "criterion": "Each problem has a line.",
    } | changes


def team(*names: str, **changes: Any) -> Team:
    """A team that plans by files, of these specialists."""
    fields: dict[str, Any] = {
        "name": "sample",
        "description": "A sample.",
        "final_instruction": "Write one report.",
        "plan": {"by": "files"},
        "specialists": {name: specialist() for name in names or ("security",)},
    }
    return Team.model_validate(fields | changes)


def document(path: str = "a.py", lines: int = 10, **changes: Any) -> Document:
    fields: dict[str, Any] = {"path": path, "language": "python", "lines": lines, "text": "x = 1\n"}
    return Document.model_validate(fields | changes)


def step(name: str = "one", *needs: str, **changes: Any) -> Step:
    fields: dict[str, Any] = {
        "id": name,
        "specialist": "security",
        "instruction": "Find every problem there is.",
        "criterion": "Each problem has a line.",
        "depends_on": needs,
    }
    return Step.model_validate(fields | changes)


def plan(*steps: Step, **changes: Any) -> Plan:
    fields: dict[str, Any] = {
        "goal": "Review it.",
        "final_instruction": "Write one report.",
        "planner": "rules",
        "steps": steps or (step(),),
    }
    return Plan.model_validate(fields | changes)


def assignment(step_id: str = "one", attempt: int = 1, **changes: Any) -> Assignment:
    fields: dict[str, Any] = {
        "job": JOB,
        "step": step_id,
        "attempt": attempt,
        "team": "sample",
        "specialist": "security",
        "instruction": "Find every problem there is.",
        "criterion": "Each problem has a line.",
    }
    return Assignment.model_validate(fields | changes)


def outcome(
    step_id: str = "one", body: Result | Escalation | Failure | None = None, **changes: Any
) -> Outcome:
    fields: dict[str, Any] = {
        "job": JOB,
        "team": "sample",
        "step": step_id,
        "attempt": 1,
        "specialist": "security",
        "engine": "rules",
        "pod": POD,
        "seconds": 1.0,
        "body": body or Result(),
    }
    return Outcome.model_validate(fields | changes)


def finding(start: int = 1, end: int | None = None, **changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "path": "a.py",
        "span": Span(start=start, end=end or start),
        "severity": "warning",
        "message": "A query is put together from text.",
        "confidence": 80,
        "rule": "bandit:B608",
        "category": "sql-injection",
        "specialist": "security",
        "fingerprint": "0123456789abcdef",
    }
    return Finding.model_validate(fields | changes)


def merged_finding(**changes: Any) -> MergedFinding:
    one = finding()
    fields = one.model_dump() | {"found_by": ("security",), "evidence": (one,)}
    return MergedFinding.model_validate(fields | changes)


def evidence(quote: str = "It rose by 4 %.") -> Evidence:
    return Evidence(path="notes.md", span=Span(start=2, end=3), quote=quote)


def report(**changes: Any) -> Report:
    fields: dict[str, Any] = {
        "job": JOB,
        "team": "sample",
        "state": "complete",
        "engines": ("rules",),
        "summary": "1 step run",
        "timings": Timings(makespan=1.0, work=1.0, critical_path=1.0, speedup=1.0),
    }
    return Report.model_validate(fields | changes)


def job_record(of: Plan | None, **changes: Any) -> JobRecord:
    fields: dict[str, Any] = {
        "id": JOB,
        "spec": job(),
        "team": team(),
        "state": JobState.AGGREGATING,
        "created": 0.0,
        "deadline": 100.0,
        "plan": of,
        "report": None,
        "error": "",
        "stopped": "",
        "ended": None,
    }
    return JobRecord(**fields | changes)


def routed(*steps: str, queue: str = "security") -> list[Routed]:
    return [Routed(step, queue, "security", "primary") for step in steps]


def begun(store: Store, made: Plan) -> bool:
    """Have a submitted job take this plan, as the process that holds its planning does."""
    store.jobs.hold(JOB, "plan", "planner", POD, 60)
    return store.jobs.start(JOB, made, "planner")


def delivered(store: Store, made: Report, state: JobState = JobState.DONE) -> bool:
    """Have a job end with this report, as the process that holds its aggregation does."""
    store.jobs.hold(JOB, "aggregate", "aggregator", POD, 60)
    return store.jobs.deliver(JOB, made, state, "aggregator")


def claim(store: Store, given: Assignment, token: str, seconds: float = 60.0) -> Claim:
    """Claim an attempt for the pod that is named like its token."""
    return store.steps.claim(given, token, f"pod-{token}", seconds).claim


def pulse(store: Store, *members: str, seconds: float = 60.0) -> list[str]:
    """Renew leases; return those that are lost."""
    return store.fleet.pulse(POD, FACTS, members, seconds)


def due(store: Store) -> list[tuple[str, str]]:
    """Return job and step of everything whose time to be tried again has come."""
    seen = store.fleet.watch(POD)
    assert seen is not None
    return list(seen.due)


def started(store: Store, *steps: Step) -> None:
    """Bring a job into the store that runs this plan; no step of it is dispatched."""
    store.jobs.submit(JOB, job(), team())
    assert begun(store, plan(*steps))


def running(store: Store, *names: str, seconds: float = 60.0) -> None:
    """Bring a job into the store of which these steps run, each with its own name as token."""
    started(store, *(step(name) for name in names))
    store.steps.dispatch(JOB, routed(*names))
    for name in names:
        assert claim(store, assignment(name), name, seconds) == "granted"


def events(store: Store) -> list[str]:
    return [event.event for event in store.trace.read(JOB)]


def texts(findings: Iterable[Finding]) -> list[str]:
    return [finding.message for finding in findings]
