"""The state of the fleet as numbers: finite ones, read at once, and none of them invented."""

import json
import math
from typing import Any

import pytest
import redis

from common.contracts import Failure
from common.errors import StoreUnavailable
from common.glance import Glance
from common.meters import Meters
from common.store import Load, PodFacts, Store
from common.store.breakers import FAILURES_IN_A_ROW
from common.store.overview import Overview
from supervisor.gauges import FAMILIES, FleetGauges, expected_wait, samples
from tests.unit.samples import JOB, assignment, claim, outcome, routed, started, step

BROKE = Failure(reason="exception", message="broke")


def numbers(seen: Overview, **labels: str) -> dict[str, float]:
    return {sample.name: sample.value for sample in samples(seen) if sample.labels == labels}


@pytest.fixture
def loaded(store: Store) -> Store:
    """Three steps on a queue of one pod with two slots, one of them running."""
    started(store, step("a"), step("b"), step("c"))
    store.steps.dispatch(JOB, routed("a", "b", "c"))
    store.fleet.pulse("pod", PodFacts(queues=("security",), slots=2, version="1"), [], 60)
    claim(store, assignment("a"), "token")
    return store


def test_the_load_of_a_queue_is_told(loaded: Store) -> None:
    told = numbers(loaded.overviews.read(), queue="security")

    assert told["chargehand_queue_waiting"] == 2
    assert told["chargehand_queue_running"] == 1
    assert told["chargehand_queue_slots"] == 2
    assert told["chargehand_queue_pods"] == 1
    assert told["chargehand_queue_expected_wait_seconds"] == 1.0
    assert told["chargehand_queue_oldest_seconds"] >= 0
    assert "chargehand_queue_step_seconds_mean" not in told


def test_the_fleet_is_told(loaded: Store) -> None:
    assert numbers(loaded.overviews.read()) == {
        "chargehand_up": 1,
        "chargehand_jobs_live": 1,
        "chargehand_pods": 1,
    }


def test_what_waits_for_a_supervisor_is_told(loaded: Store, redis_client: redis.Redis) -> None:
    redis_client.lpush("supervisor", "a call", "another")

    told = numbers(loaded.overviews.read(), queue="supervisor")

    assert told["chargehand_queue_waiting"] == 2
    assert told["chargehand_queue_pods"] == 0


def test_an_open_breaker_is_told(store: Store) -> None:
    for number in range(FAILURES_IN_A_ROW):
        name = f"s{number}"
        if number == 0:
            started(store, *(step(f"s{n}") for n in range(FAILURES_IN_A_ROW)))
        store.steps.dispatch(JOB, routed(name))
        claim(store, assignment(name), "token")
        store.steps.finish(outcome(name, BROKE), "token")
        told = numbers(store.overviews.read(), team="sample", specialist="security")
        assert told == {"chargehand_breaker_open": float(number == FAILURES_IN_A_ROW - 1)}


def test_an_overview_is_one_round_trip(loaded: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded.overviews.read()
    trips: list[int] = []
    execute = redis.client.Pipeline.execute

    def counted(pipe: Any, *args: Any) -> Any:
        trips.append(len(pipe.command_stack))
        return execute(pipe, *args)

    monkeypatch.setattr(redis.client.Pipeline, "execute", counted)

    loaded.overviews.read()

    assert len(trips) == 1


@pytest.mark.parametrize(
    ("load", "seconds"),
    [
        (Load("q"), 0.0),
        (Load("q", waiting=1), 1.0),
        (Load("q", waiting=10, mean=0.5), 5.0),
        (Load("q", waiting=10, mean=0.5, slots=10), 0.05),
        (Load("q", waiting=10, running=10, mean=0.5, slots=10), 0.55),
        (Load("q", running=3), 1.0),
    ],
)
def test_the_expected_wait_is_a_number_also_without_a_pod(load: Load, seconds: float) -> None:
    assert expected_wait(load) == pytest.approx(seconds)


def test_an_empty_queue_without_a_pod_needs_none() -> None:
    """Otherwise an autoscaler could never leave a pool at no pod."""
    assert math.isinf(Load("q").wait())
    assert expected_wait(Load("q")) == 0.0


def test_every_sample_has_a_family_with_its_labels(loaded: Store) -> None:
    families = {family.name: set(family.labels) for family in FAMILIES}

    for sample in samples(loaded.overviews.read()):
        assert families[sample.name] == set(sample.labels)


def test_an_autoscaler_reads_the_load_of_a_queue(loaded: Store) -> None:
    answer = FleetGauges(loaded).routes()["/load/"]("security")

    assert answer.status == 200
    assert json.loads(answer.body) == {
        "queue": "security",
        "expected_wait_seconds": 1.0,
        "waiting": 2,
        "running": 1,
        "slots": 2,
    }


def test_a_queue_that_nothing_was_sent_to_has_no_load(loaded: Store) -> None:
    answer = FleetGauges(loaded).load("brand-new")

    assert json.loads(answer.body)["expected_wait_seconds"] == 0.0


def test_while_redis_is_away_only_that_is_told(meters: Meters, store: Store) -> None:
    gauges = FleetGauges(store)
    gauges._overview = Glance(_away)

    meters.read_when_asked(gauges.families(), gauges.samples)

    page = meters.page("")[0].decode()
    assert "chargehand_up 0.0" in page
    assert "chargehand_queue_waiting" not in page
    assert "process_resident_memory_bytes" in page
    assert gauges.load("security").status == 503


def _away() -> Overview:
    raise StoreUnavailable("Redis does not answer")
