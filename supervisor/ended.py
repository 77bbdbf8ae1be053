"""Tell those who watch that a job has ended."""

import time

from common import metrics, telemetry
from common.states import JobState
from common.store import JobRecord


def ended(job: JobRecord, state: JobState, *, partial: bool = False) -> None:
    """Count a job that has just ended, and close its trace; a report with gaps is told as partial.

    The length is by this host's clock against Redis's, which is good enough for a graph.
    """
    told = "partial" if partial and state is JobState.DONE else str(state)
    metrics.job(job.team.name, told, time.time() - job.created)
    telemetry.job(job.id, job.created, team=job.team.name, state=told)
