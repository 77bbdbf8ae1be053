"""How loaded the queues are: what waits, what runs, how long it takes and who is there to do it."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis

from common import names
from common.store.connection import Connection

UNKNOWN_SECONDS = 1.0
"""What a step is taken to last where none has ended yet."""


@dataclass(frozen=True)
class Load:
    """The load of one queue."""

    queue: str
    waiting: int = 0
    running: int = 0
    slots: int = 0
    pods: int = 0
    mean: float | None = None
    """Seconds that a step takes; None while none has ended."""
    p95: float | None = None

    def wait(self, more: int = 0, unknown: float = UNKNOWN_SECONDS) -> float:
        """Return the seconds that a step would wait behind what is there and so many more.

        Where no step has ended yet, one is taken to last `unknown` seconds. Without a slot there is
        no end to the wait.
        """
        if self.slots == 0:
            return math.inf
        behind = self.waiting + more - max(0, self.slots - self.running)
        mean = unknown if self.mean is None else self.mean
        return (behind + 1) * mean / self.slots if behind >= 0 else 0.0


class Loads:
    """The load of all queues. What a process has dispatched counts from its next reading on."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def read(self, queues: Sequence[str]) -> dict[str, Load]:
        """Return the load of these queues, in one round trip."""

        def ask(client: redis.Redis) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                pipe.hvals(names.POD_FACTS)
                pipe.hmget(names.RUNNING, list(queues))
                pipe.hmget(names.TIMES, list(queues))
                for queue in queues:
                    pipe.zcard(names.waiting(queue))
                return pipe.execute()

        if not queues:
            return {}
        facts, running, times, *waiting = self._connection.ask(ask)
        slots, pods = _capacity(facts)
        return {
            queue: Load(
                queue,
                waiting=waiting[i],
                running=int(running[i] or 0),
                slots=slots[queue],
                pods=pods[queue],
                **_times(times[i]),
            )
            for i, queue in enumerate(queues)
        }


def _capacity(facts: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """Return the slots and the pods of each queue; a pod's slots serve all its queues."""
    slots: Counter[str] = Counter()
    pods: Counter[str] = Counter()
    for each in map(json.loads, facts):
        for queue in each["queues"]:
            slots[queue] += each["slots"]
            pods[queue] += 1
    return slots, pods


def _times(value: str | None) -> dict[str, float]:
    if value is None:
        return {}
    mean, p95 = value.split(" ")
    return {"mean": float(mean), "p95": float(p95)}
