"""A simulation gives what queueing theory says, uses the real functions, and repeats itself."""

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chargehand.simulate import Scenario, Summary, run
from common.pulse import LEASE


def simulated(**fields: Any) -> Summary:
    return run(Scenario.model_validate(fields))


def pool(pods: int = 1, slots: int = 1, mean: float = 1.0, **fields: Any) -> dict[str, Any]:
    shape = fields.pop("shape", "constant")
    return {"pods": pods, "slots": slots, "step": {"mean": mean, "shape": shape}, **fields}


def burst(batch: int, every: float | None = None) -> dict[str, Any]:
    return {"pattern": "burst", "batch": batch, "every": every}


def test_a_burst_on_a_fixed_pool_takes_its_rounds() -> None:
    seen = simulated(arrivals=burst(60), pools={"a": pool(2, 5, 0.2)})

    assert (seen.steps, seen.unfinished) == (60, 0)
    assert seen.makespan == pytest.approx(1.2)
    assert (seen.waits.mean, seen.waits.p95) == (pytest.approx(0.5), pytest.approx(1.0))
    assert seen.pools["a"].utilisation == pytest.approx(1.0)
    assert seen.pod_hours == pytest.approx(2 * 1.2 / 3600, abs=0.001)


@pytest.mark.parametrize(("load", "expected"), [(0.5, 1.0), (0.8, 4.0)])
def test_one_server_with_exponential_times_waits_as_theory_says(
    load: float, expected: float
) -> None:
    """M/M/1: the mean wait is load ÷ (1 - load), in steps' times."""
    seen = simulated(
        seconds=60_000,
        arrivals={"rate": load},
        pools={"a": pool(shape="exponential")},
        seed=3,
    )

    assert seen.waits.mean == pytest.approx(expected, rel=0.15)
    assert seen.pools["a"].utilisation == pytest.approx(load, rel=0.05)


@pytest.mark.parametrize("shape", ["constant", "exponential", "lognormal"])
def test_step_times_have_the_mean_that_was_given(shape: str) -> None:
    seen = simulated(arrivals=burst(20_000), pools={"a": pool(2, 10_000, 2.0, shape=shape)})

    busy = seen.pools["a"].utilisation * seen.makespan
    assert busy == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("pattern", ["steady", "wave"])
def test_steps_come_at_the_rate_that_was_given(pattern: str) -> None:
    arrivals = {"pattern": pattern, "rate": 20, "batch": 5, "period": 500}

    seen = simulated(seconds=2_000, arrivals=arrivals, pools={"a": pool(10, 10)})

    assert seen.steps == pytest.approx(40_000, rel=0.05)


def test_a_wave_needs_fewer_pods_at_night() -> None:
    seen = simulated(
        seconds=7_200,
        arrivals={"pattern": "wave", "rate": 5, "period": 7_200},
        pools={"a": pool(1, 2)},
        autoscale={"min": 0, "max": 20},
    )

    part = seen.pools["a"]
    assert part.pods_min <= 1
    assert 1 < part.pods_mean < part.pods_max <= 20


def test_a_backup_takes_what_overflows_and_halves_the_wait() -> None:
    pools = {"a": pool(1, 10, 0.2, backups=["b"]), "b": pool(1, 10, 0.2, share=0)}

    shared = simulated(arrivals=burst(200), pools=pools, routing={"overflow_seconds": 0})
    static = simulated(arrivals=burst(200), pools=pools, routing={"by": "static"})
    ideal = simulated(arrivals=burst(200), pools={"a": pool(2, 10, 0.2)})

    assert (static.overflow, shared.overflow) == (0.0, pytest.approx(0.5, abs=0.05))
    assert shared.waits.p95 <= 1.25 * ideal.waits.p95
    assert static.waits.p95 >= 1.9 * ideal.waits.p95
    assert shared.reasons.keys() == {"primary", "overflow"}


