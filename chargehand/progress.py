"""What a job is doing, as its events tell it: live on a terminal, plain lines elsewhere."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.table import Table

from common.store import Event


@dataclass
class Queue:
    """How far the steps of one queue are."""

    waiting: set[str] = field(default_factory=set)
    running: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    findings: int = 0
    troubles: list[str] = field(default_factory=list)


@dataclass
class Progress:
    """How far a job is."""

    headline: str = "submitted"
    queues: dict[str, Queue] = field(default_factory=dict)
    _queue_of: dict[str, str] = field(default_factory=dict)

    def take(self, event: Event) -> str | None:
        """Take an event in; return a line about it when it is worth one."""
        data = event.data
        match event.event:
            case "planned":
                self.headline = f"planned: {data['steps']} steps, by {data['planner']}"
                return self.headline
            case "dispatched":
                self._queue_of[event.step] = data["queue"]
                self._queue(event.step).waiting.add(event.step)
                return None
            case "started":
                queue = self._queue(event.step)
                queue.waiting.discard(event.step)
                queue.running.add(event.step)
                return f"{event.step}: started by {data['pod']} after {data['waited']:.2f} s"
            case "outcome":
                return self._outcome(event)
            case "decided":
                return f"{event.step}: {data['action']}: {data['why']}"
            case "stopped":
                self.headline = f"stopped: {data['why']}"
                return self.headline
            case "joined":
                self.headline = "all steps have ended; aggregating"
                return self.headline
            case "delivered":
                self.headline = f"delivered: {data.get('report') or data.get('error') or 'stopped'}"
                return self.headline
        return None

    def _queue(self, step: str) -> Queue:
        return self.queues.setdefault(self._queue_of[step], Queue())

    def _outcome(self, event: Event) -> str:
        data, queue = event.data, self._queue(event.step)
        queue.running.discard(event.step)
        queue.ended.add(event.step)
        if data["kind"] == "result":
            queue.findings += data["findings"]
            found = f"{data['characters']} characters" if data["characters"] else _findings(data)
            return f"{event.step}: {found} in {data['seconds']:.2f} s"
        queue.troubles.append(data["reason"])
        return f"{event.step}: {data['kind']}: {data['reason']}: {data['message']}"

    def table(self) -> Table:
        """Return one row for each queue."""
        table = Table(title=self.headline, title_justify="left", box=None, pad_edge=False)
        table.add_column("queue", min_width=12)
        for name in ("waiting", "running", "done", "findings"):
            table.add_column(name, justify="right", min_width=8)
        table.add_column("")
        for name, queue in self.queues.items():
            counts = (len(queue.waiting), len(queue.running), len(queue.ended), queue.findings)
            troubles = ", ".join(dict.fromkeys(queue.troubles))
            table.add_row(name, *(str(n) if n else "·" for n in counts), troubles)
        return table


def _findings(data: dict[str, int]) -> str:
    return "1 finding" if data["findings"] == 1 else f"{data['findings']} findings"


def shown(events: Iterable[Event], console: Console) -> Iterator[Event]:
    """Yield a job's events while showing them: a live table on a terminal, else lines."""
    progress = Progress()
    if not console.is_terminal:
        for event in events:
            if line := progress.take(event):
                console.print(line, markup=False, highlight=False, soft_wrap=True)
            yield event
        return
    with Live(progress.table(), console=console, refresh_per_second=10, transient=True) as live:
        for event in events:
            progress.take(event)
            live.update(progress.table())
            yield event
