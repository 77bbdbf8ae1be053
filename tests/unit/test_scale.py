"""A pool grows at once and shrinks slowly, within its bounds, and does not go to and fro."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.scale import Pace, Policy, desired
from common.store import Load

POLICY = Policy(least=0, most=10, target_wait=5.0, cool_down=10.0)
LONG = 60.0


def load(waiting: int = 0, running: int = 0, mean: float | None = 1.0) -> Load:
    return Load("pool", waiting=waiting, running=running, mean=mean)


@pytest.mark.parametrize(
    ("seen", "pods", "spare", "expected", "why"),
    [
        (load(), 0, LONG, 0, "it fits"),
        (load(waiting=1), 0, 0.0, 1, "1 waiting and no pod"),
        (load(waiting=200), 0, 0.0, 4, "200 waiting and no pod"),
        (load(waiting=50, running=10), 1, 0.0, 1, "it fits"),
        (load(waiting=51, running=10), 1, 0.0, 2, "51 waiting for 5.1 s, the target is 5 s"),
        (load(waiting=9999, running=10), 1, 0.0, 10, "9999 waiting for 999.9 s"),
        # Pods that were asked for count, though they do not work yet.
        (load(waiting=100, running=10), 3, 0.0, 3, "it fits"),
        (load(waiting=2, running=10, mean=60.0), 1, 0.0, 2, "2 waiting for 12.0 s"),
        # A step that nobody waits behind is no reason to grow, however long it takes.
        (load(running=10, mean=60.0), 1, LONG, 1, "it fits"),
        (load(running=9), 4, 9.9, 4, "it fits"),
        (load(running=9), 4, 10.0, 3, "9 of 40 slots busy for 10 s"),
        (load(running=9), 2, LONG, 2, "it fits"),
        (load(running=8), 2, LONG, 1, "8 of 20 slots busy for 60 s"),
        (load(), 1, LONG, 0, "idle for 60 s"),
        (load(), 8, LONG, 6, "idle for 60 s"),
        (load(), 12, 0.0, 10, "the bounds are 0 and 10"),
        (load(waiting=20, mean=None), 0, 0.0, 1, "20 waiting and no pod"),
    ],
)
def test_a_pool_has_the_pods_that_its_load_needs(
    seen: Load, pods: int, spare: float, expected: int, why: str
) -> None:
    wish = desired(seen, pods, 10, POLICY, spare)

    assert (wish.pods, wish.why[: len(why)]) == (expected, why)


def test_a_pool_keeps_its_least_number_of_pods() -> None:
    policy = replace(POLICY, least=2)

    assert desired(load(), 1, 10, policy, 0.0).pods == 2
    assert desired(load(), 2, 10, policy, LONG).pods == 2


def test_a_target_of_no_wait_gives_every_step_a_slot() -> None:
    wish = desired(load(waiting=25, running=10), 1, 10, replace(POLICY, target_wait=0.0), 0.0)

    assert wish.pods == 4


counts = st.integers(0, 5_000)
sizes = st.integers(0, 60)
slots = st.integers(1, 50)
times = st.floats(0.001, 600.0)
policies = st.builds(
    lambda least, more, target: Policy(least, least + more, target),
    sizes,
    st.integers(0, 60),
    st.floats(0.0, 120.0),
)
loads = st.builds(load, counts, counts, st.none() | times)


@given(loads, sizes, slots, policies, st.floats(0.0, 100.0))
def test_no_pool_leaves_its_bounds(
    seen: Load, pods: int, each: int, policy: Policy, spare: float
) -> None:
    wish = desired(seen, pods, each, policy, spare)

    assert policy.least <= wish.pods <= policy.most


@given(loads, st.integers(0, 500), sizes, slots, policies, st.floats(0.0, 100.0))
def test_more_that_waits_never_means_fewer_pods(
    seen: Load, more: int, pods: int, each: int, policy: Policy, spare: float
) -> None:
    longer = replace(seen, waiting=seen.waiting + more)

    assert (
        desired(longer, pods, each, policy, spare).pods
        >= desired(seen, pods, each, policy, spare).pods
    )


@given(loads, sizes, slots, policies)
def test_under_a_constant_load_a_pool_changes_in_one_direction_and_settles(
    seen: Load, pods: int, each: int, policy: Policy
) -> None:
    pods = min(max(pods, policy.least), policy.most)
    pace, sizes_seen = Pace(policy, each, 0.0), [pods]

    for second in range(1_000):
        sizes_seen.append(pace.look(seen, sizes_seen[-1], float(second)).pods)

    assert sizes_seen in (sorted(sizes_seen), sorted(sizes_seen, reverse=True))
    assert len(set(sizes_seen[-100:])) == 1


@given(st.floats(0.1, 20.0), st.floats(0.1, 30.0), st.integers(1, 20))
def test_steady_work_settles_at_a_size_that_can_carry_it(
    rate: float, mean: float, each: int
) -> None:
    """A fluid queue: so many steps a second come, and each slot does 1/mean of them."""
    policy = Policy(0, 1000, 5.0, 10.0)
    pace, pods, queue, seen_pods = Pace(policy, each, 0.0), 0, 0.0, [0]
    for second in range(1_000):
        running = min(queue + rate * mean, pods * each)
        queue = max(0.0, queue + rate - running / mean)
        seen = load(waiting=round(queue), running=math.ceil(running), mean=mean)
        pods = pace.look(seen, pods, float(second)).pods
        seen_pods.append(pods)

    assert pods * each >= rate * mean * 0.9
    assert _turns(seen_pods) <= 2


def _turns(seen: list[int]) -> int:
    """Count how often a pool that grew began to shrink, or the other way round."""
    ways = [after > before for before, after in pairwise(seen) if after != before]
    return sum(way != last for last, way in pairwise(ways))


def test_a_pool_with_work_now_and_then_is_not_stopped_in_between() -> None:
    pace = Pace(POLICY, 10, 0.0)

    seen = [pace.look(load(running=second % 8 == 0), 1, float(second)).pods for second in range(60)]

    assert set(seen) == {1}
