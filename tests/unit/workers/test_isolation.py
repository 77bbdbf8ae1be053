"""A suspect is run in a process of its own, and only that process can die of it."""

import pytest

import tests.pods  # noqa: F401 - it registers the tools that these tests name
from common.contracts import Escalation, Failure, Result
from tests.unit.samples import assignment
from workers import isolation
from workers.desk import Stopped, laid_out


def run(name: str) -> Result | Escalation | Failure:
    given = assignment(tools=(name,), budget={"seconds": 20})
    with laid_out(given, lambda: False) as desk:
        return isolation.work(desk, lambda _event, _data: None)


def test_what_the_child_finds_comes_back() -> None:
    assert run("succeed") == Result(text="one()")


def test_a_child_that_dies_is_a_failure_that_says_how() -> None:
    body = run("die")

    assert isinstance(body, Failure)
    assert (body.reason, body.transient) == ("crashed", True)
    assert "exit code 1" in body.message


def test_the_child_stops_with_the_step() -> None:
    given = assignment(tools=("linger",), budget={"seconds": 20})
    asked = iter([False, False, True, True, True])

    with laid_out(given, lambda: next(asked, True)) as desk, pytest.raises(Stopped):
        isolation.work(desk, lambda _event, _data: None)
