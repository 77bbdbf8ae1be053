import pytest
import redis


@pytest.fixture
def redis_client(real_redis: redis.Redis) -> redis.Redis:
    """The real one, so that the claims about the store are checked where they matter."""
    return real_redis
