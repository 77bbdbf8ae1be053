"""deploy/sentinel, run as processes: three Redis that copy each other, and three Sentinels."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis
from redis.sentinel import Sentinel

from chargehand.stack import port
from tests.eventually import eventually
from tests.integration.deploy.composed import ROOT, Composed, answers, composed

FILES = ROOT / "deploy" / "sentinel"
PASSWORDS = {
    "REDIS_PASSWORD": "ours",
    "REDIS_REPLICA_PASSWORD": "copies",
    "REDIS_SENTINEL_PASSWORD": "watches",
}
COUNT = 3


@dataclass
class Watched:
    """Three Redis and three Sentinels, by port."""

    services: Composed
    redis: list[int]
    sentinels: list[int]

    def start(self, number: int, script: str, own: int, name: str) -> None:
        """Start one of them with a script of the folder."""
        data = self.services.folder / f"{name}-{number}-data"
        data.mkdir(exist_ok=True)
        environment = {
            **PASSWORDS,
            "REDIS_DATA": str(data),
            "REDIS_HOST": port.HOST,
            "REDIS_PRIMARY": port.HOST,
            "REDIS_PRIMARY_PORT": str(self.redis[0]),
            name: str(own),
        }
        self.services.start(f"{name}-{number}", ["sh", str(FILES / script)], environment)

    def primary(self) -> int:
        """Return the port of the Redis that the Sentinels call the primary."""
        asked = Sentinel(
            [(port.HOST, number) for number in self.sentinels],
            sentinel_kwargs={"password": PASSWORDS["REDIS_SENTINEL_PASSWORD"]},
        )
        try:
            return int(asked.discover_master("chargehand")[1])
        except redis.RedisError as error:
            raise AssertionError(error) from None

    def sees_all(self, number: int) -> bool:
        """Tell whether a Sentinel knows of the other Sentinels and of both replicas."""
        password = PASSWORDS["REDIS_SENTINEL_PASSWORD"]
        try:
            with redis.Redis(port=number, password=password, decode_responses=True) as sentinel:
                seen = sentinel.sentinel_master("chargehand")
        except redis.RedisError as error:
            raise AssertionError(error) from None
        assert (seen["num-slaves"], seen["num-other-sentinels"]) == (COUNT - 1, COUNT - 1), seen
        return True

    def ours(self, number: int) -> redis.Redis:
        """Return a client of one Redis with the rights of our processes."""
        password = PASSWORDS["REDIS_PASSWORD"]
        return redis.Redis(port=number, username="chargehand", password=password)


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """All six, seeing each other."""
    with composed(tmp_path) as services:
        ports = [port.free() for _ in range(2 * COUNT)]
        made = Watched(services, ports[:COUNT], ports[COUNT:])
        for i, number in enumerate(made.redis):
            made.start(i, "redis.sh", number, "REDIS_PORT")
        for number in made.redis:
            eventually(lambda number=number: answers(made.ours(number)), within=20)
        for i, number in enumerate(made.sentinels):
            made.start(i, "sentinel.sh", number, "SENTINEL_PORT")
        for number in made.sentinels:
            eventually(lambda number=number: made.sees_all(number), within=30)
        yield made


def test_the_sentinels_make_a_replica_the_primary_that_has_what_was_written(
    watched: Watched,
) -> None:
    first = watched.redis[0]
    assert watched.primary() == first
    with watched.ours(first) as client:
        client.set("chargehand:written", "before")
        copied = eventually(lambda: client.wait(COUNT - 1, 1000) == COUNT - 1)
    assert copied

    watched.services.processes["REDIS_PORT-0"].kill()
    promoted = eventually(lambda: (now := watched.primary()) != first and now, within=40)

    with watched.ours(promoted) as client:
        assert client.get("chargehand:written") == b"before"
        eventually(lambda: _writes(client), within=10)


def _writes(client: redis.Redis) -> bool:
    try:
        return bool(client.set("chargehand:written", "after"))
    except redis.RedisError as error:
        raise AssertionError(error) from None
