import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from chargehand.stack import redis_server
from chargehand.stack.log import MergedLog
from tests.fleet import Fleet


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """A Redis of its own with nothing on it, for a test that starts and kills what it needs."""
    with redis_server.running(tmp_path / "redis", MergedLog(io.StringIO(), ["redis"])) as server:
        made = Fleet(server.url, tmp_path)
        yield made
        made.stop()


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A file whose coming opens the steps that wait for it."""
    return tmp_path / "open"
