"""All that goes on at one moment, for those who watch: three round trips, however much it is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis

from common import names
from common.states import JobState
from common.store.breakers import Breaker
from common.store.connection import Connection, connect
from common.store.fleet import PodFacts
from common.store.loads import Load, Loads

MOST_JOBS = 50
"""How many jobs are looked at, those whose deadline is nearest first."""


@dataclass(frozen=True)
class Queue:
    """A queue: its load, how much ever came and left, and how long the oldest step has waited."""

    load: Load
    came: int = 0
    left: int = 0
    oldest: float | None = None


@dataclass(frozen=True)
class LiveJob:
    """A job that has not ended."""

    id: str
    team: str
    state: JobState
    age: float
    done: int
    steps: int


@dataclass(frozen=True)
class Snapshot:
    """What there is at one moment, by Redis's clock."""

    time: float
    queues: tuple[Queue, ...] = ()
    pods: tuple[tuple[str, PodFacts], ...] = ()
    breakers: tuple[tuple[str, Breaker], ...] = ()
    jobs: tuple[LiveJob, ...] = ()
    live: int = 0
    """How many jobs have not ended; `jobs` has some of them."""
    calls: int = 0
    """What waits for a supervisor: jobs to plan, outcomes to join, reports to write."""


class Snapshots:
    """Reads snapshots."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._loads = Loads(connection)

    @classmethod
    def open(cls, patience: float, url: str) -> "Snapshots":
        """Return a reader of the store in this Redis."""
        return cls(Connection(connect(url), url, patience))

    def read(self) -> Snapshot:
        """Return what there is now."""
        (seconds, micros), used, facts, flow, breakers, live, ids, calls = self._whole()
        now = seconds + micros / 1e6
        pods = [(pod, PodFacts.model_validate_json(said)) for pod, said in sorted(facts.items())]
        queues = _queues(used, pods)
        loads, (oldest, jobs) = self._loads.read(queues), self._each(queues, ids)
        return Snapshot(
            time=now,
            queues=tuple(_queue(loads[q], flow, oldest[q], now) for q in queues),
            pods=tuple(pods),
            breakers=tuple(
                (name, Breaker.model_validate_json(said)) for name, said in sorted(breakers.items())
            ),
            jobs=tuple(_job(job, raw, now) for job, raw in jobs.items() if raw[0][0]),
            live=live,
            calls=calls,
        )

    def _whole(self) -> list[Any]:
        def ask(client: redis.Redis) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                pipe.time()
                pipe.smembers(names.QUEUES)
                pipe.hgetall(names.POD_FACTS)
                pipe.hgetall(names.FLOW)
                pipe.hgetall(names.BREAKERS)
                pipe.zcard(names.LIVE)
                pipe.zrange(names.LIVE, 0, MOST_JOBS - 1)
                pipe.llen(names.SUPERVISOR_QUEUE)
                return pipe.execute()

        return self._connection.ask(ask)

    def _each(
        self, queues: Sequence[str], jobs: Sequence[str]
    ) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """Return the oldest step of each queue, and what is to be known of each job."""

        def ask(client: redis.Redis) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                for queue in queues:
                    pipe.zrange(names.waiting(queue), 0, 0, withscores=True)
                for job in jobs:
                    pipe.hmget(names.job(job), ["state", "created"])
                    pipe.hlen(names.steps(job))
                    pipe.scard(names.open_steps(job))
                    # The first event names the team; the job's own record of it is large.
                    pipe.xrange(names.trace(job), count=1)
                return pipe.execute()

        answers = self._connection.ask(ask) if queues or jobs else []
        oldest = dict(zip(queues, answers, strict=False))
        rest = answers[len(queues) :]
        return oldest, {job: rest[4 * i : 4 * i + 4] for i, job in enumerate(jobs)}


def _queues(used: set[str], pods: Sequence[tuple[str, PodFacts]]) -> list[str]:
    """Return the queues that steps were sent to or that a pod serves, but not the supervisors'."""
    served = {queue for _, facts in pods for queue in facts.queues}
    return sorted((used | served) - {names.SUPERVISOR_QUEUE})


def _queue(load: Load, flow: dict[str, str], oldest: list[Any], now: float) -> Queue:
    came, left = (int(flow.get(f"{way}:{load.queue}", 0)) for way in ("came", "left"))
    return Queue(load, came, left, max(0.0, now - oldest[0][1]) if oldest else None)


def _job(job: str, raw: list[Any], now: float) -> LiveJob:
    (state, created), steps, still_open, first = raw
    team = json.loads(first[0][1]["data"]).get("team", "") if first else ""
    return LiveJob(job, team, JobState(state), now - float(created), steps - still_open, steps)
