from collections.abc import Callable

import pytest

from common.contracts import Assignment, Escalation, Failure, Outcome, Result
from common.errors import InputError, StoreUnavailable
from tests.unit.samples import OUT_OF_SCOPE, assignment
from workers import run
from workers.desk import Desk, OutOfTime, Stopped, ToolError, ToolMissing
from workers.engines import rules
from workers.think import Thinking

Work = Callable[[Desk, rules.Note], Result | Escalation]


def outcome_of(
    monkeypatch: pytest.MonkeyPatch,
    work: Work,
    *,
    fetch: Callable[[Assignment], Assignment] = lambda given: given,
    largest: int = 1_000_000,
) -> tuple[Outcome, run.Events]:
    monkeypatch.setattr(rules, "work", work)
    return run.run(
        assignment("one", 2),
        fetch=fetch,
        pod="host-1",
        stopped=lambda: False,
        left=60.0,
        largest=largest,
        thinking=Thinking(),
    )


def raising(error: BaseException) -> Work:
    def work(_desk: Desk, _note: rules.Note) -> Result:
        raise error

    return work


@pytest.mark.parametrize("body", [Result(text="Done."), OUT_OF_SCOPE])
def test_what_the_engine_returns_is_the_outcome(
    monkeypatch: pytest.MonkeyPatch, body: Result
) -> None:
    outcome, events = outcome_of(monkeypatch, lambda _desk, _note: body)

    assert outcome.body == body
    assert (outcome.job, outcome.step, outcome.attempt) == ("job0000001", "one", 2)
    assert (outcome.specialist, outcome.engine, outcome.pod) == ("security", "rules", "host-1")
    assert events == []


FAILURES = [
    (Stopped("the job was cancelled"), "cancelled", False, "the job was cancelled"),
    (OutOfTime("the time is used up"), "timeout", True, "the time is used up"),
    (ToolMissing("no 'ruff' here"), "tool_missing", False, "no 'ruff' here"),
    (ToolError("it broke"), "exception", False, "it broke"),
    (ToolError("it hiccuped", transient=True), "exception", True, "it hiccuped"),
    (InputError("cannot be read"), "bad_input", False, "cannot be read"),
    (OSError(28, "No space left"), "exception", True, "OSError: [Errno 28] No space left"),
    (MemoryError("much"), "exception", False, "MemoryError: much"),
    (RecursionError("deep"), "exception", False, "RecursionError: deep"),
    (KeyError("absent"), "exception", False, "KeyError: 'absent'"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "exception", False, "UnicodeDecodeError: "),
    # A library that is used as a call and takes itself for a program.
    (SystemExit(2), "exception", False, "SystemExit: 2"),
    # Messages that no contract would take.
    (ToolError(""), "exception", False, "ToolError"),
    (Stopped(" "), "cancelled", False, "Stopped"),
    (InputError("file \udcff.py"), "bad_input", False, "file "),
    (ValueError("x" * 5000), "exception", False, "ValueError: xxx"),
]


@pytest.mark.parametrize(
    ("error", "reason", "transient", "message"), FAILURES, ids=[repr(f[0])[:40] for f in FAILURES]
)
def test_whatever_breaks_becomes_a_failure_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    reason: str,
    transient: bool,
    message: str,
) -> None:
    outcome, _ = outcome_of(monkeypatch, raising(error))

    failure = outcome.body
    assert isinstance(failure, Failure)
    assert (failure.reason, failure.transient) == (reason, transient)
    assert failure.message.startswith(message)
    assert len(failure.message) < 2000
    assert Outcome.model_validate_json(outcome.model_dump_json()) == outcome


def test_a_body_that_cannot_be_fetched_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(_given: Assignment) -> Assignment:
        raise InputError("body sha256:00 is not stored any more")

    outcome, _ = outcome_of(monkeypatch, lambda _d, _n: Result(), fetch=fetch)

    assert outcome.body == Failure(
        reason="bad_input", message="body sha256:00 is not stored any more"
    )


def test_a_store_that_is_away_while_fetching_may_be_back_at_the_next_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fetch(_given: Assignment) -> Assignment:
        raise StoreUnavailable("Redis at h does not answer")

    outcome, _ = outcome_of(monkeypatch, lambda _d, _n: Result(), fetch=fetch)

    assert outcome.body == Failure(
        reason="exception", message="Redis at h does not answer", transient=True
    )


def test_the_engine_works_on_what_was_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def work(desk: Desk, _note: rules.Note) -> Result:
        seen.append(desk.assignment.context)
        return Result()

    outcome_of(
        monkeypatch, work, fetch=lambda given: given.model_copy(update={"context": "fetched"})
    )

    assert seen == ["fetched"]


@pytest.mark.parametrize("text", ["x" * 2000, "é" * 600], ids=["ascii", "two bytes each"])
def test_an_outcome_that_is_too_large_becomes_a_failure_with_both_sizes(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    outcome, _ = outcome_of(monkeypatch, lambda _d, _n: Result(text=text), largest=1000)

    failure = outcome.body
    assert isinstance(failure, Failure)
    assert (failure.reason, failure.transient) == ("bad_input", False)
    assert "1,000 are allowed (CHARGEHAND_RESULT_LIMIT)" in failure.message


def test_what_is_noted_on_the_way_says_when_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(_desk: Desk, note: rules.Note) -> Result:
        note("tool", {"tool": "ruff"})
        raise ToolError("it broke")

    outcome, events = outcome_of(monkeypatch, work)

    assert isinstance(outcome.body, Failure)
    assert [event for event, _ in events] == ["tool"]
    assert '"tool": "ruff"' in events[0][1]
    assert '"pod": "host-1"' in events[0][1]


def test_the_seconds_of_an_attempt_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 10.0, 13.5])
    monkeypatch.setattr(run.time, "monotonic", lambda: next(clock, 13.5))

    outcome, _ = outcome_of(monkeypatch, lambda _d, _n: Result())

    assert outcome.seconds == 3.5
