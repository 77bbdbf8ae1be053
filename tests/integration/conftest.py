import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from chargehand.stack import redis_server
from chargehand.stack.log import MergedLog
from tests.fleet import Fleet


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A supervisor and one pod on a Redis of their own, for one module of tests."""
    folder = tmp_path_factory.mktemp("fleet")
    with redis_server.running(folder / "redis", MergedLog(io.StringIO(), ["redis"])) as server:
        made = Fleet(server.url, folder)
        made.supervisor()
        made.pod()
        yield made
        made.stop()


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A file whose coming opens the steps that wait for it."""
    return tmp_path / "open"
