"""Unit tests run without Redis, and without what happens to be in the environment."""

import os
from collections.abc import Iterator

import fakeredis
import pytest
import redis

from common.settings import settings


@pytest.fixture(autouse=True)
def _clean_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("CHARGEHAND_")]:
        monkeypatch.delenv(name)
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture
def redis_client() -> redis.Redis:
    """A Redis of its own for each test, in this process."""
    return fakeredis.FakeRedis(server=fakeredis.FakeServer(), decode_responses=True)
