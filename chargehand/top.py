"""What goes on in the fleet, as one screen of text: queues, breakers, jobs and pods."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from chargehand.formats import safe
from common.store import Breaker
from common.store.snapshot import LiveJob, Queue, Snapshot

NONE = "·"
LATE = 5.0
"""Seconds of wait from which on a queue is shown as late."""


@dataclass(frozen=True)
class Rates:
    """How many steps came to a queue and left it, a second."""

    came: float
    left: float


def rates(before: Snapshot | None, now: Snapshot) -> dict[str, Rates]:
    """Return the rates of each queue between two snapshots; none without an earlier one."""
    if before is None or now.time <= before.time:
        return {}
    seconds, earlier = now.time - before.time, {q.load.queue: q for q in before.queues}
    return {
        q.load.queue: Rates((q.came - old.came) / seconds, (q.left - old.left) / seconds)
        for q in now.queues
        if (old := earlier.get(q.load.queue))
    }


@dataclass(frozen=True)
class Section:
    """A heading and its lines; where space is short it keeps so many of them."""

    heading: Text
    lines: Sequence[Text]
    keeps: int

    def cut(self, rows: int) -> list[Text]:
        """Return the section in so many rows, the heading among them."""
        if rows < 2:
            return []
        if len(self.lines) < rows:
            return [self.heading, *self.lines]
        shown = rows - 2
        return [
            self.heading,
            *self.lines[:shown],
            Text(f"… {len(self.lines) - shown} more", "dim"),
        ]


def screen(
    now: Snapshot,
    seen: dict[str, Rates],
    width: int,
    height: int | None = None,
    note: str = "",
) -> Text:
    """Return all that is to be seen, on a screen of this size; no height means all of it."""
    sections = [section for section in _sections(now, seen, width) if section.lines]
    rows = _allot(sections, None if height is None else height - 1 - bool(note))
    parts = [_title(now, width)]
    if note:
        parts.append(Text(safe.line(note), "bold red"))
    for section, given in zip(sections, rows, strict=True):
        parts += section.cut(given)
    for part in parts:
        part.truncate(width, overflow="ellipsis")
    return Text("\n").join(parts if height is None else parts[:height])


def _allot(sections: Sequence[Section], height: int | None) -> list[int]:
    """Share out rows: each section gets what it keeps, then the first ones what they want."""
    wanted = [1 + len(section.lines) for section in sections]
    if height is None:
        return wanted
    given = [min(want, 1 + section.keeps) for want, section in zip(wanted, sections, strict=True)]
    while sum(given) > height and any(given):
        given[max(i for i, rows in enumerate(given) if rows)] = 0
    for i, want in enumerate(wanted):
        if given[i]:
            given[i] += min(want - given[i], height - sum(given))
    return given


def _sections(now: Snapshot, seen: dict[str, Rates], width: int) -> Iterable[Section]:
    tripped = [_breaker(name, breaker, now.time) for name, breaker in now.breakers]
    yield Section(_head("BREAKER", "", width), tripped, keeps=2)
    queues = sorted(now.queues, key=_urgency)
    yield Section(
        _queue_heading(width),
        [_queue_line(queue, seen.get(queue.load.queue), width) for queue in queues],
        keeps=5,
    )
    jobs = [_job_line(job, width) for job in now.jobs]
    unseen = now.live - len(now.jobs)
    if unseen > 0:
        jobs.append(Text(f"… {unseen} more with a later deadline", "dim"))
    yield Section(_head("JOB", f"{'STATE':<12} {'STEPS':>13} {'AGE':>7}", width), jobs, keeps=4)
    pods = [
        Text(f"{safe.name(pod):<32.32} {facts.slots:>5}  {' '.join(facts.queues)}")
        for pod, facts in now.pods
    ]
    yield Section(Text(f"{'POD':<32} {'SLOTS':>5}  QUEUES", "bold reverse"), pods, keeps=3)


def _title(now: Snapshot, width: int) -> Text:
    waiting = sum(queue.load.waiting for queue in now.queues)
    running = sum(queue.load.running for queue in now.queues)
    # Supervisors announce themselves, too; their slots take no steps.
    served = {queue.load.queue for queue in now.queues}
    workers = [facts for _, facts in now.pods if served & set(facts.queues)]
    told = (
        f"jobs {_count(now.live)}, steps waiting {_count(waiting)}, running {_count(running)}, "
        f"pods {len(workers)}, slots {_count(sum(facts.slots for facts in workers))}"
    )
    calls = f", calls {_count(now.calls)}" if now.calls else ""
    return Text.assemble(("chargehand ", "bold"), (told + calls)[: max(0, width - 11)])


def _head(left: str, right: str, width: int) -> Text:
    return Text(f"{left:<{max(0, width - len(right) - 1)}} {right}", "bold reverse")


QUEUE_COLUMNS = ("WAITING", "RUNNING", "PODS", "TO WAIT", "MEAN", "P95", "IN/S", "OUT/S", "OLDEST")
QUEUE_WIDTHS = (7, 9, 4, 7, 5, 5, 5, 5, 6)


def _queue_heading(width: int) -> Text:
    columns = zip(QUEUE_COLUMNS, QUEUE_WIDTHS, strict=True)
    return _head("QUEUE", " ".join(f"{name:>{wide}}" for name, wide in columns), width)


def _queue_line(queue: Queue, seen: Rates | None, width: int) -> Text:
    load = queue.load
    wait = load.wait()
    cells = (
        _count(load.waiting) if load.waiting else NONE,
        f"{_count(load.running)}/{_count(load.slots)}",
        _count(load.pods) if load.pods else NONE,
        _span(wait) if wait and (load.waiting or load.slots) else NONE,
        _span(load.mean),
        _span(load.p95),
        _rate(seen.came) if seen else NONE,
        _rate(seen.left) if seen else NONE,
        _span(queue.oldest),
    )
    right = " ".join(f"{cell:>{wide}}" for cell, wide in zip(cells, QUEUE_WIDTHS, strict=True))
    name = max(4, width - len(right) - 1)
    return Text(f"{_short(safe.name(load.queue), name):<{name}} {right}", _style(queue, wait))


def _style(queue: Queue, wait: float) -> str:
    if queue.load.waiting and not queue.load.slots:
        return "bold red"
    if queue.load.slots and wait > LATE:
        return "yellow"
    return "" if queue.load.waiting or queue.load.running else "dim"


def _urgency(queue: Queue) -> tuple[bool, float, int, str]:
    """Sort those that somebody waits for first, the longest wait before the others."""
    load = queue.load
    wait = load.wait() if load.waiting or load.running else 0.0
    return (not (load.waiting or load.running), -wait, -load.waiting, load.queue)


def _breaker(name: str, breaker: Breaker, now: float) -> Text:
    failures = f"{breaker.failures} failures in a row"
    if breaker.opened is None:
        return Text(f"{safe.line(name)}: closed, {failures}", "dim")
    tested = f", tested {_span(now - breaker.probed)} ago" if breaker.probed else ""
    opened = f"open for {_span(now - breaker.opened)}"
    return Text(f"{safe.line(name)}: {opened}, {failures}{tested}", "bold red")


def _job_line(job: LiveJob, width: int) -> Text:
    right = f"{job.state:<12} {f'{job.done:,}/{job.steps:,}':>13} {_span(job.age):>7}"
    name = max(4, width - len(right) - 1)
    return Text(f"{_short(f'{job.id}  {safe.line(job.team)}', name):<{name}} {right}")


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _count(number: int) -> str:
    return f"{number:,}" if number < 100_000 else f"{number // 1000:,}k"


def _rate(number: float) -> str:
    if not number:
        return NONE
    return f"{number:.1f}" if number < 100 else _count(round(number))


def _span(seconds: float | None) -> str:
    """Say a time in five characters."""
    if seconds is None:
        return NONE
    if math.isinf(seconds):
        return "never"
    for limit, unit, places in ((1.0, "s", 2), (10.0, "s", 1), (100.0, "s", 0)):
        if seconds < limit:
            return f"{seconds:.{places}f}{unit}"
    for limit, size, unit in ((6_000, 60, "m"), (360_000, 3_600, "h")):
        if seconds < limit:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds / 86_400:.0f}d"
