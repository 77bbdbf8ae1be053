"""The deliverable of a job."""

from typing import Literal

from pydantic import Field

from common.contracts.base import Confidence, Contract, Engine, JobId, Name, StepId, Text, Version
from common.contracts.document import Exclusion
from common.contracts.finding import Evidence, Finding, Severity
from common.contracts.outcome import Usage


class MergedFinding(Finding):
    """One problem with everything that was reported about it."""

    found_by: tuple[Name, ...] = Field(min_length=1)
    evidence: tuple[Finding, ...] = Field(min_length=1)


class Conflict(Contract):
    """Reports of the same problem that contradict each other, and how that was settled."""

    fingerprint: str
    severities: tuple[tuple[Name, Severity], ...]
    """What each specialist said, in the order of the specialists' names."""
    settled: Severity
    rule: Text


class Gap(Contract):
    """What the report does not cover."""

    step: StepId
    specialist: Name
    kind: Literal["not_covered", "lost"]
    """`not_covered`: the engine does not do this. `lost`: it should have worked and did not."""
    reason: Text
    message: Text


class Timings(Contract):
    """Where the time went, in seconds."""

    makespan: float
    """From the first step's dispatch until the last outcome."""
    work: float
    """The sum of all step times: what one worker would have needed."""
    critical_path: float
    """The longest chain of dependent steps: what endless workers would have needed."""
    speedup: float


class Report(Contract):
    """One reconciled answer, with its evidence and its gaps."""

    v: Version = 1
    job: JobId
    team: Name
    state: Literal["complete", "partial"]
    engines: tuple[Engine, ...]
    """Which engines did the work: the honest label of the report."""
    planner: Engine = "rules"
    """Which engine planned it."""
    writer: Engine = "rules"
    """Which engine ranked the findings and wrote the summary."""
    summary: Text
    text: str = ""
    findings: tuple[MergedFinding, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    gaps: tuple[Gap, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    below_threshold: int = 0
    """How many findings were left out because of `min_confidence`."""
    confidence: Confidence = 100
    usage: Usage = Usage()
    timings: Timings
