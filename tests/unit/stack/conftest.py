from collections.abc import Iterator
from pathlib import Path

import pytest

from common import teams
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
def team_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the only known team, with the queues `security` and `heavy`."""
    folder = tmp_path / "teams" / "sample"
    folder.mkdir(parents=True)
    (folder / "prompt.md").write_text("Look closely.")
    roles = "description: d, prompt: prompt.md, instruction: i, criterion: c"
    (folder / "team.yaml").write_text(
        "description: A sample.\n"
        "final_instruction: Write it.\n"
        "plan: {by: files}\n"
        "specialists:\n"
        f"  security: {{{roles}}}\n"
        f"  logic: {{{roles}, queue: heavy}}\n"
        f"  style: {{{roles}, queue: heavy}}\n"
    )
    monkeypatch.setattr(teams, "SHIPPED", folder.parent)
    return folder
