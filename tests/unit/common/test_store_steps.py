"""Claims about steps in the store; `tests/integration/store` runs them on a real Redis, too."""

import pytest
import redis

from common import names
from common.contracts import Result
from common.states import StepState
from common.store import Decision, Routed, StepRecord, Store, steps
from tests.unit.samples import (
    FINAL,
    JOB,
    OUT_OF_SCOPE,
    TRANSIENT,
    assignment,
    claim,
    due,
    events,
    outcome,
    pulse,
    routed,
    running,
    started,
    step,
)


def record(store: Store, name: str = "one") -> StepRecord:
    return store.steps.records(JOB)[name]


def open_steps(client: redis.Redis) -> set[str]:
    return set(client.smembers(names.open_steps(JOB)))


def test_waiting_steps_are_dispatched_once(store: Store, redis_client: redis.Redis) -> None:
    started(store, step("a"), step("b"))

    first = store.steps.dispatch(JOB, [*routed("a"), *routed("b", queue="heavy")])
    second = store.steps.dispatch(JOB, routed("a", "b", queue="elsewhere"))

    assert (first, second) == ({"a": 1, "b": 1}, {})
    assert (record(store, "a").queue, record(store, "b").queue) == ("security", "heavy")
    assert record(store, "a").state is StepState.QUEUED
    assert redis_client.zrange(names.waiting("heavy"), 0, -1) == [f"{JOB} b/1"]
    assert events(store).count("dispatched") == 2


def test_only_waiting_steps_of_the_job_are_dispatched(store: Store) -> None:
    running(store, "a", "b")
    store.steps.finish(outcome("b"), "b")

    assert store.steps.dispatch(JOB, routed("a", "b", "absent")) == {}


def test_nothing_is_dispatched_of_a_job_that_does_not_run(store: Store) -> None:
    started(store, step("a"))
    store.jobs.stop(JOB, "cancelled")

    assert store.steps.dispatch(JOB, routed("a")) == {}


def test_more_steps_than_one_call_takes_are_dispatched_and_decided(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "BATCH", 2)
    several = [f"s{number}" for number in range(5)]
    started(store, *(step(name) for name in several))

    taken = store.steps.dispatch(JOB, routed(*several[:3]))
    skipped = store.steps.decide(
        JOB, [Decision(n, 1, "skipped", "needs x", state=StepState.WAITING) for n in several]
    )

    assert taken == dict.fromkeys(several[:3], 1)
    assert skipped == several[3:]


def test_the_reason_for_a_queue_is_traced(store: Store) -> None:
    started(store, step("a"))

    store.steps.dispatch(JOB, [Routed("a", "heavy", "logic", "no live pod", "security: 0 slots")])

    event = store.trace.read(JOB)[-1]
    assert (event.step, event.data) == (
        "a",
        {
            "queue": "heavy",
            "specialist": "logic",
            "reason": "no live pod",
            "loads": "security: 0 slots",
        },
    )


def test_a_queued_step_is_granted_to_the_pod_that_claims_it(
    store: Store, redis_client: redis.Redis
) -> None:
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))

    got = claim(store, assignment("one"), "token")

    now = record(store)
    assert got == "granted"
    assert (now.state, now.token, now.pod) == ("running", "token", "pod-token")
    assert redis_client.zrange(names.LEASES, 0, -1) == [names.lease_member(JOB, "one", 1, "token")]
    assert redis_client.zcard(names.waiting("security")) == 0
    assert events(store)[-1] == "started"


def test_a_claim_whose_answer_was_lost_is_granted_again(store: Store) -> None:
    running(store, "one")

    again = claim(store, assignment("one"), "one")

    assert again == "granted"
    assert (record(store).token, record(store).suspect) == ("one", False)


def test_a_step_that_another_pod_works_on_is_held(store: Store) -> None:
    running(store, "one")

    got = claim(store, assignment("one"), "other")

    assert got == "held"
    assert record(store).token == "one"


def test_a_step_whose_lease_ran_out_is_taken_over(store: Store, redis_client: redis.Redis) -> None:
    running(store, "one", seconds=0)

    got = claim(store, assignment("one"), "other")

    now = record(store)
    # The step may be what took its pod down.
    assert got == "suspect"
    assert (now.token, now.pod, now.suspect) == ("other", "pod-other", True)
    assert redis_client.zrange(names.LEASES, 0, -1) == [names.lease_member(JOB, "one", 1, "other")]


def test_a_pod_that_was_taken_over_stores_nothing(store: Store) -> None:
    running(store, "one", seconds=0)
    claim(store, assignment("one"), "other")

    stale = store.steps.finish(outcome("one", Result(text="late")), "one")
    mine = store.steps.finish(outcome("one", Result(text="mine")), "other")

    assert (stale, mine) == (False, True)
    assert store.steps.outcomes(JOB, {"one": 1})["one"].body == Result(text="mine")
    assert events(store)[-2:] == ["refused", "outcome"]


