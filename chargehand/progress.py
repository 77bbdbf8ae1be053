"""What a job is doing, as its events tell it: live on a terminal, plain lines elsewhere."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from chargehand.formats import safe
from common.store import Event


@dataclass
class Queue:
    """How far the steps of one queue are."""

    waiting: set[str] = field(default_factory=set)
    running: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    findings: int = 0
    troubles: list[str] = field(default_factory=list)

    def move(self, step: str, where: set[str]) -> None:
        """Have a step in one of the sets, and in no other."""
        for each in (self.waiting, self.running, self.ended):
            each.discard(step)
        where.add(step)


@dataclass
class Progress:
    """How far a job is."""

    job: str
    headline: str = "submitted"
    queues: dict[str, Queue] = field(default_factory=dict)
    _queue_of: dict[str, str] = field(default_factory=dict)

    def take(self, event: Event) -> str | None:
        """Take an event in; return a line about it when it is worth one."""
        data, step = event.data, event.step
        match event.event:
            case "submitted":
                return self._head(f"submitted to {data['team']}")
            case "planned":
                return self._head(f"planned: {_count(data['steps'], 'step')}, by {data['planner']}")
            case "dispatched":
                self._queue_of[step] = data["queue"]
                self._queue(step).move(step, self._queue(step).waiting)
            case "started":
                self._queue(step).move(step, self._queue(step).running)
                return f"{step}: started by {data['pod']} after {data['waited']:.2f} s"
            case "outcome":
                return self._outcome(event)
            case "decided":
                return f"{step}: {data['action']}: {data['why']}"
            case "lost":
                return f"{step}: lost: {data['why']}"
            case "stopped":
                return self._head(f"stopped: {data['why']}")
            case "joined":
                return self._head("all steps have ended; aggregating")
            case "delivered":
                ended = data.get("report") or data.get("error") or data.get("why") or "ended"
                return self._head(f"delivered: {ended}")
        return None

    def _head(self, headline: str) -> str:
        self.headline = headline
        return f"job {self.job}: {headline}"

    def _queue(self, step: str) -> Queue:
        return self.queues.setdefault(self._queue_of.get(step, "?"), Queue())

    def _outcome(self, event: Event) -> str | None:
        data, queue = event.data, self._queue(event.step)
        queue.move(event.step, queue.ended)
        if data["kind"] != "result":
            # What is decided about it comes next, and says all of it.
            queue.troubles.append(data["reason"])
            return None
        queue.findings += data["findings"]
        wrote = data["characters"]
        found = _count(wrote, "character") if wrote else _count(data["findings"], "finding")
        return f"{event.step}: {found} in {data['seconds']:.2f} s"

    def table(self) -> Group:
        """Return the headline, and one row for each queue."""
        headline = f"job {self.job}: {self.headline}"
        table = Table(box=None, pad_edge=False)
        table.add_column("queue", min_width=12, no_wrap=True)
        for name in ("waiting", "running", "done", "findings"):
            table.add_column(name, justify="right", min_width=8)
        table.add_column("", no_wrap=True, overflow="ellipsis")
        for name, queue in self.queues.items():
            counts = (len(queue.waiting), len(queue.running), len(queue.ended), queue.findings)
            troubles = ", ".join(dict.fromkeys(queue.troubles))
            cells = (name, *(str(n) if n else "·" for n in counts), troubles)
            table.add_row(*(Text(safe.line(cell)) for cell in cells))
        return Group(Text(safe.line(headline), no_wrap=True, overflow="ellipsis"), table)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def show(job: str, events: Iterable[Event], console: Console) -> None:
    """Show a job's events until they end: a live table on a terminal, else lines."""
    progress = Progress(job)
    if not console.is_interactive:
        for event in events:
            if line := progress.take(event):
                console.print(Text(safe.line(line)), soft_wrap=True)
        return
    with Live(progress.table(), console=console, refresh_per_second=10) as live:
        for event in events:
            progress.take(event)
            live.update(progress.table())
