import io
import re
from typing import Any

from rich.console import Console

from chargehand import progress
from common.store import Event

JOB = "0123456789ab"


def event(name: str, step: str = "", **data: Any) -> Event:
    return Event("1000-0", name, step, data)


def result(step: str, findings: int = 0, characters: int = 0) -> Event:
    facts = {"findings": findings, "characters": characters, "seconds": 0.5}
    return event("outcome", step, kind="result", **facts)


def trouble(step: str, message: str = "it broke") -> Event:
    return event("outcome", step, kind="failure", reason="exception", message=message)


def started(step: str) -> Event:
    return event("started", step, pod="host-1", waited=0.25)


WHOLE = [
    event("submitted", team="code_review"),
    event("planned", steps=2, planner="rules"),
    event("dispatched", "security", queue="security", reason="primary"),
    event("dispatched", "style", queue="style", reason="primary"),
    started("security"),
    started("style"),
    trouble("style"),
    event("decided", "style", action="retry", why="exception: it broke; try 2 of 3"),
    result("security", findings=1),
    event("dispatched", "style", queue="style", reason="primary"),
    started("style"),
    result("style", characters=20),
    event("joined"),
    event("delivered", report="complete"),
]


def plain(events: list[Event]) -> str:
    console = Console(file=io.StringIO(), width=80)
    progress.show(JOB, events, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def live(events: list[Event]) -> str:
    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True)
    progress.show(JOB, events, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def frame(shown: str) -> str:
    """What was written after the display was cleared for the last time."""
    return shown.rpartition("\x1b[2K")[2]


def without_commands(shown: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)


def test_elsewhere_each_event_worth_a_line_is_one() -> None:
    assert plain(WHOLE).splitlines() == [
        f"job {JOB}: submitted to code_review",
        f"job {JOB}: planned: 2 steps, by rules",
        "security: started by host-1 after 0.25 s",
        "style: started by host-1 after 0.25 s",
        "style: retry: exception: it broke; try 2 of 3",
        "security: 1 finding in 0.50 s",
        "style: started by host-1 after 0.25 s",
        "style: 20 characters in 0.50 s",
        f"job {JOB}: all steps have ended; aggregating",
        f"job {JOB}: delivered: complete",
    ]


def test_a_terminal_keeps_the_last_state_of_every_queue() -> None:
    last = without_commands(frame(live(WHOLE)))

    assert [line.split() for line in last.splitlines()] == [
        ["job", f"{JOB}:", "delivered:", "complete"],
        ["queue", "waiting", "running", "done", "findings"],
        ["security", "·", "·", "1", "1"],
        ["style", "·", "·", "1", "·", "exception"],
    ]


def test_no_line_is_wider_than_the_terminal_however_long_its_words() -> None:
    steps = [event("dispatched", "a" * 60, queue="q" * 90, reason="primary")]
    ended = [event("delivered", error="word " * 100)]

    shown = without_commands(live([*steps, *ended]))

    assert max(map(len, re.split(r"[\r\n]+", shown))) <= 80


def test_the_display_of_more_queues_than_lines_does_not_scroll() -> None:
    events = [event("dispatched", f"s{n}", queue=f"q{n}", reason="primary") for n in range(50)]

    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True)
    made = progress.Progress(JOB)
    with progress.Live(made.table(), console=console, auto_refresh=False) as display:
        for each in events:
            made.take(each)
        display.update(made.table(), refresh=True)
        assert isinstance(console.file, io.StringIO)
        assert len(frame(console.file.getvalue()).splitlines()) == 24


def test_a_step_that_is_tried_again_counts_once() -> None:
    made = progress.Progress(JOB)

    for each in WHOLE[:10]:
        made.take(each)

    queue = made.queues["style"]
    assert (queue.waiting, queue.running, queue.ended) == ({"style"}, set(), set())


def test_what_steers_a_terminal_is_spelled_out_and_markup_is_text() -> None:
    wicked = "\x1b]0;owned\x07\x1b[2J [/bold] \u202e\x9b31m\nnext"
    events = [
        event("planned", steps=1, planner="rules"),
        event("dispatched", "[/x]", queue="[red]q\x1b[2J", reason="primary"),
        started("[/x]"),
        event("outcome", "[/x]", kind="failure", reason="bad\x1b[2J", message=wicked),
        event("decided", "[/x]", action="failed", why=wicked),
        event("delivered", error=wicked),
    ]

    lines = plain(events)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", lines)
    assert r"[/x]: failed: \x1b]0;owned\x07\x1b[2J [/bold] \u202e\x9b31m next" in lines
    for sequence in ("\x1b]0", "\x07", "\x9b", "\u202e", "\x1b[2J"):
        assert sequence not in live(events)


def test_events_that_nobody_needs_to_read_are_left_out() -> None:
    assert plain([event("tool", "a", tool="ruff"), event("refused", "a"), event("began")]) == ""


def test_an_outcome_whose_dispatch_was_not_seen_is_shown_all_the_same() -> None:
    assert plain([started("late"), result("late")]).count("late: ") == 2
