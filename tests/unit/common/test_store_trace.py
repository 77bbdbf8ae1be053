"""Claims about traces; `tests/integration/store` runs them on a real Redis, too."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from common.store import Store, trace
from tests.unit.samples import JOB, delivered, job, outcome, report, running, team


def test_a_trace_tells_what_happened_in_order(store: Store) -> None:
    running(store, "one")
    store.steps.finish(outcome("one"), "one", [("tool", '{"tool":"ruff","seconds":0.5}')])
    store.jobs.conclude(JOB)
    delivered(store, report())

    events = store.trace.read(JOB)

    assert [event.event for event in events] == [
        "submitted",
        "began",
        "planned",
        "dispatched",
        "started",
        "tool",
        "outcome",
        "joined",
        "began",
        "delivered",
    ]
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert events[5].data == {"tool": "ruff", "seconds": 0.5}


def test_an_event_can_be_added(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())

    store.trace.add(JOB, "critique", {"said": "ça va"}, step="one")

    added = store.trace.read(JOB)[-1]
    assert (added.event, added.step, added.data) == ("critique", "one", {"said": "ça va"})


def test_following_ends_with_the_delivery(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())
    store.jobs.fail(JOB, "no")

    followed = [event.event for event in store.trace.follow(JOB)]

    assert followed == ["submitted", "delivered"]


def test_following_sees_events_that_come_after_it_began(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())
    following = store.trace.follow(JOB)
    first = next(following)

    store.trace.add(JOB, "noted", {"number": 1})
    second = next(following)
    store.jobs.fail(JOB, "no")
    rest = list(following)

    assert [first.event, second.event, *(event.event for event in rest)] == [
        "submitted",
        "noted",
        "delivered",
    ]


def test_following_waits_for_what_is_to_come(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())
    following = store.trace.follow(JOB)
    next(following)

    with ThreadPoolExecutor() as pool:
        rest = pool.submit(list, following)
        store.trace.add(JOB, "noted", {})
        store.jobs.fail(JOB, "no")
        seen = rest.result(timeout=20)

    assert [event.event for event in seen] == ["noted", "delivered"]


def test_following_ends_when_the_time_is_over(store: Store) -> None:
    store.jobs.submit(JOB, job(), team())

    followed = [event.event for event in store.trace.follow(JOB, within=0.05)]

    assert followed == ["submitted"]


def test_a_trace_of_several_pages_is_followed_to_its_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace, "PAGE", 2)
    store.jobs.submit(JOB, job(), team())
    for number in range(5):
        store.trace.add(JOB, "noted", {"number": number})
    store.jobs.fail(JOB, "no")

    followed = [event.data.get("number") for event in store.trace.follow(JOB)]

    assert followed == [None, 0, 1, 2, 3, 4, None]
