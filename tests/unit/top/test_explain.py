"""Why a step went where it did is told in sentences, from the trace."""

from collections.abc import Sequence
from typing import Any

import pytest

from chargehand.explain import explain
from common.contracts.team import Routing
from common.errors import InputError
from common.states import StepState
from common.store import Event, Routed, StepRecord, Store
from tests.unit.samples import (
    JOB,
    TRANSIENT,
    assignment,
    claim,
    job_record,
    outcome,
    plan,
    started,
    step,
    team,
)

RECORD = job_record(plan(step("one"), step("two")))


def told(
    events: Sequence[tuple[str, dict[str, Any]]], record: StepRecord | None = None, **changes: Any
) -> list[str]:
    made = [
        Event(f"{1_000 * n}-0", event, "one", data) for n, (event, data) in enumerate(events, 1)
    ]
    job = job_record(plan(step("one"), step("two")), **changes)
    return [each.text for each in explain(job, "one", record, made)]


def dispatched(specialist: str, reason: str, loads: str = "") -> tuple[str, dict[str, Any]]:
    data = {"queue": specialist, "specialist": specialist, "reason": reason, "loads": loads}
    return "dispatched", data


@pytest.mark.parametrize(
    ("reason", "specialist", "sentence"),
    [
        ("primary", "security", "for security: that is its own queue"),
        (
            "overflow",
            "style",
            "for backup style: security would have let it wait for longer than 5",
        ),
        ("no live pod", "style", "for backup style: no pod served the queue of security"),
        ("breaker open", "style", "for backup style: security failed again and again"),
        ("probe", "security", "for security: the breaker of security was open"),
        ("a new reason", "security", "for security: a new reason."),
    ],
)
def test_every_reason_is_a_sentence(reason: str, specialist: str, sentence: str) -> None:
    [_, said] = told([dispatched(specialist, reason)])

    assert said.startswith(f"Sent to queue {specialist} {sentence}")


def test_static_routing_is_named() -> None:
    static = team().model_copy(update={"routing": Routing(by="static")})

    [_, said] = told([dispatched("security", "primary")], team=static)

    assert "the team routes statically" in said


def test_the_loads_that_were_seen_follow_one_by_one() -> None:
    said = told([dispatched("style", "overflow", "security: 9 waiting; style: 0 waiting")])

    assert said[2:] == ["Seen: security: 9 waiting.", "Seen: style: 0 waiting."]


def test_moves_and_losses_are_told() -> None:
    said = told(
        [
            ("reconciled", {"act": "move", "why": "security: no live pod"}),
            ("lost", {"attempt": 1, "why": "its lease expired", "pod": "host-1"}),
            ("refused", {}),
            ("tool", {"tool": "bandit"}),
        ]
    )

    assert said[1:] == [
        "The reconciler took it from its queue: security: no live pod.",
        "Pod host-1 lost try 1: its lease expired.",
        "An answer came too late to count, for another try had taken its place.",
    ]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            StepRecord(state=StepState.SUCCEEDED, attempt=2, specialist="style", pod="host-1"),
            "planned for security; done by style, a backup, on pod host-1, at try 2.",
        ),
        (
            StepRecord(state=StepState.QUEUED, attempt=1, specialist="security", queue="security"),
            "planned for security; it waits on queue security for security, try 1.",
        ),
        (
            StepRecord(state=StepState.FAILED, attempt=3, why="timeout"),
            "planned for security; it failed: timeout.",
        ),
        (
            StepRecord(state=StepState.CANCELLED, attempt=1, why="no pod serves its queue 'x'"),
            "planned for security; it was cancelled: no pod serves its queue 'x'.",
        ),
    ],
)
def test_the_head_says_who_did_it_or_where_it_stands(record: StepRecord, said: str) -> None:
    assert told([], record)[0].endswith(said)


def test_a_step_that_was_tried_again_is_told_from_a_real_trace(store: Store) -> None:
    started(store, step("one"))
    store.steps.dispatch(JOB, [Routed("one", "security", "security", "primary", "seen it")])
    claim(store, assignment("one"), "a")
    store.steps.finish(outcome("one", TRANSIENT), "a")

    story = explain(
        job_record(plan(step("one"))),
        "one",
        store.steps.records(JOB)["one"],
        store.trace.read(JOB),
    )

    said = " ".join(each.text for each in story)
    assert "try 1 came back from security without a result." in said
    assert "Pod pod-a started try 1, after 0.0" in said
    assert "Try 1 came back after 1.00 s with a failure, timeout: the step's 1 s" in said
    assert [each.at is None for each in story] == [True] + [False] * (len(story) - 1)


def test_an_unknown_step_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=f"no step 'tow' in job {JOB}; it has: one, two$"):
        explain(RECORD, "tow", None, [])


def test_of_many_steps_an_error_names_some() -> None:
    many = job_record(plan(*(step(f"s{n}") for n in range(50))))

    with pytest.raises(InputError, match=r"s19 and 30 more$"):
        explain(many, "x", None, [])


def test_a_job_without_a_plan_says_so() -> None:
    with pytest.raises(InputError, match="has no plan: the plan is refused"):
        explain(job_record(None, error="the plan is refused"), "one", None, [])
