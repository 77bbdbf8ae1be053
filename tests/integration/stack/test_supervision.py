import io
import os
import re
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from chargehand.stack.background import supervised
from chargehand.stack.command import Command
from chargehand.stack.log import MergedLog
from chargehand.stack.supervise import Supervision
from common.errors import LocalStackError
from tests.eventually import eventually

WAITS = "import signal; print('ready', flush=True); signal.pause()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"


def _child(code: str, name: str = "child") -> Command:
    return Command(name, (sys.executable, "-c", code))


def _says(stream: io.StringIO, pattern: str) -> None:
    eventually(lambda: re.search(pattern, stream.getvalue()) or _fail(stream.getvalue()))


def _fail(seen: str) -> None:
    raise AssertionError(seen)


def test_what_dies_is_started_again(log: MergedLog, stream: io.StringIO) -> None:
    supervision = Supervision(log)
    supervision.add(_child(WAITS))

    with supervised(supervision):
        _says(stream, "ready")
        psutil.Process().children()[0].kill()

        _says(stream, r"child was killed by SIGKILL after .* starting it again in 0.5 s")
        _says(stream, r"(?s)ready.*ready")


def test_a_terminals_ctrl_c_does_not_reach_a_child(log: MergedLog, stream: io.StringIO) -> None:
    supervision = Supervision(log)
    supervision.add(_child(WAITS))

    with supervised(supervision):
        _says(stream, "ready")
        (child,) = psutil.Process().children()

        assert os.getsid(child.pid) == os.getpgid(child.pid) == child.pid


def test_a_child_that_dies_again_and_again_is_told_plainly_with_its_last_lines(
    log: MergedLog, stream: io.StringIO
) -> None:
    supervision = Supervision(log)
    supervision.add(_child("raise SystemExit('no such queue')"))

    with supervised(supervision):
        _says(stream, r"cannot stay up: it died 3 times at once after its start; its last lines:")
        _says(stream, r"chargehand \|     no such queue")


def test_a_stop_lets_a_child_finish_its_work(log: MergedLog, stream: io.StringIO) -> None:
    ends = "signal.signal(signal.SIGTERM, lambda *_: (print('finished'), exit(0)))"
    supervision = Supervision(log)
    supervision.add(_child(f"import signal; {ends}; {WAITS}"))

    with supervised(supervision):
        _says(stream, "ready")

    assert "finished" in stream.getvalue()
    assert "killed" not in stream.getvalue()


def test_a_child_that_ignores_sigterm_is_killed_after_its_grace(
    log: MergedLog, stream: io.StringIO
) -> None:
    supervision = Supervision(log)
    supervision.add(replace(_child(STUBBORN), grace=0.2))

    with supervised(supervision):
        _says(stream, "ready")

    assert "child did not stop in time and is killed" in stream.getvalue()
    assert psutil.Process().children() == []


def test_a_second_request_to_stop_kills_at_once(log: MergedLog, stream: io.StringIO) -> None:
    supervision = Supervision(log)
    supervision.add(replace(_child(STUBBORN), grace=600))

    with supervised(supervision):
        _says(stream, "ready")
        supervision.request_stop()

    assert "stopping at once" in stream.getvalue()
    assert psutil.Process().children() == []


def test_children_stop_in_their_order(log: MergedLog, stream: io.StringIO) -> None:
    supervision = Supervision(log)
    says = "signal.signal(signal.SIGTERM, lambda *_: (print('goes'), exit(0)))"
    for stops, name in enumerate(["worker", "flower", "redis"]):
        command = replace(_child(f"import signal; {says}; {WAITS}", name), stops=stops)
        supervision.add(command)

    with supervised(supervision):
        eventually(lambda: stream.getvalue().count("ready") == 3)

    order = re.findall(r"(\w+) +\| goes", stream.getvalue())
    assert order == ["worker", "flower", "redis"]


def test_what_a_child_started_ends_with_it(log: MergedLog, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    starts = (
        f"import subprocess, pathlib; p = subprocess.Popen({[sys.executable, '-c', WAITS]!r}); "
        f"pathlib.Path({str(note)!r}).write_text(f'{{p.pid}}.')"
    )
    supervision = Supervision(log)
    supervision.add(_child(f"{starts}; {WAITS}"))

    with supervised(supervision):
        eventually(lambda: note.exists() and note.read_text().endswith("."))

    eventually(lambda: _is_gone(int(note.read_text()[:-1])))


def _is_gone(pid: int) -> bool:
    """Orphans are reaped by the machine's first process, which may take its time."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_given_up_child_ends_what_the_main_thread_waits_for(log: MergedLog) -> None:
    supervision = Supervision(log, give_up_after=1)
    supervision.add(_child("raise SystemExit('out of luck')"))

    with (
        pytest.raises(LocalStackError, match=r"child ended with code 1 after .*\n    out of luck"),
        supervised(supervision),
    ):
        eventually(lambda: False, within=30)


def test_an_error_that_comes_of_a_dead_child_is_told_as_its_death(
    log: MergedLog, stream: io.StringIO
) -> None:
    supervision = Supervision(log, give_up_after=1)
    supervision.add(_child("raise SystemExit('out of luck')"))

    def work() -> None:
        _says(stream, "out of luck")
        raise ConnectionError("nobody answers")

    with pytest.raises(LocalStackError, match="out of luck"), supervised(supervision):
        work()


def test_a_ctrl_c_during_the_stop_kills_at_once(
    log: MergedLog, stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervision = Supervision(log)
    supervision.add(replace(_child(STUBBORN), grace=600))
    asked = supervision.request_stop

    def interrupt_once() -> None:
        asked()
        monkeypatch.setattr(supervision, "request_stop", asked)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    with supervised(supervision):
        _says(stream, "ready")
        monkeypatch.setattr(supervision, "request_stop", interrupt_once)

    assert "stopping at once" in stream.getvalue()
    assert psutil.Process().children() == []


def test_a_program_that_is_missing_is_told_in_the_log(log: MergedLog, stream: io.StringIO) -> None:
    supervision = Supervision(log)
    supervision.add(Command("child", ("/no/such/program",)))

    with supervised(supervision):
        _says(stream, r"/no/such/program")
