"""The contracts between submitter, supervisor and workers, in the order of the flow."""

from common.contracts.assignment import Assignment, Upstream
from common.contracts.base import Contract, Engine, Tier
from common.contracts.document import Document, Exclusion, Note, Slice, Span
from common.contracts.finding import Evidence, Finding, Severity, fingerprint
from common.contracts.job import Job
from common.contracts.outcome import Escalation, Failure, Outcome, Result, Usage
from common.contracts.plan import Budget, Plan, Step
from common.contracts.report import Conflict, Gap, MergedFinding, Report, Timings
from common.contracts.team import Specialist, Team

__all__ = [
    "Assignment",
    "Budget",
    "Conflict",
    "Contract",
    "Document",
    "Engine",
    "Escalation",
    "Evidence",
    "Exclusion",
    "Failure",
    "Finding",
    "Gap",
    "Job",
    "MergedFinding",
    "Note",
    "Outcome",
    "Plan",
    "Report",
    "Result",
    "Severity",
    "Slice",
    "Span",
    "Specialist",
    "Step",
    "Team",
    "Tier",
    "Timings",
    "Upstream",
    "Usage",
    "fingerprint",
]
