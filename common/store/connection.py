"""The way to Redis: one client, the scripts, and patience while Redis is away."""

import logging
import re
import threading
import time
from collections.abc import Callable
from enum import Enum, auto
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

TYPED = {
    "OOM": redis.OutOfMemoryError,
    "READONLY": redis.ReadOnlyError,
    "NOPERM": redis.exceptions.NoPermissionError,
}
"""Errors that redis-py tells by their type, and without Redis's own word for them."""
REMEDIES = {
    "NOAUTH": "refuses the password; correct it in CHARGEHAND_REDIS_URL",
    "NOPERM": "does not let this user do that; widen its ACL",
    "OOM": "is full; raise its maxmemory or let jobs expire",
    "MISCONF": "cannot write to its disk and takes nothing in; see its log",
}

HURRIED = 3.0
"""Seconds for which a process that is about to leave still waits for Redis."""
_leaving: float | None = None

Answer = TypeVar("Answer")


class Wait(Enum):
    """How to wait for Redis."""

    HERE = auto()
    ELSEWHERE = auto()
    """On new connections: the server that these lead to is no longer the one that takes writes."""


WAITS = {
    "BUSY": Wait.HERE,
    "TRYAGAIN": Wait.HERE,
    "READONLY": Wait.ELSEWHERE,
    "MASTERDOWN": Wait.ELSEWHERE,
}


def hurry() -> None:
    """Let nothing in this process wait long for Redis any more: it was told to leave."""
    global _leaving
    _leaving = time.monotonic()


def connect(url: str, timeout: float = 30.0) -> redis.Redis:
    """Return a client; nothing is sent before it is used."""
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=timeout,
        socket_connect_timeout=min(3.0, timeout),
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
        self._away: float | None = None
        self._lock = threading.Lock()
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
        began, pause = time.monotonic(), FIRST_PAUSE
        while True:
            try:
                answer = question(self.client)
            except (redis.RedisError, OSError) as error:
                self._judge(error, last=time.monotonic() + pause > self._until(began))
            else:
                self._say_back()
                return answer
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _until(self, began: float) -> float:
        """Return when to give up a question that was put first at this time."""
        until = began + self._patience
        return until if _leaving is None else min(until, max(began, _leaving) + HURRIED)

    def _judge(self, error: Exception, *, last: bool) -> None:
        """Return when the question may be put again, or raise what there is to say."""
        verdict = _verdict(error)
        if verdict is None:
            raise error
        if isinstance(verdict, str):
            raise StoreUnavailable(f"Redis at {self._shown} {verdict}") from None
        if last:
            raise StoreUnavailable(
                f"Redis at {self._shown} does not answer ({type(error).__name__}); "
                "start it, or point CHARGEHAND_REDIS_URL at one that runs"
            ) from None
        self._say_away(error)
        if verdict is Wait.ELSEWHERE:
            self.client.connection_pool.disconnect(inuse_connections=False)

    def _say_away(self, error: Exception) -> None:
        """Log that Redis is away: once, however many threads wait for it."""
        with self._lock:
            if self._away is not None:
                return
            self._away = time.monotonic()
        why = _kind(error) or type(error).__name__
        logger.warning("Redis at %s is away (%s); waiting for it", self._shown, why)

    def _say_back(self) -> None:
        if self._away is None:
            return
        with self._lock:
            since, self._away = self._away, None
        if since is not None:
            gone = time.monotonic() - since
            logger.warning("Redis at %s is back after %.1f s", self._shown, gone)


def _verdict(error: Exception) -> Wait | str | None:
    """Return how to wait after an error, or why waiting is no use; None for a fault of ours."""
    if isinstance(error, redis.AuthenticationError):
        return REMEDIES["NOAUTH"]
    if isinstance(error, (redis.ConnectionError, redis.TimeoutError, OSError)):
        return Wait.HERE
    kind = _kind(error)
    return WAITS.get(kind) or REMEDIES.get(kind)


def _kind(error: Exception) -> str:
    """Return Redis's own word for an error; inside a script, Redis 6.2 has it in the text only."""
    for kind, name in TYPED.items():
        if isinstance(error, name):
            return kind
    found = re.search(r"(?:^|-)([A-Z]{4,}|OOM)\b", str(error))
    return found[1] if found else ""
