"""The way to Redis: one client, the scripts, and patience while Redis is away."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from common import names
from common.errors import StoreUnavailable
from common.settings import without_password

logger = logging.getLogger(__name__)

SCRIPTS = Path(__file__).parent / "scripts"
LUA_NAMES = (
    "JOBS",
    "LIVE",
    "LEASES",
    "DUE",
    "CHECKS",
    "QUEUES",
    "PODS",
    "POD_FACTS",
    "RECONCILER",
    "RUNNING",
    "TIMES",
    "FLOW",
    "BREAKERS",
    "JOB_PREFIX",
    "WAITING_PREFIX",
)
REFUSED_WHEN_FULL = ("submit",)
"""Scripts that do not run while Redis is full: they would start something new."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0

Answer = TypeVar("Answer")


def connect(url: str) -> redis.Redis:
    """Return a client; nothing is sent before it is used."""
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=30,
        socket_connect_timeout=3,
        health_check_interval=30,
        # Waiting for Redis is done in one place, `Connection.ask`, which says so in the log.
        retry=Retry(NoBackoff(), 0),
    )


def _source(file: Path) -> str:
    """Return a script with the names that it uses, and with what all scripts share."""
    constants = "".join(f"local {n} = '{getattr(names, n)}'\n" for n in LUA_NAMES)
    refused = str(file.stem in REFUSED_WHEN_FULL).lower()
    shared = (SCRIPTS / "prelude.lua").read_text()
    return f"{constants}local REFUSED_WHEN_FULL = {refused}\n{shared}{file.read_text()}"


class Connection:
    """A Redis client whose calls wait for Redis to come back, for as long as `patience` says."""

    def __init__(self, client: redis.Redis, url: str, patience: float) -> None:
        self.client = client
        self._shown = without_password(url)
        self._patience = patience
        self._scripts = {
            file.stem: client.register_script(_source(file))
            for file in SCRIPTS.glob("*.lua")
            if file.stem != "prelude"
        }

    def run(self, script: str, keys: list[str], args: list[Any]) -> Any:
        """Run one of the scripts."""
        return self.ask(lambda _: self._scripts[script](keys=keys, args=args))

    def ask(self, question: Callable[[redis.Redis], Answer]) -> Answer:
        """Put a question to Redis. It may be put again: it must be one that can be repeated."""
        given_up = time.monotonic() + self._patience
        pause = FIRST_PAUSE
        while True:
            try:
                return question(self.client)
            except (redis.ConnectionError, redis.TimeoutError) as error:
                if time.monotonic() + pause > given_up:
                    raise StoreUnavailable(
                        f"Redis at {self._shown} does not answer ({type(error).__name__}); "
                        "start it, or point CHARGEHAND_REDIS_URL at one that runs"
                    ) from None
                logger.warning("Redis at %s is away; trying again in %.1f s", self._shown, pause)
            except redis.OutOfMemoryError:
                raise StoreUnavailable(
                    f"Redis at {self._shown} is full; raise its maxmemory or let jobs expire"
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
