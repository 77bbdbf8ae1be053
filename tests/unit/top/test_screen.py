"""One screen tells what matters most first, and fits."""

import pytest

from chargehand.top import Rates, rates, screen
from common.states import JobState
from common.store import Breaker, Load, PodFacts
from common.store.snapshot import LiveJob, Queue, Snapshot


def queue(name: str, **fields: float | None) -> Queue:
    return Queue(Load(name, **fields))  # type: ignore[arg-type]


def pods(count: int) -> tuple[tuple[str, PodFacts], ...]:
    return tuple(
        (f"host-{n}", PodFacts(queues=("security",), slots=20, version="1")) for n in range(count)
    )


def jobs(count: int) -> tuple[LiveJob, ...]:
    return tuple(
        LiveJob(f"job{n:08}", "code_review", JobState.RUNNING, 61.0, 5, 12) for n in range(count)
    )


BUSY = Snapshot(
    time=100.0,
    queues=(
        *(queue(f"idle-{n:02}", slots=4, pods=1, mean=0.1, p95=0.2) for n in range(30)),
        queue("late", waiting=60, running=20, slots=20, pods=1, mean=5.0, p95=9.0),
        queue("dead", waiting=3),
        queue("busy", waiting=0, running=3, slots=20, pods=1, mean=0.31, p95=0.9),
    ),
    pods=pods(40),
    breakers=(("sample/logic", Breaker(failures=5, opened=88.0)),),
    jobs=jobs(50),
    live=212,
    calls=7,
)


def lines(now: Snapshot, width: int = 80, height: int | None = 24, note: str = "") -> list[str]:
    return screen(now, {}, width, height, note).plain.split("\n")


@pytest.mark.parametrize("size", [(80, 24), (80, 60), (60, 12), (40, 6), (200, 50), (80, 1)])
def test_a_screen_fits(size: tuple[int, int]) -> None:
    width, height = size

    shown = lines(BUSY, width, height)

    assert len(shown) <= height
    assert max(map(len, shown)) <= width


def test_at_80_by_24_every_section_is_there() -> None:
    shown = lines(BUSY)

    heads = [line.split()[0] for line in shown if line.split()[0].isupper()]
    assert heads == ["BREAKER", "QUEUE", "JOB", "POD"]
    assert len(shown) == 24


def test_a_queue_that_nobody_serves_comes_first_and_idle_ones_last() -> None:
    shown = [line.split() for line in lines(BUSY, height=None)]

    first = next(i for i, words in enumerate(shown) if words[0] == "QUEUE")
    assert [words[0] for words in shown[first + 1 : first + 5]] == [
        "dead",
        "late",
        "busy",
        "idle-00",
    ]
    assert shown[first + 1][1:5] == ["3", "0/0", "·", "never"]
    assert shown[first + 2][1:5] == ["60", "20/20", "1", "15s"]


def test_what_does_not_fit_is_counted() -> None:
    cut = [line for line in lines(BUSY) if line.startswith("…")]

    assert len(cut) == 3
    assert all("more" in line for line in cut)
    assert lines(BUSY, height=None).count("… 162 more with a later deadline") == 1


def test_all_is_told_where_there_is_no_height() -> None:
    told = "\n".join(lines(BUSY, height=None))

    assert told.count("idle-") == 30
    assert told.count("host-") == 40


def test_the_title_counts() -> None:
    title = lines(BUSY, width=120)[0]

    assert title == ("chargehand jobs 212, steps waiting 63, running 23, pods 0, slots 0, calls 7")


def test_an_open_breaker_is_told_with_its_age() -> None:
    assert "sample/logic: open for 12s, 5 failures in a row" in lines(BUSY)


def test_a_job_is_told_with_its_steps_and_age() -> None:
    told = next(line for line in lines(BUSY) if line.startswith("job00000000"))

    assert told.split() == ["job00000000", "code_review", "running", "5/12", "61s"]


def test_why_a_screen_is_old_is_told_below_the_title() -> None:
    shown = lines(BUSY, note="Redis does\nnot answer")

    assert shown[1] == "Redis does not answer"
    assert len(shown) <= 24


def test_a_name_cannot_steer_the_terminal() -> None:
    shown = lines(Snapshot(time=0.0, queues=(queue("a\x1b]0;owned\x07", slots=1),)))

    assert "\x1b" not in "".join(shown)


def test_rates_are_what_came_and_left_between_two_looks() -> None:
    load = Load("security")
    before = Snapshot(time=10.0, queues=(Queue(load, came=100, left=90),))
    now = Snapshot(time=12.0, queues=(Queue(load, came=130, left=95), Queue(Load("new"), came=4)))

    assert rates(before, now) == {"security": Rates(15.0, 2.5)}
    assert rates(None, now) == {}
    assert rates(now, now) == {}


@pytest.mark.parametrize(
    ("age", "said"),
    [(0.314, "0.31s"), (4.25, "4.2s"), (99.4, "99s"), (100, "2m"), (7200, "2h"), (9e5, "10d")],
)
def test_an_age_takes_five_characters(age: float, said: str) -> None:
    shown = lines(Snapshot(time=0.0, queues=(Queue(Load("q", waiting=1), oldest=age),)))

    assert shown[2].split()[-1] == said
