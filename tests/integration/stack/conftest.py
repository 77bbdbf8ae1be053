import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from chargehand.stack.log import MergedLog
from common.settings import settings


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own for each test, and no configured Redis."""
    folder = tmp_path / "home"
    monkeypatch.setenv("CHARGEHAND_HOME", str(folder))
    monkeypatch.delenv("CHARGEHAND_REDIS_URL", raising=False)
    monkeypatch.delenv("CHARGEHAND_TEAMS", raising=False)
    settings.cache_clear()
    yield folder
    settings.cache_clear()


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def log(stream: io.StringIO) -> MergedLog:
    return MergedLog(stream, ["redis", "child"])
