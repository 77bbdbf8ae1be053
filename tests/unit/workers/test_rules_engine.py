import time
from contextlib import ExitStack

import pytest

from common.contracts import Escalation, Result
from tests.unit.samples import assignment, evidence, finding
from tests.unit.workers.conftest import Lend
from workers.desk import Desk, OutOfTime, Stopped, ToolMissing, laid_out
from workers.engines import rules

NOTHING_NOTED: rules.Note = lambda _event, _data: None  # noqa: E731


def work(*tools: str, note: rules.Note = NOTHING_NOTED) -> Result | Escalation:
    with laid_out(assignment(tools=tools), lambda: False) as desk:
        return rules.work(desk, note)


def test_what_the_tools_found_is_put_together(lend: Lend) -> None:
    first, second = finding(1), finding(2)
    lend(
        ruff=Result(findings=(first,), text="One.", evidence=(evidence(),), confidence=70),
        bandit=Result(findings=(second,), evidence=(evidence(),), confidence=90),
        quiet=Result(text="Two."),
    )

    joined = work("ruff", "bandit", "quiet")

    assert joined == Result(
        findings=(first, second), text="One.\n\nTwo.", evidence=(evidence(),), confidence=70
    )


def test_a_specialist_without_an_analyser_escalates_with_what_its_aids_gathered(
    lend: Lend,
) -> None:
    lend(analyser=False, excerpt=Result(text="Lines 1 to 9."))

    answer = work("excerpt")

    assert isinstance(answer, Escalation)
    assert answer.reason == "out_of_scope"
    assert answer.message == "security needs a model's judgement, which rules cannot give"


def test_a_specialist_without_any_tool_escalates_with_nothing(lend: Lend) -> None:
    answer = work()

    assert isinstance(answer, Escalation)
    assert (answer.reason, answer.partial) == ("out_of_scope", None)


def test_one_analyser_makes_an_answer(lend: Lend) -> None:
    lend(analyser=False, excerpt=Result(text="Lines 1 to 9."))
    lend(ruff=Result())

    assert isinstance(work("excerpt", "ruff"), Result)


def test_a_tool_that_this_pod_lacks_is_missing_before_any_other_runs(lend: Lend) -> None:
    ran: list[str] = []

    def ruff(_desk: Desk) -> Result:
        ran.append("ruff")
        return Result()

    lend(ruff=ruff)

    with pytest.raises(ToolMissing) as missing:
        work("ruff", "bandti")

    assert str(missing.value) == "no tool 'bandti' on this pod; it has: ruff"
    assert ran == []


def test_only_the_specialists_own_tools_run(lend: Lend) -> None:
    def forbidden(_desk: Desk) -> Result:
        raise AssertionError("it is not this specialist's tool")

    lend(ruff=Result(), bandit=forbidden)

    assert work("ruff") == Result()


def test_every_tool_is_noted_with_its_time_and_findings(lend: Lend) -> None:
    noted: list[tuple[str, dict[str, object]]] = []
    lend(ruff=Result(findings=(finding(),)), bandit=Result())

    work("ruff", "bandit", note=lambda event, data: noted.append((event, data)))

    assert [(event, data["tool"], data["findings"]) for event, data in noted] == [
        ("tool", "ruff", 1),
        ("tool", "bandit", 0),
    ]
    assert all(isinstance(data["seconds"], float) for _, data in noted)


@pytest.mark.parametrize(
    ("ends", "stopped", "error"), [(-1.0, False, OutOfTime), (60.0, True, Stopped)]
)
def test_no_tool_is_begun_when_the_time_is_up_or_the_job_is_stopped(
    lend: Lend, ends: float, stopped: bool, error: type[Exception]
) -> None:
    def late(_desk: Desk) -> Result:
        raise AssertionError("it ran")

    lend(ruff=late)

    desk = Desk(
        assignment=assignment(tools=["ruff"]),
        ends=time.monotonic() + ends,
        stopped=lambda: stopped,
        clearing=ExitStack(),
    )

    with pytest.raises(error):
        rules.work(desk, NOTHING_NOTED)
