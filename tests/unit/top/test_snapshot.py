"""A snapshot tells all that goes on, in three round trips."""

from unittest.mock import patch

import pytest
import redis

from common.store import PodFacts, Store
from common.store.connection import Connection
from common.store.snapshot import MOST_JOBS, Snapshots
from tests.unit.samples import JOB, job, outcome, routed, running, started, step, team


@pytest.fixture
def snapshots(redis_client: redis.Redis) -> Snapshots:
    return Snapshots(Connection(redis_client, "redis://tests", 0.0))


def test_nothing_is_a_snapshot_too(snapshots: Snapshots) -> None:
    seen = snapshots.read()

    assert (seen.queues, seen.jobs, seen.pods, seen.live) == ((), (), (), 0)
    assert seen.time > 0


def test_a_queue_is_told_with_its_load_its_flow_and_its_oldest_step(
    store: Store, snapshots: Snapshots
) -> None:
    running(store, "one", "two")
    store.steps.finish(outcome("one"), "one")
    started_later = store.steps.dispatch(JOB, routed("two"))
    assert started_later == {}

    [queue] = snapshots.read().queues

    assert (queue.load.queue, queue.load.waiting, queue.load.running) == ("security", 0, 1)
    assert (queue.came, queue.left, queue.oldest) == (2, 1, None)


def test_the_oldest_step_has_waited_since_it_was_dispatched(
    store: Store, snapshots: Snapshots
) -> None:
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))

    [queue] = snapshots.read().queues

    assert queue.oldest is not None
    assert 0 <= queue.oldest < 5


def test_a_job_in_flight_is_told_with_its_team_and_its_steps(
    store: Store, snapshots: Snapshots
) -> None:
    running(store, "one", "two", "three")
    store.steps.finish(outcome("one"), "one")

    [live] = snapshots.read().jobs

    assert (live.id, live.team, live.state) == (JOB, "sample", "running")
    assert (live.done, live.steps) == (1, 3)


def test_a_queue_that_a_pod_serves_is_told_before_it_had_a_step(
    store: Store, snapshots: Snapshots
) -> None:
    store.fleet.pulse("pod", PodFacts(queues=("style",), slots=4, version="1"), [], 60)
    store.fleet.pulse("boss", PodFacts(queues=("supervisor",), slots=4, version="1"), [], 60)

    seen = snapshots.read()

    assert [(q.load.queue, q.load.slots) for q in seen.queues] == [("style", 4)]
    assert [pod for pod, _ in seen.pods] == ["boss", "pod"]


def test_many_jobs_cost_three_round_trips_and_are_counted(
    store: Store, snapshots: Snapshots, redis_client: redis.Redis
) -> None:
    for number in range(MOST_JOBS + 10):
        store.jobs.submit(f"job{number:08}", job(), team())

    with patch.object(redis_client, "pipeline", wraps=redis_client.pipeline) as asked:
        seen = snapshots.read()

    assert (len(seen.jobs), seen.live) == (MOST_JOBS, MOST_JOBS + 10)
    assert asked.call_count <= 3


def test_a_job_that_expired_a_moment_ago_is_left_out(
    store: Store, snapshots: Snapshots, redis_client: redis.Redis
) -> None:
    started(store, step("one"))
    redis_client.delete(f"chargehand:job:{JOB}")

    assert snapshots.read().jobs == ()
