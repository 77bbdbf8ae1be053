"""Ask a Redis how it is, quickly and without retries."""

import time
from dataclasses import dataclass
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT = 2.0


@dataclass(frozen=True)
class Facts:
    """What a Redis says of itself; None stands for what it does not tell us."""

    version: str
    policy: str | None
    persistent: bool | None
    ahead: float
    """Seconds by which its clock is ahead of ours."""


def client(url: str, timeout: float = TIMEOUT) -> "redis.Redis":
    """Return a client that fails at once instead of trying again."""
    try:
        return redis.Redis.from_url(
            url,
            socket_connect_timeout=timeout,
            socket_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
        )
    except ValueError:
        # The text of that error may hold a part of the password.
        raise redis.ConnectionError(
            "the URL cannot be read; percent-encode what is special in its password"
        ) from None


def fault(url: str, timeout: float = TIMEOUT) -> str | None:
    """Return None if a Redis answers at this URL, else why not, in a line without its password."""
    try:
        with client(url, timeout) as connection:
            connection.ping()
    except (redis.RedisError, OSError) as error:
        return said(error)
    return None


def said(error: Exception) -> str:
    """Say why a Redis does not answer; its own words for a missing password are about HELLO."""
    if isinstance(error, redis.AuthenticationError):
        return "it asks for a password, or for another one"
    return str(error) or type(error).__name__


def facts(url: str) -> Facts:
    """Return what the Redis at this URL says of itself."""
    with client(url) as connection:
        info: dict[str, Any] = connection.info()
        before = time.time()
        seconds, micros = connection.time()
        ours = (before + time.time()) / 2
        return Facts(
            version=str(info["redis_version"]),
            policy=info.get("maxmemory_policy"),
            persistent=True if info.get("aof_enabled") == 1 else _saves(connection),
            ahead=seconds + micros / 1e6 - ours,
        )


def _saves(connection: "redis.Redis") -> bool | None:
    try:
        said: Any = connection.config_get("save")
    except redis.ResponseError:  # Managed Redis services refuse CONFIG.
        return None
    return bool(said.get("save"))
