"""The whole fleet at a glance, for those who watch it: one round trip."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import redis

from common import names
from common.store.breakers import Breaker
from common.store.connection import Connection
from common.store.loads import Load, _capacity, _times

MOST_QUEUES = 500
"""How many queues are looked at; there are as many as specialists, unless something is wrong."""


@dataclass(frozen=True)
class Overview:
    """What there is, at one moment."""

    loads: dict[str, Load]
    oldest: dict[str, float]
    """For how many seconds the oldest step on each queue has waited."""
    breakers: dict[str, Breaker] = field(default_factory=dict)
    live: int = 0
    """How many jobs have not ended."""
    pods: int = 0
    """How many processes there are, supervisors included."""


class Overviews:
    """Reads overviews, and remembers which queues there are for the next one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queues: tuple[str, ...] = ()

    def read(self) -> Overview:
        """Return what there is now, in one round trip; in two when a queue has come or gone."""
        raw = self._ask(self._queues)
        there = _queues(raw[1], raw[2])
        if there != self._queues:
            self._queues = there
            raw = self._ask(there)
        return _overview(self._queues, raw)

    def _ask(self, queues: Sequence[str]) -> list[Any]:
        def ask(client: redis.Redis) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                pipe.time()
                pipe.smembers(names.QUEUES)
                pipe.hvals(names.POD_FACTS)
                pipe.hgetall(names.RUNNING)
                pipe.hgetall(names.TIMES)
                pipe.hgetall(names.BREAKERS)
                pipe.zcard(names.LIVE)
                pipe.llen(names.SUPERVISOR_QUEUE)
                for queue in queues:
                    pipe.zcard(names.waiting(queue))
                    pipe.zrange(names.waiting(queue), 0, 0, withscores=True)
                return pipe.execute()

        return self._connection.ask(ask)


def _queues(used: set[str], facts: Sequence[str]) -> tuple[str, ...]:
    served = {queue for each in facts for queue in json.loads(each)["queues"]}
    return tuple(sorted({*used, *served, names.SUPERVISOR_QUEUE})[:MOST_QUEUES])


def _overview(queues: Sequence[str], raw: list[Any]) -> Overview:
    (seconds, micros), _, facts, running, known, breakers, live, calls, *each = raw
    now, (slots, pods) = seconds + micros / 1e6, _capacity(facts)
    # The supervisors' own queue holds calls and not steps.
    waiting = dict(zip(queues, each[::2], strict=True)) | {names.SUPERVISOR_QUEUE: calls}
    oldest = dict(zip(queues, each[1::2], strict=True))
    return Overview(
        loads={
            queue: Load(
                queue,
                waiting=waiting[queue],
                running=int(running.get(queue, 0)),
                slots=slots[queue],
                pods=pods[queue],
                **_times(known.get(queue)),
            )
            for queue in queues
        },
        oldest={q: max(0.0, now - first[0][1]) if first else 0.0 for q, first in oldest.items()},
        breakers={name: Breaker.model_validate_json(value) for name, value in breakers.items()},
        live=live,
        pods=len(facts),
    )
