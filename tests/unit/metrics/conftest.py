import pytest

from common import endpoint, glance, metrics
from common.meters import Meters


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks waits for a moment only, so that tests of silence are short."""
    monkeypatch.setattr(glance, "SOON", 0.1)
    monkeypatch.setattr(endpoint, "POLL", 0.01)


@pytest.fixture
def meters(monkeypatch: pytest.MonkeyPatch) -> Meters:
    """What this process counts, from zero and for one test."""
    made = Meters()
    monkeypatch.setattr(metrics, "_meters", made)
    return made
