"""Claims about phases, lost attempts and processes; `tests/integration/store` runs them, too."""

import pytest
import redis

from common import names
from common.contracts import Failure, Result
from common.states import JobState, StepState
from common.store import Attempt, Lost, Store
from tests.unit.samples import (
    FACTS,
    JOB,
    assignment,
    claim,
    due,
    events,
    job,
    outcome,
    plan,
    pulse,
    report,
    routed,
    running,
    started,
    step,
    team,
)

LOST = Failure(reason="lost", message="its pod was lost while it ran, 3 times")


def submitted(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())


def test_a_phase_is_held_by_one_process_at_a_time(store: Store) -> None:
    submitted(store)

    holds = [store.jobs.hold(JOB, "plan", token, "pod", 60) for token in ("t1", "t2", "t1")]

    assert holds == ["granted", "held", "granted"]
    assert events(store).count("began") == 1


def test_a_phase_whose_lease_ran_out_is_taken_over(store: Store) -> None:
    submitted(store)
    store.jobs.hold(JOB, "plan", "t1", "pod", 0)

    hold = store.jobs.hold(JOB, "plan", "t2", "pod", 60)

    assert hold == "granted"
    assert not store.jobs.start(JOB, plan(), "t1")
    assert store.jobs.start(JOB, plan(), "t2")
    assert "refused" in events(store)


@pytest.mark.parametrize("token", ["", "other"])
def test_a_plan_and_a_report_are_taken_only_from_who_holds_the_phase(
    store: Store, token: str
) -> None:
    submitted(store)
    store.jobs.hold(JOB, "plan", "t1", "pod", 60)
    planned = store.jobs.start(JOB, plan(), token)
    store.jobs.start(JOB, plan().model_copy(update={"steps": ()}), "t1")
    store.jobs.conclude(JOB)
    store.jobs.hold(JOB, "aggregate", "t1", "pod", 60)

    delivered = store.jobs.deliver(JOB, report(), JobState.DONE, token)

    assert (planned, delivered) == (False, False)
    assert events(store).count("refused") == 2
    assert store.jobs.deliver(JOB, report(), JobState.DONE, "t1")


def test_a_phase_that_is_over_or_not_there_yet_is_done(store: Store) -> None:
    started(store, step("one"))

    assert store.jobs.hold(JOB, "plan", "t1", "pod", 60) == "done"
    assert store.jobs.hold(JOB, "aggregate", "t1", "pod", 60) == "done"
    assert store.jobs.hold("absent00", "plan", "t1", "pod", 60) == "done"


def test_a_phase_leaves_no_lease_when_it_ends(store: Store, redis_client: redis.Redis) -> None:
    submitted(store)
    store.jobs.hold(JOB, "plan", "t1", "pod", 60)

    store.jobs.start(JOB, plan(), "t1")

    assert redis_client.zcard(names.LEASES) == 0


def test_an_attempt_whose_lease_expired_is_tried_again_as_a_suspect(store: Store) -> None:
    running(store, "one", seconds=0)

    loss = store.steps.lose(Attempt(JOB, "one", 1, "one"), outcome(body=LOST), 3, blame=True)

    now = store.steps.records(JOB)["one"]
    assert loss == "again"
    assert (now.state, now.attempt, now.suspect, now.spared) == ("waiting", 2, True, 0)
    assert due(store) == [(JOB, "one")]
    assert not store.steps.finish(outcome("one"), "one")


def test_the_last_try_that_is_lost_ends_with_the_given_outcome(store: Store) -> None:
    running(store, "one", seconds=0)

    loss = store.steps.lose(Attempt(JOB, "one", 1, "one"), outcome(body=LOST), 1, blame=True)

    assert loss == "over"
    assert store.steps.records(JOB)["one"].state is StepState.UNDECIDED
    assert store.steps.outcomes(JOB, {"one": 1})["one"].body == LOST


