import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from chargehand.stack import local, port, probe, record
from common.errors import LocalStackError
from tests.eventually import eventually

ROOT = Path(__file__).resolve().parents[3]
SERVE = """
import os, sys
from chargehand.stack.command import Command
from chargehand.stack.local import Layout, up

code = "import os, signal; print(os.environ['CHARGEHAND_REDIS_URL'], flush=True); signal.pause()"
children = (Command(name, (sys.executable, "-c", code)) for name in ("supervisor", "security"))
up(Layout(tuple(children), {"security": 1}, None), sys.stdout)
"""

Start = Callable[[], "subprocess.Popen[str]"]


@pytest.fixture
def start_up(tmp_path: Path) -> Iterator[Start]:
    """Start `up` in a process of its own; its log is in `up.log`."""
    started: list[subprocess.Popen[str]] = []

    def start() -> "subprocess.Popen[str]":
        with (tmp_path / "up.log").open("a") as log:
            command = [sys.executable, "-c", SERVE]
            process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def _found(home: Path) -> record.StackRecord:
    found = eventually(lambda: record.running(home))
    assert found is not None
    return found


def _children(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Return supervisor, worker and Redis, once all of them are what they are to become."""

    def become() -> list[psutil.Process]:
        children = psutil.Process(process.pid).children()
        assert len(children) == 3
        assert not any("tether.py" in part for c in children for part in c.cmdline())
        return children

    return eventually(become)


def _gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=0)
    return all(p.status() == psutil.STATUS_ZOMBIE for p in alive if p.is_running())


def test_other_commands_find_a_running_stack(start_up: Start, home: Path) -> None:
    process = start_up()

    found = _found(home)

    assert (found.pid, found.pools) == (process.pid, {"security": 1})
    assert local.connect() == found.redis_url


def test_ctrl_c_stops_everything_cleanly(start_up: Start, home: Path, tmp_path: Path) -> None:
    process = start_up()
    _found(home)
    children = _children(process)

    process.send_signal(signal.SIGINT)

    assert process.wait(20) == 0
    assert _gone(children)
    assert not (home / record.FILE).exists()
    assert "did not stop in time" not in (tmp_path / "up.log").read_text()


def test_nothing_outlives_a_killed_stack(start_up: Start, home: Path) -> None:
    process = start_up()
    _found(home)
    children = _children(process)

    process.kill()

    eventually(lambda: _gone(children))
    assert record.running(home) is None
    assert not (home / record.FILE).exists()


def test_the_password_is_in_no_argv_and_not_in_the_log(
    start_up: Start, home: Path, tmp_path: Path
) -> None:
    process = start_up()
    password = _found(home).redis_url.split(":")[2].split("@")[0]
    log = tmp_path / "up.log"
    eventually(lambda: log.read_text().count("| redis://:***@127.0.0.1") == 2)

    arguments = [Path(f"/proc/{c.pid}/cmdline").read_text() for c in _children(process)]

    assert not any(password in text for text in [*arguments, log.read_text()])


def test_a_second_stack_is_refused_with_the_pid_of_the_first(start_up: Start, home: Path) -> None:
    process = start_up()
    _found(home)

    with pytest.raises(LocalStackError, match=rf"running already \(pid {process.pid}\)"):
        local.up(local.Layout((), {}, None), sys.stdout)


def test_a_killed_redis_comes_back_with_its_data_at_the_same_place(
    start_up: Start, home: Path
) -> None:
    process = start_up()
    url = _found(home).redis_url
    with probe.client(url) as client:
        client.set("job", "kept")
    server = next(c for c in _children(process) if "redis-server" in c.cmdline()[0])

    server.kill()

    eventually(lambda: not server.is_running() and probe.fault(url) is None)
    with probe.client(url) as client:
        assert client.get("job") == "kept"


def test_a_stack_starts_again_after_it_was_killed(start_up: Start, home: Path) -> None:
    first = start_up()
    _found(home)
    first.kill()
    first.wait()

    second = start_up()

    eventually(lambda: (found := record.running(home)) and found.pid == second.pid)


def test_a_flower_port_in_use_is_refused_before_anything_starts(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind((port.HOST, 0))
        taken.listen()
        number = taken.getsockname()[1]

        with pytest.raises(LocalStackError, match="is in use; choose another with --flower-port"):
            local.up(local.Layout((), {}, number), sys.stdout)

    assert not (home / "redis").exists()


def test_a_configured_redis_that_does_not_answer_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = f"redis://:s3cret@127.0.0.1:{port.free()}/0"
    monkeypatch.setenv("CHARGEHAND_REDIS_URL", url)
    local.settings.cache_clear()

    with pytest.raises(LocalStackError, match="CHARGEHAND_REDIS_URL: no Redis answers") as told:
        local.up(local.Layout((), {}, None), sys.stdout)

    assert "s3cret" not in str(told.value)


def test_the_record_can_be_read_by_its_owner_only(start_up: Start, home: Path) -> None:
    start_up()
    _found(home)

    written = json.loads((home / record.FILE).read_text())

    assert written["redis_url"].startswith("redis://:")
    assert (home / record.FILE).stat().st_mode & 0o777 == 0o600
