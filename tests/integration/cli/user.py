"""A person at a terminal, with a folder, a home and temporary files of their own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from tests.eventually import eventually

ROOT = Path(__file__).resolve().parents[3]

PLANTED = '''"""Accounts."""


def find(db, name):
    """Find an account by its name."""
    return db.execute(f"SELECT * FROM accounts WHERE name = '{name}'")


def remember(account, seen=[]):
    """Add an account to those seen."""
    seen.append(account)
    return seen
'''
"""A critical problem for the security lens at line 6, a warning for the logic lens at line 9."""


class User:
    """Runs commands, and sees what they leave behind."""

    def __init__(self, place: Path, **environment: str) -> None:
        self.home, self.temporary, self.folder = (
            place / name for name in ("home", "temporary", "work")
        )
        for made in (self.temporary, self.folder):
            made.mkdir(parents=True, exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("CHARGEHAND_")}
        own = {"CHARGEHAND_HOME": str(self.home), "TMPDIR": str(self.temporary)}
        self.environment = {**kept, **own, **environment}

    def run(self, *arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end."""
        fixed = {"capture_output": True, "text": True, "timeout": 60, "stdin": subprocess.DEVNULL}
        if "input" in options:
            del fixed["stdin"]
        return subprocess.run(self.command(*arguments), **self._where(), **{**fixed, **options})

    def start(self, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        """Start a command."""
        return subprocess.Popen(self.command(*arguments), text=True, **self._where(), **options)

    def command(self, *arguments: str) -> list[str]:
        """Return what a command is to a shell."""
        return [sys.executable, "-P", "-m", "chargehand", *arguments]

    def _where(self) -> dict[str, Any]:
        return {"cwd": self.folder, "env": self.environment}

    def git(self, *words: str) -> None:
        """Run git in the folder."""
        subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True)

    def plant(self) -> None:
        """Make the folder a repository in which a branch adds a file with problems to `main`."""
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.email", "ada@example.com")
        self.git("config", "user.name", "Ada")
        self.git("commit", "-q", "--allow-empty", "-m", "Begin")
        self.git("checkout", "-q", "-b", "feature")
        (self.folder / "accounts.py").write_text(PLANTED)
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Add accounts")

    def processes(self) -> list[psutil.Process]:
        """Return every process that was started with this home."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            ours = process.environ().get("CHARGEHAND_HOME") == str(self.home)
            return ours and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def left(self) -> tuple[list[list[str]], list[str]]:
        """Return the processes and the temporary files that commands have left behind."""
        files = [path.name for path in self.temporary.iterdir() if path.name.startswith("charge")]
        return list(_command_lines(self.processes())), files


def _command_lines(processes: list[psutil.Process]) -> Iterator[list[str]]:
    for process in processes:
        try:
            yield process.cmdline()
        except psutil.Error:
            continue


def line_of(log: Path, *words: str) -> str:
    """Wait for a line of a log that has all these words, and return it."""

    def seen() -> str:
        lines = log.read_text(errors="replace").splitlines()
        return next((line for line in lines if all(word in line for word in words)), "")

    try:
        return eventually(seen, within=30)
    except AssertionError:
        raise AssertionError(f"no line with {words} in:\n{log.read_text()}") from None
