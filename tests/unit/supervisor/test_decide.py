import pytest

from common.contracts import Escalation, Failure, Result
from common.states import StepState
from common.store import Decision, StepRecord
from supervisor.decide import about, skips
from supervisor.graph import Graph
from tests.unit.samples import FINAL, OUT_OF_SCOPE, TRANSIENT, outcome, step, team

LATE = Escalation(reason="timeout", message="half of it", partial=Result(text="half"))
BROKEN = Failure(reason="exception", message="disk full", transient=True)

TABLE = [
    # body, attempt, tries, action, delay, why
    (TRANSIENT, 1, 3, "retry", 1.0, "timeout: the step's 1 s are used up; try 2 of 3"),
    (TRANSIENT, 2, 3, "retry", 2.0, "timeout: the step's 1 s are used up; try 3 of 3"),
    (TRANSIENT, 3, 3, "failed", 0.0, "timeout: the step's 1 s are used up; given up after try 3"),
    (TRANSIENT, 1, 1, "failed", 0.0, "timeout: the step's 1 s are used up; given up after try 1"),
    (TRANSIENT, 1, 2, "retry", 1.0, "timeout: the step's 1 s are used up; try 2 of 2"),
    (TRANSIENT, 4, 3, "failed", 0.0, "timeout: the step's 1 s are used up; given up after try 4"),
    (BROKEN, 1, 3, "retry", 1.0, "exception: disk full; try 2 of 3"),
    (FINAL, 1, 3, "failed", 0.0, "bad_input: cannot be read; given up after try 1"),
    (OUT_OF_SCOPE, 1, 3, "escalated", 0.0, "out_of_scope: needs a model's judgement"),
    (LATE, 2, 3, "escalated", 0.0, "timeout: half of it"),
]


@pytest.mark.parametrize(("body", "attempt", "tries", "action", "delay", "why"), TABLE)
def test_what_is_done_about_an_outcome_without_a_result(
    body: Failure | Escalation, attempt: int, tries: int, action: str, delay: float, why: str
) -> None:
    decision = about(outcome("one", body, attempt=attempt), tries)

    assert decision == Decision("one", attempt, action, why, delay)


def test_about_a_result_there_is_nothing_to_decide() -> None:
    with pytest.raises(ValueError, match="'one' has a result"):
        about(outcome("one", Result()), 3)


GRAPH = Graph.of(
    [step("t1"), step("t2"), step("t3", "t1"), step("t4", "t2"), step("t5", "t3", "t4")]
)
WAITING = {name: StepRecord(state=StepState.WAITING, attempt=1) for name in GRAPH.steps}


def skipped(name: str, needs: str, attempt: int = 1) -> Decision:
    why = f"it needs {needs}, which came to nothing"
    return Decision(name, attempt, "skipped", why, state=StepState.WAITING)


def test_all_that_needs_a_lost_step_is_skipped_with_the_reason() -> None:
    assert skips(GRAPH, team(), ["t1"], WAITING) == [skipped("t3", "t1"), skipped("t5", "t3")]


def test_every_lost_need_is_named() -> None:
    assert skips(GRAPH, team(), ["t1", "t4"], WAITING)[-1] == skipped("t5", "t3, t4")


def test_a_skip_is_about_the_attempt_that_waits() -> None:
    records = WAITING | {"t3": StepRecord(state=StepState.WAITING, attempt=4)}

    assert skips(GRAPH, team(), ["t1"], records)[0] == skipped("t3", "t1", attempt=4)


def test_what_is_not_waiting_is_not_skipped() -> None:
    records = WAITING | {"t3": StepRecord(state=StepState.SKIPPED, attempt=1)}

    assert [d.step for d in skips(GRAPH, team(), ["t1"], records)] == ["t5"]


def test_a_team_that_runs_with_gaps_skips_nothing() -> None:
    assert skips(GRAPH, team(when_lost="run"), ["t1"], WAITING) == []


def test_without_a_loss_nothing_is_skipped() -> None:
    assert skips(GRAPH, team(), [], WAITING) == []
