"""`top` and `explain` tell of a real fleet, on a terminal and in a pipe."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.eventually import eventually
from tests.fleet import Fleet, team
from tests.integration.cli.user import User


@pytest.fixture
def user(tmp_path: Path, fleet: Fleet) -> User:
    fleet.ready()
    return User(tmp_path, CHARGEHAND_REDIS_URL=fleet.url)


@pytest.fixture
def held(fleet: Fleet, gate: Path) -> str:
    """A job of which one step runs until the gate is opened."""
    job = fleet.submit(team({"a": ("succeed", ()), "b": ("gate", ("a",))}), request=str(gate))
    fleet.until(job, "started", "b")
    return job


class Terminal:
    """A program on a terminal of 80 by 24, and all that it has written."""

    def __init__(self, user: User, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.written = b""
        self.process = user.start(*arguments, stdin=theirs, stdout=theirs, stderr=theirs)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while chunk := os.read(self._ours, 65536):
            self.written += chunk

    def press(self, key: str) -> None:
        os.write(self._ours, key.encode())

    def interrupt(self) -> None:
        """Do what a terminal does on Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def now(self) -> list[object]:
        return list(termios.tcgetattr(self._theirs))

    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.written.decode(errors="replace"))


@pytest.fixture
def terminal(user: User) -> Iterator[Terminal]:
    """A terminal on which `top` runs."""
    made = Terminal(user, "top")
    yield made
    made.process.kill()
    made.process.wait()


def test_a_pipe_gets_one_screen(user: User, fleet: Fleet, held: str, gate: Path) -> None:
    done = user.run("top")

    gate.touch()
    fleet.ended(held)
    assert (done.returncode, done.stderr) == (0, "")
    assert "steps waiting 0, running 1, pods 1, slots 8" in done.stdout
    assert re.search(r"^tests +· +1/8 +1 ", done.stdout, re.MULTILINE)
    assert re.search(rf"^{held}  tests +running +1/2 ", done.stdout, re.MULTILINE)
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("leave", [lambda t: t.press("q"), lambda t: t.interrupt()])
def test_a_terminal_gets_one_screen_after_the_other_until_it_is_left(
    terminal: Terminal, leave: Callable[[Terminal], None]
) -> None:
    eventually(lambda: terminal.text().count("chargehand jobs") >= 2, within=20)

    leave(terminal)

    assert terminal.process.wait(10) == 0, terminal.text()
    assert terminal.now() == terminal.before
    assert b"\x1b[?1049l" in terminal.written
    assert "Traceback" not in terminal.text()


def test_a_step_is_explained(user: User, fleet: Fleet) -> None:
    job = fleet.submit(team({"a": ("flaky", ())}))
    fleet.ended(job)

    done = user.run("explain", job, "a")

    assert (done.returncode, done.stderr) == (0, "")
    head, *story = done.stdout.splitlines()
    assert re.search(r"planned for flaky; done by flaky, on pod \S+, at try 3\.$", head)
    assert sum("Sent to queue tests for flaky" in line for line in story) == 3
    assert sum("The join decided to try again" in line for line in story) == 2
    assert story[-1].endswith("s.")
    assert "Try 3 gave a result in" in story[-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [(("nosuchjob", "a"), "no job 'nosuchjob'"), ((None, "x"), "no step 'x' in job")],
)
def test_what_cannot_be_explained_is_one_line(
    user: User, fleet: Fleet, words: tuple[str | None, str], said: str
) -> None:
    job = fleet.submit(team({"a": ("succeed", ())}))
    fleet.ended(job)

    done: subprocess.CompletedProcess[str] = user.run("explain", words[0] or job, words[1])

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
