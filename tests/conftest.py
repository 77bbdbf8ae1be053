"""What all tests share: one real Redis for each module that wants it, and how hypothesis runs."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
import redis

from chargehand.stack import redis_server
from chargehand.stack.log import MergedLog
from common.store import Store
from common.store.connection import connect

TTL = 3600

# No test asks a real model, whatever is set on this machine; those that need one serve their own.
for _name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
    del os.environ[_name]

# The same examples in every run and on every machine; a loaded machine is no failure.
hypothesis.settings.register_profile(
    "chargehand", derandomize=True, database=None, deadline=None, max_examples=50
)
hypothesis.settings.load_profile("chargehand")


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real Redis for one module: other modules count the children of this process."""
    folder: Path = tmp_path_factory.mktemp("redis")
    with redis_server.running(folder, MergedLog(io.StringIO(), ["redis"])) as server:
        yield server.url


@pytest.fixture
def real_redis(redis_url: str) -> Iterator[redis.Redis]:
    """A client of the real Redis, with nothing in it."""
    with connect(redis_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def store(redis_client: redis.Redis) -> Store:
    """A store that keeps what it is given for an hour, in whichever Redis the folder gives."""
    return Store(redis_client, "redis://tests", patience=0, ttl=TTL)
