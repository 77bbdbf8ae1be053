"""The store is the truth: jobs, steps, outcomes, bodies and traces in Redis, behind one door."""

import redis

from common.settings import settings
from common.store.blobs import Blobs
from common.store.breakers import Breaker, Breakers
from common.store.connection import Connection, connect
from common.store.fleet import Attempt, Attention, Fleet, Lost, PodFacts
from common.store.jobs import JobRecord, Jobs
from common.store.loads import Load, Loads
from common.store.overview import Overviews
from common.store.steps import Claim, Claimed, Decision, Routed, StepRecord, Steps
from common.store.trace import Event, Trace

__all__ = [
    "Attempt",
    "Attention",
    "Breaker",
    "Claim",
    "Claimed",
    "Decision",
    "Event",
    "JobRecord",
    "Load",
    "Lost",
    "PodFacts",
    "Routed",
    "StepRecord",
    "Store",
]


class Store:
    """All that is kept in Redis."""

    def __init__(self, client: redis.Redis, url: str, *, patience: float, ttl: int) -> None:
        connection = Connection(client, url, patience)
        self.jobs = Jobs(connection, ttl)
        self.steps = Steps(connection, ttl)
        self.blobs = Blobs(connection, ttl)
        self.trace = Trace(connection)
        self.fleet = Fleet(connection)
        self.loads = Loads(connection)
        self.breakers = Breakers(connection)
        self.overviews = Overviews(connection)

    @classmethod
    def open(cls, patience: float, url: str | None = None, timeout: float = 30.0) -> "Store":
        """Return the store in this Redis or the configured one."""
        url = url or settings().redis()
        return cls(connect(url, timeout), url, patience=patience, ttl=settings().job_ttl)
