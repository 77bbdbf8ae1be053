"""Decide what to do about steps that came back without a result. A pure function."""

from collections.abc import Iterable, Mapping

from common.contracts import Escalation, Failure, Outcome, Result
from common.contracts.team import Team
from common.states import StepState
from common.store import Decision, StepRecord
from supervisor.graph import Graph

FIRST_DELAY = 1.0
"""Seconds before the second try; each further try waits twice as long."""


def about(outcome: Outcome, tries: int) -> Decision:
    """Return what to do about one outcome that is no result."""
    body, step, attempt = outcome.body, outcome.step, outcome.attempt
    match body:
        case Failure(transient=True) if attempt < tries:
            delay = FIRST_DELAY * 2 ** (attempt - 1)
            why = f"{body.reason}: {body.message}; try {attempt + 1} of {tries}"
            return Decision(step, attempt, "retry", why, delay)
        case Failure():
            why = f"{body.reason}: {body.message}; given up after try {attempt}"
            return Decision(step, attempt, "failed", why)
        case Escalation():
            return Decision(step, attempt, "escalated", f"{body.reason}: {body.message}")
        case Result():
            raise ValueError(f"step {step!r} has a result; nothing is to be decided")


def skips(
    graph: Graph, team: Team, lost: Iterable[str], records: Mapping[str, StepRecord]
) -> list[Decision]:
    """Return the waiting steps that cannot run because one that they need is lost."""
    if team.when_lost == "run":
        return []
    gone = set(lost)
    below = graph.below(gone)
    return [
        Decision(
            step,
            records[step].attempt,
            "skipped",
            f"it needs {', '.join(_missing(graph, step, gone | below))}, which came to nothing",
            state=StepState.WAITING,
        )
        for step in sorted(below)
        if step in records and records[step].state is StepState.WAITING
    ]


def _missing(graph: Graph, step: str, gone: set[str]) -> list[str]:
    return [needed for needed in graph.steps[step].depends_on if needed in gone]