def test_the_real_functions_decide() -> None:
    with (
        patch("chargehand.simulate.run.route", return_value=[]) as routed,
        patch("common.scale.desired") as scaled,
    ):
        scaled.return_value.pods = 1
        seen = simulated(arrivals=burst(5), pools={"a": pool(0)}, autoscale={"max": 3}, seconds=3)

    assert routed.call_count == 1
    assert scaled.called
    assert seen.steps == 0


def test_a_pool_grows_with_a_burst_and_its_pods_take_their_time_to_start() -> None:
    given = {"arrivals": burst(100), "pools": {"a": pool(0, 10)}, "autoscale": {"max": 5}}

    seen = simulated(**given, start_up=30)

    assert seen.unfinished == 0
    assert seen.waits.p50 >= 30
    assert seen.pools["a"].pods_max == 2


def test_steps_of_a_pod_that_died_are_done_by_its_successor() -> None:
    seen = simulated(
        arrivals=burst(10),
        pools={"a": pool(1, 10, 20.0)},
        lost=[{"at": 5, "pool": "a"}],
        start_up=1,
    )

    assert seen.reasons == {"primary": 10, "lost with its pod": 10}
    assert seen.makespan == pytest.approx(5 + LEASE + 20.0)


def test_a_pod_that_died_idle_takes_no_step_any_more() -> None:
    seen = simulated(
        seconds=10,
        arrivals=burst(5, every=10),
        pools={"a": pool(1, 10, 0.1)},
        lost=[{"at": 1, "pool": "a"}],
        start_up=100,
    )

    assert (seen.waits.p50, seen.waits.longest) == (0.0, pytest.approx(91.0))


def test_a_pod_that_is_told_to_leave_before_it_started_never_starts() -> None:
    seen = simulated(
        seconds=200,
        arrivals=burst(100, every=200),
        pools={"a": pool(1, 10)},
        autoscale={"max": 5, "cool_down": 2},
        start_up=60,
    )

    assert (seen.pools["a"].pods_min, seen.unfinished) == (0, 0)
    assert seen.waits.longest >= 60


def test_without_a_pod_steps_wait_to_the_end() -> None:
    seen = simulated(arrivals=burst(7), pools={"a": pool(0)})

    assert (seen.unfinished, seen.makespan) == (7, 0.0)


def test_cost_is_pod_hours_and_steps_by_their_prices() -> None:
    seen = simulated(
        arrivals=burst(100),
        pools={"a": pool(10, 1, 360.0)},
        price={"pod_hour": 0.5, "step": 0.02},
    )

    assert seen.pod_hours == pytest.approx(10.0)
    assert (seen.cost.pods, seen.cost.steps, seen.cost.total) == (5.0, 2.0, 7.0)


def test_the_same_seed_gives_the_same_run_and_another_another() -> None:
    given: dict[str, Any] = {
        "arrivals": {"rate": 30, "batch": 3},
        "pools": {"a": pool(3, 10, shape="lognormal"), "b": pool(3, 10, share=2.0)},
    }

    assert simulated(**given) == simulated(**given)
    assert simulated(**given) != simulated(**given, seed=2)


@settings(max_examples=30)
@given(
    st.integers(1, 300),
    st.integers(1, 4),
    st.integers(1, 8),
    st.booleans(),
    st.lists(st.floats(0, 60), max_size=3),
    st.sampled_from(["constant", "exponential", "lognormal"]),
)
def test_no_step_is_lost_or_done_twice(
    batch: int, pods: int, slots: int, autoscale: bool, lost: list[float], shape: str
) -> None:
    seen = simulated(
        seconds=60,
        arrivals=burst(batch, every=20),
        pools={
            "a": pool(pods, slots, 0.5, shape=shape, backups=["b"]),
            "b": pool(1, slots, 0.5, share=0),
        },
        autoscale={"max": 6, "cool_down": 5} if autoscale else None,
        lost=[{"at": at, "pool": "a"} for at in lost],
    )

    again = seen.reasons.get("lost with its pod", 0)
    assert seen.steps == batch * 4
    assert seen.unfinished == 0
    assert sum(part.steps for part in seen.pools.values()) == seen.steps + again
    assert all(0 <= part.utilisation <= 1.0001 for part in seen.pools.values())
