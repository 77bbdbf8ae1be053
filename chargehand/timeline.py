"""A trace as JSON, or as a timeline that opens in Chrome's and Perfetto's trace viewers."""

import json
from collections.abc import Iterable
from typing import Any

from common.store import Event


def as_json(events: Iterable[Event]) -> str:
    """Return the events one by one, with their time in seconds."""
    rows = [{"time": e.time, "event": e.event, "step": e.step, **e.data} for e in events]
    return json.dumps(rows, indent=2) + "\n"


def as_chrome(events: Iterable[Event]) -> str:
    """Return the trace in Chrome's format: a row for each step, under the pod that did it."""
    timeline = _Timeline()
    for event in events:
        timeline.take(event)
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": timeline.entries()}, indent=1) + "\n"


class _Timeline:
    """Numbers pods and steps, and pairs what starts with what ends."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []
        self._pods: dict[str, int] = {"supervisor": 0}
        self._rows: dict[str, int] = {"": 0}
        self._queued: dict[str, int] = {}
        self._started: dict[str, tuple[int, int]] = {}

    def take(self, event: Event) -> None:
        """Take the next event of the trace."""
        at = round(event.time * 1e6)
        row = self._rows.setdefault(event.step, len(self._rows))
        match event.event:
            case "dispatched":
                self._queued[event.step] = at
            case "started":
                pod = self._pods.setdefault(event.data["pod"], len(self._pods))
                begin = self._queued.get(event.step, at)
                self._add("waiting", begin, at - begin, pod, row, event)
                self._started[event.step] = (at, pod)
            case "tool":
                # Tool calls reach the trace with their outcome: when they ended is in their data.
                start, pod = self._started.get(event.step, (at, 0))
                # The trace's own times are whole milliseconds: a call must not outlast its step.
                end = min(at, start + round(event.data["at"] * 1e6))
                begin = max(start, end - round(event.data["seconds"] * 1e6))
                self._add(event.data["tool"], begin, end - begin, pod, row, event)
            case "outcome" | "lost" if event.step in self._started:
                begin, pod = self._started.pop(event.step)
                self._add(event.step, begin, at - begin, pod, row, event)
            case name:
                self._instant(f"{name} {event.step}".strip(), at, 0, row)

    def _add(self, name: str, at: int, length: int, pod: int, row: int, event: Event) -> None:
        entry = {"name": name, "cat": event.event, "ph": "X", "ts": at, "dur": length}
        self._entries.append({**entry, "pid": pod, "tid": row, "args": event.data})

    def _instant(self, name: str, at: int, pod: int, row: int) -> None:
        entry = {"name": name, "ph": "i", "s": "t", "ts": at, "pid": pod, "tid": row}
        self._entries.append(entry)

    def entries(self) -> list[dict[str, Any]]:
        """Return all entries, the names of pods and steps first."""
        pods = [_named("process_name", n, 0, name) for name, n in self._pods.items()]
        used = {(e["pid"], e["tid"]) for e in self._entries}
        names = {n: name or "job" for name, n in self._rows.items()}
        return (
            pods + [_named("thread_name", p, t, names[t]) for p, t in sorted(used)] + self._entries
        )


def _named(kind: str, pod: int, row: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": pod, "tid": row, "args": {"name": name}}
