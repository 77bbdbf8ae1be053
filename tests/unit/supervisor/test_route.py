"""Where a step goes is a pure function of the steps and the loads."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from common.contracts import Step, Team
from common.store import Load, Routed
from supervisor.route import Refused, route
from tests.unit import samples


def team(**routing: object) -> Team:
    """A team of three: `main` with two backups on queues of their own."""
    fields = samples.specialist()
    return samples.team(
        specialists={
            "main": fields | {"backups": ["spare", "last"]},
            "spare": fields,
            "last": fields,
        },
        routing=routing,
    )


def steps(count: int) -> list[Step]:
    return [samples.step(f"s{n}", specialist="main") for n in range(count)]


def queues(choices: list[Routed | Refused]) -> Counter[str]:
    return Counter(choice.queue for choice in choices if isinstance(choice, Routed))


def reasons(choices: list[Routed | Refused]) -> set[str]:
    return {choice.reason for choice in choices if isinstance(choice, Routed)}


def test_a_step_goes_to_its_own_specialist_while_the_wait_is_short() -> None:
    loads = {q: Load(q, slots=10, mean=1.0) for q in ("main", "spare", "last")}

    choices = route(steps(10), team(overflow_seconds=5), loads)

    assert queues(choices) == {"main": 10}
    assert reasons(choices) == {"primary"}


def test_a_burst_is_shared_out_evenly() -> None:
    loads = {q: Load(q, slots=10, mean=0.2) for q in ("main", "spare", "last")}

    choices = route(steps(300), team(overflow_seconds=0), loads)

    assert reasons(choices) == {"primary", "overflow"}
    assert all(90 <= number <= 125 for number in queues(choices).values())


def test_a_backup_that_is_worse_off_is_left_alone() -> None:
    loads = {
        "main": Load("main", waiting=50, slots=10, mean=1.0),
        "spare": Load("spare", waiting=90, slots=10, mean=1.0),
        "last": Load("last", waiting=10, slots=1, mean=1.0),
    }

    assert queues(route(steps(1), team(overflow_seconds=1), loads)) == {"main": 1}


def test_a_queue_on_which_nothing_has_ended_is_taken_to_be_like_the_others() -> None:
    loads = {
        "main": Load("main", slots=10, mean=0.2),
        "spare": Load("spare", slots=10),
        "last": Load("last"),
    }

    choices = route(steps(200), team(overflow_seconds=0), loads)

    assert 90 <= queues(choices)["spare"] <= 110


def test_without_a_live_pod_a_backup_that_has_one_is_taken() -> None:
    loads = {"main": Load("main"), "spare": Load("spare"), "last": Load("last", slots=1, mean=9.0)}

    (choice,) = route(steps(1), team(), loads)

    assert isinstance(choice, Routed)
    assert (choice.queue, choice.specialist, choice.reason) == ("last", "last", "no live pod")
    assert "main: 0 waiting, 0 running, 0 slots" in choice.loads


def test_without_a_live_pod_anywhere_a_step_waits_for_its_own() -> None:
    assert queues(route(steps(1), team(), {})) == {"main": 1}


def test_static_routing_looks_at_no_load() -> None:
    loads = {"main": Load("main", waiting=10**6, slots=1), "spare": Load("spare", slots=100)}

    assert queues(route(steps(5), team(by="static"), loads)) == {"main": 5}


def test_an_open_breaker_sends_steps_to_a_backup_that_works() -> None:
    loads = {q: Load(q, slots=1) for q in ("main", "spare", "last")}

    choices = route(steps(2), team(), loads, broken={"main", "spare"})

    assert queues(choices) == {"last": 2}
    assert reasons(choices) == {"breaker open"}


def test_an_open_breaker_without_a_backup_refuses_at_once() -> None:
    (choice,) = route(steps(1), team(), {}, broken={"main", "spare", "last"})

    assert choice == Refused("s0", "breaker open: main failed again and again lately")


def test_one_step_tests_whether_a_specialist_works_again() -> None:
    given_out = iter([True, False, False])

    choices = route(steps(3), team(), {}, broken={"main"}, probe=lambda _: next(given_out))

    assert [c.reason for c in choices if isinstance(c, Routed)] == [
        "probe",
        "breaker open",
        "breaker open",
    ]


@given(
    slots=st.lists(st.integers(0, 20), min_size=3, max_size=3),
    waiting=st.lists(st.integers(0, 200), min_size=3, max_size=3),
    count=st.integers(1, 50),
    limit=st.floats(0, 10),
)
def test_every_step_goes_somewhere_and_never_to_a_longer_wait(
    slots: list[int], waiting: list[int], count: int, limit: float
) -> None:
    names = ("main", "spare", "last")
    loads = {
        n: Load(n, waiting=w, slots=s, mean=1.0)
        for n, w, s in zip(names, waiting, slots, strict=True)
    }

    choices = route(steps(count), team(overflow_seconds=limit), loads)

    assert sum(queues(choices).values()) == count
    first = choices[0]
    assert isinstance(first, Routed)
    if first.reason == "overflow":
        assert loads[first.queue].wait() < loads["main"].wait()


def test_a_wait_counts_what_is_ahead_and_what_is_free() -> None:
    load = Load("q", waiting=3, running=8, slots=10, mean=2.0)

    assert load.wait() == (3 - 2 + 1) * 2.0 / 10
    assert Load("q", running=5, slots=10, mean=2.0).wait(4) == 0.0
    assert Load("q").wait() == float("inf")
