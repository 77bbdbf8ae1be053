import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from chargehand.stack import local, probe
from chargehand.stack.command import Command
from common.contracts import Team
from common.errors import LocalStackError
from tests.eventually import eventually

ROOT = Path(__file__).resolve().parents[3]
WAITS = "import signal; signal.pause()"
ROLE = {"description": "d", "prompt": "p", "instruction": "i", "criterion": "c"}
TEAM = Team.model_validate(
    {
        "name": "sample",
        "description": "d",
        "final_instruction": "f",
        "plan": {"by": "files"},
        "specialists": {"security": ROLE},
    }
)
HOLD = """
from chargehand.stack import local
from tests.integration.stack.test_one_shot import TEAM, wait_in_slices, waiting

with local.one_shot(TEAM, waiting):
    wait_in_slices()
"""


def waiting(team: Team) -> Sequence[Command]:
    return [
        Command(name, (sys.executable, "-c", WAITS)) for name in ("supervisor", *team.specialists)
    ]


def wait_in_slices() -> None:
    """Wait like a caller does: for long, but never in one call."""
    never = threading.Event()
    for _ in range(300):
        never.wait(0.1)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


EARLIER: set[int] = set()
"""Children that this process had before the test, such as a Redis that other tests share."""


@pytest.fixture(autouse=True)
def _earlier_children() -> None:
    EARLIER.clear()
    EARLIER.update(child.pid for child in psutil.Process().children())


def _children(*, recursive: bool = False) -> list[psutil.Process]:
    found = psutil.Process().children(recursive=recursive)
    return [child for child in found if child.pid not in EARLIER]


def _left(temporary: Path) -> tuple[list[str], list[str]]:
    """Return the children that the test left, and the temporary files."""
    children = [" ".join(c.cmdline()) for c in _children(recursive=True)]
    return children, [path.name for path in temporary.iterdir()]


def test_nothing_is_left_of_a_one_shot(temporary: Path) -> None:
    with local.one_shot(TEAM, waiting) as url:
        assert probe.fault(url) is None
        eventually(lambda: len(_children()) == 3)

    assert probe.fault(url) is not None
    assert _left(temporary) == ([], [])


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_after_an_error(temporary: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), local.one_shot(TEAM, waiting):
        raise error

    assert _left(temporary) == ([], [])


def test_a_child_that_dies_ends_the_wait_with_its_last_lines(temporary: Path) -> None:
    def dying(team: Team) -> Sequence[Command]:
        return [Command("worker", (sys.executable, "-c", "raise SystemExit('no such queue')"))]

    with (
        pytest.raises(LocalStackError, match=r"worker ended with code 1 .*\n    no such queue"),
        local.one_shot(TEAM, dying),
    ):
        wait_in_slices()

    assert _left(temporary) == ([], [])


def test_a_dead_redis_ends_the_wait(temporary: Path) -> None:
    def kill_redis_and_wait() -> None:
        for child in _children():
            if "redis-server" in child.cmdline()[0]:
                child.kill()
        wait_in_slices()

    with (
        pytest.raises(LocalStackError, match="redis was killed by SIGKILL"),
        local.one_shot(TEAM, waiting),
    ):
        kill_redis_and_wait()

    assert _left(temporary) == ([], [])


def test_children_run_in_the_temporary_folder_and_not_in_the_users(temporary: Path) -> None:
    with local.one_shot(TEAM, waiting):
        (folder,) = temporary.iterdir()

        def settled() -> bool:
            found = {c.cwd() for c in _children()}
            return found == {str(folder), str(folder / "redis")}

        eventually(settled)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, -2)]
)
def test_a_signal_leaves_nothing(temporary: Path, number: signal.Signals, code: int) -> None:
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        children = eventually(lambda: _three(process.pid))

        process.send_signal(number)

        assert process.wait(10) == code
    assert not any(child.is_running() for child in children)
    assert list(temporary.iterdir()) == []


def test_a_killed_command_leaves_no_process() -> None:
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, cwd=ROOT) as process:
        children = eventually(lambda: _three(process.pid))

        process.kill()

        eventually(lambda: not [c for c in children if _runs(c)])


def _three(pid: int) -> list[psutil.Process]:
    children = psutil.Process(pid).children()
    return children if len(children) == 3 else []


def _runs(child: psutil.Process) -> bool:
    try:
        return child.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_users_own_signal_handlers_are_back_afterwards() -> None:
    before = [signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)]

    with local.one_shot(TEAM, waiting):
        pass

    after = [signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)]
    assert before == after
