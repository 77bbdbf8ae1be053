"""The states of jobs and steps, and which of them end.

A job:   submitted → running → aggregating → done | cancelled | failed
A step:  waiting → queued → running → succeeded
                                    → undecided → escalated | failed | waiting (tried again)
         waiting → skipped; every state that does not end → cancelled
"""

from enum import StrEnum


class JobState(StrEnum):
    """Where a job stands."""

    SUBMITTED = "submitted"
    RUNNING = "running"
    AGGREGATING = "aggregating"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """Tell whether nothing more will happen."""
        return self in (JobState.DONE, JobState.CANCELLED, JobState.FAILED)


class StepState(StrEnum):
    """Where a step stands."""

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    UNDECIDED = "undecided"
    """It came back without a result; the join decides what to do about it."""
    SUCCEEDED = "succeeded"
    ESCALATED = "escalated"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Tell whether the step has come to its end."""
        return self not in _OPEN


_OPEN = (StepState.WAITING, StepState.QUEUED, StepState.RUNNING, StepState.UNDECIDED)
