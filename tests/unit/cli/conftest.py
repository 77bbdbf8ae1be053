import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from chargehand.cli import main
from common.settings import settings


class Said(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands are run in; no repository."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def repository(folder: Path) -> Path:
    """The folder as a git repository with one commit on `main`."""
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.email", "ada@example.com"],
        ["config", "user.name", "Ada"],
        ["commit", "-q", "--allow-empty", "-m", "Begin"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.fixture
def chargehand(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run the command in this process, with a home of its own and no stack."""
    monkeypatch.setenv("CHARGEHAND_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(logging, "lastResort", None)

    def run(*arguments: str, **environment: str) -> Said:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        settings.cache_clear()
        monkeypatch.setattr(sys, "argv", ["chargehand", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Said(int(ended.value.code or 0), said.out, said.err)

    return run
