"""Where a job's time went."""

from collections.abc import Mapping

from common.contracts import Outcome, Timings
from common.store import StepRecord
from supervisor.graph import Graph


def timings(
    graph: Graph, steps: Mapping[str, StepRecord], outcomes: Mapping[str, Outcome]
) -> Timings:
    """Compare the time that passed with the work that was done and with the longest chain."""
    seconds = {step: outcome.seconds for step, outcome in outcomes.items()}
    queued = [record.queued for record in steps.values() if record.queued is not None]
    ended = [steps[step].ended or 0.0 for step in outcomes]
    makespan = max(0.0, max(ended) - min(queued)) if ended and queued else 0.0
    work = sum(seconds.values())
    return Timings(
        makespan=round(makespan, 3),
        work=round(work, 3),
        critical_path=round(graph.longest_path(seconds), 3),
        speedup=round(work / makespan, 2) if makespan else 1.0,
    )
