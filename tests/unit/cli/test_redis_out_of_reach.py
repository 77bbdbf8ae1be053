"""A Redis that cannot be used is one line and exit code 3, at once and without its password."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chargehand.stack import port
from tests.unit.cli.conftest import Run, Said

COMMANDS = [
    ["review", "a.py"],
    ["submit", "brief", "--request", "Say something."],
    ["jobs"],
    *([name, "abc"] for name in ("show", "watch", "trace", "report", "cancel")),
    ["up", "--flower-port", str(port.free())],
]


@pytest.fixture
def web_server() -> Iterator[int]:
    """The port of something that is no Redis."""

    def answer(server: socket.socket) -> None:
        caller, _ = server.accept()
        with caller:
            caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server((port.HOST, 0)) as server:
        thread = threading.Thread(target=answer, args=(server,))
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def unreachable(said: Said) -> None:
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("chargehand: ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
def test_a_closed_port_is_told_in_one_line(
    chargehand: Run, folder: Path, command: list[str]
) -> None:
    (folder / "a.py").write_text("x = 1\n")
    number = port.free()

    said = chargehand(*command, CHARGEHAND_REDIS_URL=f"redis://:s3cret@127.0.0.1:{number}/0")

    unreachable(said)
    assert f"no Redis answers at redis://:***@127.0.0.1:{number}/0" in said.err
    assert "Connection refused" in said.err
    assert "s3cret" not in said.err


def test_something_else_that_answers_is_told_in_one_line(chargehand: Run, web_server: int) -> None:
    said = chargehand("jobs", CHARGEHAND_REDIS_URL=f"redis://127.0.0.1:{web_server}/0")

    unreachable(said)
    assert f"no Redis answers at redis://127.0.0.1:{web_server}/0" in said.err


def test_a_url_that_is_none_is_refused_without_its_password(chargehand: Run) -> None:
    for url in ("http://127.0.0.1", "redis://:s3cret@127.0.0.1:port/0"):
        said = chargehand("jobs", CHARGEHAND_REDIS_URL=url)

        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
        assert "CHARGEHAND_REDIS_URL" in said.err
        assert "s3cret" not in said.err


@pytest.mark.parametrize("command", [c for c in COMMANDS if c[0] not in ("review", "up")])
def test_without_a_stack_a_command_says_how_to_have_one(
    chargehand: Run, command: list[str]
) -> None:
    said = chargehand(*command)

    unreachable(said)
    assert "no stack is running; start one with `chargehand up`" in said.err
