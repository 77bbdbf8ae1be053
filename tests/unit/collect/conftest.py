import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from chargehand.collect import Collected
from common.contracts import Document


class Repo:
    """A git repository of a test's own."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments]
        done = subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout

    def write(self, path: str, data: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return file

    def commit(self, message: str = "a commit") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)


@pytest.fixture(autouse=True)
def _isolated_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    root = tmp_path / "repo"
    root.mkdir()
    made = Repo(root.resolve())
    made.git("init", "--quiet", "--initial-branch=main")
    made.write("app.py", "one\ntwo\nthree\nfour\nfive\n")
    made.commit("Start the app")
    return made


@pytest.fixture
def document() -> Callable[[Collected, str], Document]:
    def of(collected: Collected, path: str) -> Document:
        found = [d for d in collected.documents if d.path == path]
        assert found, f"no {path} in {[d.path for d in collected.documents]}; {collected.excluded}"
        return found[0]

    return of


@pytest.fixture
def why() -> Callable[[Collected, str], str]:
    def of(collected: Collected, path: str) -> str:
        found = [e.reason for e in collected.excluded if e.path == path]
        assert len(found) == 1, collected.excluded
        return found[0]

    return of