def test_an_attempt_that_its_pod_gave_back_is_no_try(store: Store) -> None:
    running(store, "one")

    loss = store.steps.lose(Attempt(JOB, "one", 1, "one"), outcome(body=LOST), 1, blame=False)

    now = store.steps.records(JOB)["one"]
    assert loss == "again"
    assert (now.attempt, now.suspect, now.spared) == (2, False, 1)


@pytest.mark.parametrize(
    ("attempt", "token"), [(1, "other"), (2, "one"), (1, "one")], ids=["token", "attempt", "alive"]
)
def test_an_attempt_that_is_not_lost_stays_with_its_pod(
    store: Store, attempt: int, token: str
) -> None:
    running(store, "one", seconds=60)

    loss = store.steps.lose(Attempt(JOB, "one", attempt, token), outcome(body=LOST), 3, blame=True)

    assert loss == "stale"
    assert store.steps.finish(outcome("one", Result(text="done")), "one")


def test_a_queued_step_can_be_taken_back_and_its_old_message_is_stale(store: Store) -> None:
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))
    queued = store.steps.records(JOB)["one"].queued
    assert queued is not None

    early = store.steps.withdraw(Attempt(JOB, "one", 1), queued - 1, "move", "why")
    taken = store.steps.withdraw(Attempt(JOB, "one", 1), queued + 1, "move", "why")
    again = store.steps.withdraw(Attempt(JOB, "one", 1), queued + 1, "move", "why")

    assert (early, taken, again) == (False, True, False)
    assert events(store)[-1] == "reconciled"
    assert due(store) == [(JOB, "one")]
    assert store.steps.dispatch(JOB, routed("one")) == {"one": 2}
    assert claim(store, assignment("one", 1), "t") == "stale"
    assert claim(store, assignment("one", 2), "t") == "granted"


def test_a_running_step_cannot_be_taken_back_from_its_queue(store: Store) -> None:
    running(store, "one")

    assert not store.steps.withdraw(Attempt(JOB, "one", 1), 1e12, "move", "why")


def test_a_process_is_known_while_its_pulse_is_felt(store: Store) -> None:
    pulse(store, seconds=60)
    store.fleet.pulse("silent", FACTS, [], 0)
    before = store.fleet.pods()

    store.fleet.watch("reconciler")

    assert set(before) == {"host-1", "silent"}
    assert store.fleet.pods() == {"host-1": FACTS}


def test_a_process_that_leaves_is_forgotten(store: Store) -> None:
    pulse(store)

    store.fleet.leave("host-1")

    assert store.fleet.pods() == {}


def test_one_process_reconciles_at_a_time(store: Store) -> None:
    submitted(store)

    seen = [store.fleet.watch(pod) is not None for pod in ("one", "two", "one")]

    assert seen == [True, False, True]


def test_the_reconciler_is_told_of_expired_leases_and_jobs_past_their_deadline(
    store: Store, redis_client: redis.Redis
) -> None:
    running(store, "one", seconds=0)
    store.jobs.submit("job0000002", job(deadline_seconds=0.000001), team())
    store.jobs.hold("job0000002", "plan", "t", "pod", 0)

    seen = store.fleet.watch("pod")

    assert seen is not None
    assert set(seen.lost) == {Attempt(JOB, "one", 1, "one"), Lost("job0000002", "plan")}
    assert seen.overdue == ("job0000002",)
    assert seen.jobs == ()


def test_refused_messages_are_kept_for_inspection_and_counted(store: Store) -> None:
    store.fleet.refuse("security", "v: Input should be 1", {"v": 2, "odd": {1, 2}})
    store.fleet.refuse("", "not an assignment", "x" * 9000)

    newest, oldest = store.fleet.refused()

    assert (oldest["queue"], oldest["why"]) == ("security", "v: Input should be 1")
    assert len(newest["message"]) <= 4096
    assert store.fleet.counters() == {"refused": 2}