@pytest.mark.parametrize("body", [Result(), FINAL, OUT_OF_SCOPE])
def test_a_step_with_an_outcome_is_done(store: Store, body: Result) -> None:
    running(store, "one")
    store.steps.finish(outcome("one", body), "one")

    assert claim(store, assignment("one"), "other") == "done"


def test_a_cancelled_step_is_done(store: Store) -> None:
    running(store, "one")
    store.jobs.stop(JOB, "cancelled")

    assert claim(store, assignment("one"), "other") == "done"


def test_another_attempt_than_the_current_one_is_stale(store: Store) -> None:
    running(store, "one")
    store.steps.finish(outcome("one", TRANSIENT), "one")
    store.steps.decide(JOB, [Decision("one", 1, "retry", "once more")])

    waiting = [claim(store, assignment("one", n), "t") for n in (1, 2, 3)]
    store.steps.dispatch(JOB, routed("one"))
    queued = [claim(store, assignment("one", n), "t") for n in (1, 3, 2)]

    assert waiting == ["stale", "stale", "stale"]
    assert queued == ["stale", "stale", "granted"]


def test_a_step_or_job_that_is_not_there_is_unknown(store: Store) -> None:
    running(store, "one")

    assert claim(store, assignment("two"), "t") == "unknown"
    assert claim(store, assignment("one", job="absent00"), "t") == "unknown"


def test_a_step_of_an_expired_job_is_unknown(store: Store, redis_client: redis.Redis) -> None:
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))
    redis_client.delete(names.job(JOB), names.trace(JOB))

    assert claim(store, assignment("one"), "t") == "unknown"
    assert record(store).state is StepState.QUEUED


def test_a_claim_tells_the_seconds_that_the_job_has_left(store: Store) -> None:
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))

    claimed = store.steps.claim(assignment("one"), "t", "pod", 60)

    assert 1700 < claimed.left <= 1800


def test_a_result_ends_its_step(store: Store, redis_client: redis.Redis) -> None:
    running(store, "one", "two")
    done = outcome("one", Result(text="Done."))

    counted = store.steps.finish(done, "one", [("tool", '{"tool":"ruff"}')])

    assert counted
    assert record(store).state is StepState.SUCCEEDED
    assert store.steps.outcomes(JOB, {"one": 1, "two": 1}) == {"one": done}
    assert open_steps(redis_client) == {"two"}
    assert redis_client.zrange(names.LEASES, 0, -1) == [names.lease_member(JOB, "two", 1, "two")]
    assert [(e.event, e.step) for e in store.trace.read(JOB)][-2:] == [
        ("tool", "one"),
        ("outcome", "one"),
    ]


@pytest.mark.parametrize("body", [TRANSIENT, FINAL, OUT_OF_SCOPE])
def test_anything_else_is_undecided_and_keeps_the_job_open(
    store: Store, redis_client: redis.Redis, body: Result
) -> None:
    running(store, "one")

    counted = store.steps.finish(outcome("one", body), "one")

    assert counted
    assert record(store).state is StepState.UNDECIDED
    assert open_steps(redis_client) == {"one"}
    assert redis_client.zcard(names.LEASES) == 0


def test_an_outcome_is_stored_once(store: Store) -> None:
    running(store, "one")

    again = [store.steps.finish(outcome("one", Result(text=t)), "one") for t in ("a", "b")]

    # The answer to the first may have got lost: the second is told that it stands.
    assert again == [True, True]
    assert store.steps.outcomes(JOB, {"one": 1})["one"].body == Result(text="a")
    assert events(store).count("outcome") == 1


@pytest.mark.parametrize(
    ("step_id", "attempt", "token"), [("one", 1, "forged"), ("one", 2, "one"), ("two", 1, "one")]
)
def test_an_outcome_without_the_claim_is_refused_and_traced(
    store: Store, step_id: str, attempt: int, token: str
) -> None:
    running(store, "one")

    counted = store.steps.finish(outcome(step_id, attempt=attempt), token, [("tool", "{}")])

    assert not counted
    assert record(store).state is StepState.RUNNING
    assert store.steps.outcomes(JOB, {step_id: attempt}) == {}
    assert events(store)[-1] == "refused"
    assert "tool" not in events(store)


def test_a_queued_step_that_nobody_claimed_takes_no_outcome(store: Store) -> None:
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))

    assert not store.steps.finish(outcome("one"), "")
    assert record(store).state is StepState.QUEUED


def test_a_step_that_is_tried_again_waits_until_it_is_due(
    store: Store, redis_client: redis.Redis
) -> None:
    running(store, "now", "later")
    for name in ("now", "later"):
        store.steps.finish(outcome(name, TRANSIENT), name)

    carried = store.steps.decide(
        JOB,
        [Decision("now", 1, "retry", "w"), Decision("later", 1, "retry", "w", delay=3600)],
    )

    assert carried == ["now", "later"]
    assert due(store) == [(JOB, "now")]
    assert (record(store, "now").state, record(store, "now").attempt) == ("waiting", 2)
    assert open_steps(redis_client) == {"now", "later"}


