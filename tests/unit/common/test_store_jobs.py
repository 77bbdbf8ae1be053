"""Claims about jobs in the store; `tests/integration/store` runs them on a real Redis, too."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from common import names
from common.errors import UnknownJob
from common.states import JobState
from common.store import Attempt, Decision, Store
from tests.conftest import TTL
from tests.unit.samples import (
    FINAL,
    JOB,
    TRANSIENT,
    assignment,
    begun,
    claim,
    delivered,
    due,
    events,
    job,
    outcome,
    plan,
    report,
    routed,
    running,
    started,
    step,
    team,
)


def state(store: Store) -> JobState:
    return store.jobs.get(JOB).state


def aggregating(store: Store) -> None:
    running(store, "one")
    store.steps.finish(outcome("one"), "one")
    assert store.jobs.conclude(JOB)


def test_a_submitted_job_is_kept_as_it_was_given(store: Store) -> None:
    spec, roster = job(request="Look."), team("security", "logic")

    job_id = store.jobs.submit(JOB, spec, roster)

    kept = store.jobs.get(job_id)
    assert job_id == JOB
    assert (kept.spec, kept.team, kept.state) == (spec, roster, JobState.SUBMITTED)
    assert (kept.plan, kept.report, kept.ended, kept.error) == (None, None, None, "")
    assert events(store) == ["submitted"]


@pytest.mark.parametrize(("wanted", "seconds"), [(None, 1800), (5, 5), (5000, 1800)])
def test_a_deadline_is_the_jobs_own_within_the_teams_limit(
    store: Store, wanted: float | None, seconds: float
) -> None:
    store.jobs.submit(JOB, job(deadline_seconds=wanted), team())

    kept = store.jobs.get(JOB)

    assert kept.deadline - kept.created == pytest.approx(seconds, abs=1e-3)


def test_an_idempotency_key_gives_the_first_job_again(store: Store) -> None:
    keyed = job(idempotency_key="pull-7")

    first = store.jobs.submit("job0000001", keyed, team())
    second = store.jobs.submit("job0000002", keyed, team())
    other = store.jobs.submit("job0000003", job(idempotency_key="pull-8"), team())

    assert (first, second, other) == ("job0000001", "job0000001", "job0000003")
    assert [record.id for record in store.jobs.recent(9)] == ["job0000003", "job0000001"]


def test_without_a_key_every_submission_is_a_job(store: Store) -> None:
    ids = [store.jobs.submit(f"job000000{n}", job(), team()) for n in range(3)]

    assert ids == ["job0000000", "job0000001", "job0000002"]


def test_the_same_id_is_stored_once(store: Store) -> None:
    store.jobs.submit(JOB, job(request="First."), team())
    store.jobs.submit(JOB, job(request="Second."), team())

    assert store.jobs.get(JOB).spec.request == "First."
    assert events(store) == ["submitted"]


def test_a_job_takes_one_plan(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())
    first, second = plan(step("a"), step("b")), plan(step("c"))

    taken = [begun(store, first), begun(store, second)]

    assert taken == [True, False]
    assert store.jobs.get(JOB).plan == first
    assert set(store.steps.records(JOB)) == {"a", "b"}
    assert state(store) is JobState.RUNNING


def test_a_job_is_concluded_when_all_its_steps_have_ended(store: Store) -> None:
    running(store, "a", "b")
    store.steps.finish(outcome("a"), "a")
    early = store.jobs.conclude(JOB)
    store.steps.finish(outcome("b"), "b")

    late = store.jobs.conclude(JOB)

    assert (early, late) == (False, True)
    assert state(store) is JobState.AGGREGATING


def test_an_undecided_step_keeps_its_job_open(store: Store) -> None:
    running(store, "a")
    store.steps.finish(outcome("a", FINAL), "a")
    before = store.jobs.conclude(JOB)
    store.steps.decide(JOB, [Decision("a", 1, "failed", "given up")])

    after = store.jobs.conclude(JOB)

    assert (before, after) == (False, True)


def test_concluding_again_says_the_same_and_is_traced_once(store: Store) -> None:
    aggregating(store)

    again = store.jobs.conclude(JOB)

    assert again
    assert events(store).count("joined") == 1


def test_a_plan_without_steps_can_be_concluded_at_once(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())
    begun(store, plan().model_copy(update={"steps": ()}))

    assert store.jobs.conclude(JOB)


def test_a_job_without_a_plan_cannot_be_concluded(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())

    assert not store.jobs.conclude(JOB)


def test_a_job_is_delivered_once(store: Store) -> None:
    aggregating(store)
    made = report()

    ended = [
        delivered(store, made),
        delivered(store, report(summary="Another."), JobState.CANCELLED),
        store.jobs.fail(JOB, "too late"),
    ]

    kept = store.jobs.get(JOB)
    assert ended == [True, False, False]
    assert (kept.state, kept.report, kept.error) == (JobState.DONE, made, "")
    assert kept.ended is not None
    assert kept.ended >= kept.created
    assert events(store)[-1] == "delivered"
    assert events(store).count("delivered") == 1


def test_a_report_is_refused_before_the_job_is_concluded(store: Store) -> None:
    running(store, "one")

    assert not delivered(store, report())
    assert state(store) is JobState.RUNNING


def test_a_job_that_cannot_go_on_ends_with_its_error(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())

    failed = store.jobs.fail(JOB, "the plan is refused")

    kept = store.jobs.get(JOB)
    assert failed
    assert (kept.state, kept.error) == (JobState.FAILED, "the plan is refused")
    assert events(store)[-1] == "delivered"


def test_a_stopped_job_ends_its_open_steps_and_keeps_what_is_done(
    store: Store, redis_client: redis.Redis
) -> None:
    names_of = ["done", "running", "queued", "waiting", "undecided", "due"]
    started(store, *(step(name) for name in names_of))
    store.steps.dispatch(JOB, routed("done", "running", "queued", "undecided", "due"))
    for name in ("done", "running", "undecided", "due"):
        claim(store, assignment(name), name)
    store.steps.finish(outcome("done"), "done")
    store.steps.finish(outcome("undecided", FINAL), "undecided")
    store.steps.finish(outcome("due", TRANSIENT), "due")
    store.steps.decide(JOB, [Decision("due", 1, "retry", "once more")])

    now = store.jobs.stop(JOB, "cancelled")

    states = {name: record.state for name, record in store.steps.records(JOB).items()}
    assert now is JobState.AGGREGATING
    assert states == {**dict.fromkeys(names_of, "cancelled"), "done": "succeeded"}
    assert store.jobs.get(JOB).stopped == "cancelled"
    assert due(store) == []
    assert redis_client.zcard(names.LEASES) == 0
    assert redis_client.zcard(names.waiting("security")) == 0


def test_the_outcome_of_a_stopped_step_does_not_count(store: Store) -> None:
    running(store, "one")
    store.jobs.stop(JOB, "deadline")

    counted = store.steps.finish(outcome("one"), "one")

    assert not counted
    assert store.steps.outcomes(JOB, {"one": 1}) == {}
    assert events(store)[-1] == "refused"


@pytest.mark.parametrize(
    ("why", "ends"), [("cancelled", JobState.CANCELLED), ("deadline", JobState.FAILED)]
)
def test_a_job_that_is_stopped_before_it_was_planned_ends_at_once(
    store: Store, why: str, ends: JobState
) -> None:
    store.jobs.submit(JOB, job(), team())

    now = store.jobs.stop(JOB, why)  # type: ignore[arg-type]  # One of the two.

    assert now is ends
    assert why in store.jobs.get(JOB).error
    assert not begun(store, plan())
    assert events(store)[-1] == "delivered"


def test_stopping_an_ended_job_changes_nothing(store: Store) -> None:
    aggregating(store)
    delivered(store, report())

    now = store.jobs.stop(JOB, "cancelled")

    assert now is JobState.DONE
    assert store.jobs.get(JOB).stopped == ""
    assert events(store)[-1] == "delivered"


def test_waiting_for_a_job_ends_when_it_is_delivered(store: Store) -> None:
    aggregating(store)

    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(store.jobs.wait, JOB, 30.0)
        delivered(store, report())
        ended = waiting.result(timeout=20)

    assert ended.state is JobState.DONE


def test_waiting_for_an_ended_job_returns_at_once(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())
    store.jobs.fail(JOB, "no")

    assert store.jobs.wait(JOB).state is JobState.FAILED


def test_waiting_ends_with_the_job_as_it_is_when_the_time_is_over(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())

    assert store.jobs.wait(JOB, 0.01).state is JobState.SUBMITTED
    assert store.jobs.wait(JOB, 0).state is JobState.SUBMITTED


def test_the_newest_jobs_come_first_and_as_many_as_are_asked_for(store: Store) -> None:
    for number in range(4):
        store.jobs.submit(f"job000000{number}", job(), team())

    assert [record.id for record in store.jobs.recent(2)] == ["job0000003", "job0000002"]


def test_a_job_that_has_expired_is_no_longer_listed(
    store: Store, redis_client: redis.Redis
) -> None:
    store.jobs.submit("job0000001", job(), team())
    store.jobs.submit("job0000002", job(), team())
    redis_client.delete(names.job("job0000002"))

    assert [record.id for record in store.jobs.recent(9)] == ["job0000001"]


def test_an_ended_job_is_no_longer_live(store: Store, redis_client: redis.Redis) -> None:
    aggregating(store)
    before = redis_client.zrange(names.LIVE, 0, -1)
    delivered(store, report())

    after = redis_client.zrange(names.LIVE, 0, -1)

    assert (before, after) == ([JOB], [])


def test_every_key_of_a_job_has_a_time_to_live_at_every_stage(
    store: Store, redis_client: redis.Redis
) -> None:
    def check(*expected: str) -> None:
        keys = sorted(key for key in redis_client.scan_iter() if JOB in key)
        assert keys == sorted(expected)
        assert all(0 < redis_client.ttl(key) <= TTL for key in keys)

    base = [names.job(JOB), names.trace(JOB)]
    planned = [*base, names.steps(JOB), names.open_steps(JOB)]
    worked = [*planned, names.outcomes(JOB)]

    store.jobs.submit(JOB, job(), team())
    check(*base)
    begun(store, plan(step("a"), step("b")))
    check(*planned)
    store.steps.dispatch(JOB, routed("a", "b"))
    claim(store, assignment("a"), "t")
    store.steps.finish(outcome("a", TRANSIENT), "t")
    store.steps.decide(JOB, [Decision("a", 1, "retry", "once more")])
    store.steps.dispatch(JOB, routed("a"))
    claim(store, assignment("a", 2), "t")
    store.steps.finish(outcome("a", attempt=2), "t")
    check(*worked)
    store.jobs.stop(JOB, "deadline")
    delivered(store, report())
    ended = {*worked, names.ended(JOB)} - {names.open_steps(JOB)}
    check(*ended)


def test_an_idempotency_key_expires_with_its_job(store: Store, redis_client: redis.Redis) -> None:
    store.jobs.submit(JOB, job(idempotency_key="k"), team())

    keys = list(redis_client.scan_iter(f"{names.IDEMPOTENT_KEYS}*"))

    assert [0 < redis_client.ttl(key) <= TTL for key in keys] == [True]


def test_an_unknown_job_is_refused_by_every_read(store: Store) -> None:
    for read in (
        lambda: store.jobs.get("absent00"),
        lambda: store.jobs.wait("absent00"),
        lambda: store.jobs.stop("absent00", "cancelled"),
        lambda: store.trace.read("absent00"),
        lambda: next(store.trace.follow("absent00")),
    ):
        with pytest.raises(UnknownJob, match="no job 'absent00'; `chargehand jobs` lists"):
            read()


def test_no_transition_of_an_unknown_job_leaves_a_trace_of_it(
    store: Store, redis_client: redis.Redis
) -> None:
    refused = [
        begun(store, plan()),
        store.jobs.conclude(JOB),
        delivered(store, report()),
        store.jobs.fail(JOB, "no"),
        store.steps.finish(outcome("one"), "token"),
        store.steps.dispatch(JOB, routed("one")),
        store.steps.decide(JOB, [Decision("one", 1, "failed", "no")]),
        store.trace.add(JOB, "noted", {}),
    ]

    assert not any(refused)
    assert claim(store, assignment("one"), "token") == "unknown"
    assert redis_client.keys() == []


def test_what_happens_to_an_expired_job_is_not_kept_for_ever(
    store: Store, redis_client: redis.Redis
) -> None:
    running(store, "one", "two", seconds=0)
    redis_client.delete(names.job(JOB), names.trace(JOB))

    store.steps.finish(outcome("one"), "one")
    store.steps.lose(Attempt(JOB, "two", 1, "two"), outcome("two", FINAL), 1, blame=True)
    store.jobs.hold(JOB, "plan", "token", "pod", 60)

    keys = [key for key in redis_client.scan_iter() if JOB in key]
    assert names.trace(JOB) not in keys
    assert all(redis_client.ttl(key) > 0 for key in keys)
