"""The state of the whole fleet as numbers, read from Redis when somebody asks."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from common.endpoint import JSON, Answer, Route, word
from common.glance import Glance
from common.metrics import UP, Gauge, Sample
from common.names import SUPERVISOR_QUEUE
from common.store import Load, Store
from common.store.overview import Overview

QUEUE = ("queue",)
FAMILIES = (
    UP,
    Gauge("chargehand_queue_waiting", "Steps on a queue that nobody has claimed.", QUEUE),
    Gauge("chargehand_queue_running", "Steps of a queue that are running.", QUEUE),
    Gauge("chargehand_queue_slots", "Steps of a queue that its pods can run at once.", QUEUE),
    Gauge("chargehand_queue_pods", "Processes that serve a queue.", QUEUE),
    Gauge(
        "chargehand_queue_expected_wait_seconds",
        "Seconds that a step would wait now; without a pod, as if one slot were there.",
        QUEUE,
    ),
    Gauge(
        "chargehand_queue_oldest_seconds", "Seconds that the oldest step has been waiting.", QUEUE
    ),
    Gauge("chargehand_queue_step_seconds_mean", "Seconds that a step lately took.", QUEUE),
    Gauge("chargehand_queue_step_seconds_p95", "Seconds that 95 of 100 steps stayed below.", QUEUE),
    Gauge(
        "chargehand_breaker_open",
        "Whether a specialist that failed lately is left alone: 1 or 0.",
        ("team", "specialist"),
    ),
    Gauge("chargehand_jobs_live", "Jobs that have not ended."),
    Gauge("chargehand_pods", "Processes that announce themselves, supervisors included."),
)


class FleetGauges:
    """The fleet's gauges, and the load of one queue for autoscalers."""

    def __init__(self, store: Store) -> None:
        self._overview = Glance(store.overviews.read)

    def families(self) -> Iterable[Gauge]:
        """Return what the numbers are about."""
        return FAMILIES

    def samples(self) -> Iterable[Sample]:
        """Return the numbers; while Redis is away only that it is."""
        seen = self._overview.get()
        return (Sample(UP.name, 0.0),) if seen is None else samples(seen)

    def routes(self) -> Mapping[str, Route]:
        """Answer for one queue, as JSON."""
        return {"/load/": self.load}

    def load(self, queue: str) -> Answer:
        """Return the load of a queue; one that nothing was ever sent to has none."""
        seen = self._overview.get()
        if seen is None:
            return word(503, "Redis does not answer")
        load = seen.loads.get(queue, Load(queue))
        told = {
            "queue": queue,
            "expected_wait_seconds": round(expected_wait(load), 6),
            "waiting": load.waiting,
            "running": load.running,
            "slots": load.slots,
        }
        return Answer(200, json.dumps(told).encode(), JSON)


def expected_wait(load: Load) -> float:
    """Return the seconds that a step would wait, as a finite number.

    Without a slot the wait has no end, and neither an autoscaler nor a graph can do anything with
    that. Then it is what the first slot would make of it: nothing on an empty queue, so that a pool
    can stay at no pod at all, and more the more there waits.
    """
    return (load if load.slots else replace(load, slots=1)).wait()


def samples(seen: Overview) -> Iterator[Sample]:
    """Return all numbers of an overview. A pure function."""
    yield Sample(UP.name, 1.0)
    yield Sample("chargehand_jobs_live", seen.live)
    yield Sample("chargehand_pods", seen.pods)
    for queue, load in seen.loads.items():
        told = _of_calls(load) if queue == SUPERVISOR_QUEUE else _of_steps(load, seen.oldest[queue])
        for name, value in told.items():
            if value is not None:
                yield Sample(f"chargehand_queue_{name}", value, {"queue": queue})
    for name, breaker in seen.breakers.items():
        team, _, specialist = name.partition("/")
        labels = {"team": team, "specialist": specialist}
        yield Sample("chargehand_breaker_open", float(breaker.opened is not None), labels)


def _of_calls(load: Load) -> dict[str, float | None]:
    """Return what is known of the supervisors' own queue, whose calls nobody measures."""
    return {"waiting": load.waiting, "slots": load.slots, "pods": load.pods}


def _of_steps(load: Load, oldest: float) -> dict[str, float | None]:
    return _of_calls(load) | {
        "running": load.running,
        "expected_wait_seconds": expected_wait(load),
        "oldest_seconds": oldest,
        "step_seconds_mean": load.mean,
        "step_seconds_p95": load.p95,
    }