def test_a_step_that_was_dispatched_again_is_no_longer_due(store: Store) -> None:
    running(store, "one")
    store.steps.finish(outcome("one", TRANSIENT), "one")
    store.steps.decide(JOB, [Decision("one", 1, "retry", "once more")])

    taken = store.steps.dispatch(JOB, routed("one"))

    assert taken == {"one": 2}
    assert due(store) == []


@pytest.mark.parametrize("action", ["failed", "escalated"])
def test_a_decided_step_has_ended(store: Store, redis_client: redis.Redis, action: str) -> None:
    running(store, "one")
    store.steps.finish(outcome("one", FINAL), "one")

    carried = store.steps.decide(JOB, [Decision("one", 1, action, "why")])  # type: ignore[arg-type]

    assert carried == ["one"]
    assert record(store).state == action
    assert open_steps(redis_client) == set()
    assert store.trace.read(JOB)[-1].data == {
        "attempt": 1,
        "action": action,
        "why": "why",
        "delay": 0.0,
    }


def test_a_decision_is_carried_out_once(store: Store) -> None:
    running(store, "one")
    store.steps.finish(outcome("one", TRANSIENT), "one")
    retry = Decision("one", 1, "retry", "once more")

    carried = [store.steps.decide(JOB, [retry]), store.steps.decide(JOB, [retry])]

    assert carried == [["one"], []]
    assert record(store).attempt == 2


@pytest.mark.parametrize("attempt", [0, 2])
def test_a_decision_about_another_attempt_does_not_hold(store: Store, attempt: int) -> None:
    running(store, "one")
    store.steps.finish(outcome("one", FINAL), "one")

    assert store.steps.decide(JOB, [Decision("one", attempt, "failed", "w")]) == []
    assert record(store).state is StepState.UNDECIDED


def test_only_undecided_steps_are_decided_and_only_waiting_ones_skipped(store: Store) -> None:
    running(store, "undecided", "running", "done")
    store.steps.finish(outcome("undecided", FINAL), "undecided")
    store.steps.finish(outcome("done"), "done")
    everything = ["undecided", "running", "done", "absent"]

    skipped = store.steps.decide(
        JOB, [Decision(n, 1, "skipped", "w", state=StepState.WAITING) for n in everything]
    )
    failed = store.steps.decide(JOB, [Decision(n, 1, "failed", "w") for n in everything])

    assert (skipped, failed) == ([], ["undecided"])


def test_a_waiting_step_can_be_skipped(store: Store, redis_client: redis.Redis) -> None:
    started(store, step("a"), step("b", "a"))

    carried = store.steps.decide(
        JOB, [Decision("b", 1, "skipped", "needs a", state=StepState.WAITING)]
    )

    assert carried == ["b"]
    assert record(store, "b").state is StepState.SKIPPED
    assert open_steps(redis_client) == {"a"}


def test_nothing_is_decided_about_a_stopped_job(store: Store) -> None:
    running(store, "one")
    store.steps.finish(outcome("one", TRANSIENT), "one")
    store.jobs.stop(JOB, "cancelled")

    assert store.steps.decide(JOB, [Decision("one", 1, "retry", "once more")]) == []
    assert due(store) == []


def test_leases_are_renewed_and_those_that_are_gone_are_told(
    store: Store, redis_client: redis.Redis
) -> None:
    running(store, "one", seconds=1)
    held = names.lease_member(JOB, "one", 1, "one")
    before = redis_client.zscore(names.LEASES, held)

    lost = pulse(store, held, f"{JOB} two/1 gone", seconds=500)

    after = redis_client.zscore(names.LEASES, held)
    assert lost == [f"{JOB} two/1 gone"]
    assert after - before > 400
    assert redis_client.zcard(names.LEASES) == 1


def test_a_renewed_step_is_not_taken_over(store: Store) -> None:
    running(store, "one", seconds=0)
    pulse(store, names.lease_member(JOB, "one", 1, "one"))

    assert claim(store, assignment("one"), "other") == "held"


def test_a_pod_whose_job_was_stopped_finds_its_lease_gone(store: Store) -> None:
    running(store, "one")
    held = names.lease_member(JOB, "one", 1, "one")
    store.jobs.stop(JOB, "cancelled")

    assert pulse(store, held) == [held]


def test_records_and_outcomes_are_read_for_the_steps_that_are_asked_for(store: Store) -> None:
    running(store, "a", "b")
    store.steps.finish(outcome("a"), "a")

    assert set(store.steps.records(JOB)) == {"a", "b"}
    assert set(store.steps.records(JOB, ["b", "absent"])) == {"b"}
    assert store.steps.records(JOB, []) == {}
    assert store.steps.outcomes(JOB, {}) == {}
    assert store.steps.outcomes(JOB, {"a": 2, "b": 1}) == {}


def test_times_keep_their_fractions(store: Store) -> None:
    running(store, "one")
    store.steps.finish(outcome("one"), "one")

    now = record(store)

    assert now.queued is not None
    assert now.started is not None
    assert now.ended is not None
    assert now.queued <= now.started <= now.ended
    assert now.ended - now.queued < 60
    assert any(moment % 1 for moment in (now.queued, now.started, now.ended))
