"""Processes announce themselves; loads, breakers and refused messages are kept for all."""

from common.contracts import Failure, Result
from common.store import Load, PodFacts, Store
from common.store.breakers import FAILURES_IN_A_ROW
from tests.unit.samples import outcome, running

FACTS = PodFacts(queues=("security", "style"), slots=4, version="1")


def test_a_pod_is_known_from_its_first_pulse_until_it_leaves(store: Store) -> None:
    store.fleet.pulse("pod-1", FACTS, [], 6.0)
    assert store.fleet.pods() == {"pod-1": FACTS}

    store.fleet.leave("pod-1")

    assert store.fleet.pods() == {}


def test_a_pod_that_went_silent_is_forgotten(store: Store) -> None:
    store.fleet.pulse("pod-1", FACTS, [], -1.0)

    assert store.fleet.watch("reconciler") is not None

    assert store.fleet.pods() == {}


def test_one_process_reconciles_at_a_time(store: Store) -> None:
    assert store.fleet.watch("a") is not None

    assert store.fleet.watch("b") is None
    assert store.fleet.watch("a") is not None


def test_the_load_of_a_queue_counts_pods_slots_and_steps(store: Store) -> None:
    store.fleet.pulse("pod-1", FACTS, [], 6.0)
    store.fleet.pulse("pod-2", FACTS, [], 6.0)

    loads = store.loads.read(["security", "nobody"])

    assert loads == {"security": Load("security", slots=8, pods=2), "nobody": Load("nobody")}
    assert store.loads.read([]) == {}


def test_a_refused_message_is_kept_shortened_and_counted(store: Store) -> None:
    store.fleet.refuse("security", "no such step", {"body": "x" * 10_000})

    (kept,) = store.fleet.refused()
    assert kept["queue"] == "security"
    assert len(kept["message"]) == 4096
    assert store.fleet.counters() == {"refused": 1}


def test_a_specialist_that_fails_in_a_row_opens_its_breaker_and_a_result_closes_it(
    store: Store,
) -> None:
    names = [f"s{n}" for n in range(FAILURES_IN_A_ROW + 1)]
    running(store, *names)
    broken = Failure(reason="exception", message="it is broken")

    for name in names[:-1]:
        assert store.breakers.open("sample", ["security"]) == set()
        store.steps.finish(outcome(name, broken), name)
    opened = store.breakers.open("sample", ["security", "style"])
    probes = [store.breakers.probe("sample", who) for who in ("security", "style")]
    store.steps.finish(outcome(names[-1], Result()), names[-1])

    assert opened == {"security"}
    assert probes == [False, True]
    assert store.breakers.open("sample", ["security"]) == set()


def test_bad_input_is_not_the_specialists_fault(store: Store) -> None:
    names = [f"s{n}" for n in range(FAILURES_IN_A_ROW)]
    running(store, *names)

    for name in names:
        store.steps.finish(outcome(name, Failure(reason="bad_input", message="no text")), name)

    assert store.breakers.all() == {}


def test_the_load_learns_how_long_steps_take(store: Store) -> None:
    running(store, "a", "b")
    assert store.loads.read(["security"])["security"].running == 2

    store.steps.finish(outcome("a").model_copy(update={"seconds": 2.0}), "a")

    load = store.loads.read(["security"])["security"]
    assert (load.running, load.mean, load.p95) == (1, 2.0, 2.0)
