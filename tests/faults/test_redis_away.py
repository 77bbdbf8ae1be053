"""Redis goes away, comes back, is full or refuses: nothing is lost, and it is said once."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from celery import Celery

from chargehand.client import Client
from chargehand.stack import port, probe, redis_server
from common import names
from common.errors import StoreUnavailable
from common.store import Store
from common.store.connection import Connection, connect
from tests.eventually import eventually
from tests.fleet import ROOT, Fleet, team


class Server:
    """A Redis that keeps its port and its append-only file over its deaths."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._port = port.free()
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        argv = [str(redis_server.program()), "--port", str(self._port), "--bind", "127.0.0.1"]
        argv += ["--dir", str(self._folder), "--save", "", "--maxmemory-policy", "noeviction"]
        argv += ["--appendonly", "yes", "--appendfsync", "always", "--logfile", "redis.log"]
        self._process = subprocess.Popen(argv)
        eventually(self._answers)

    def _answers(self) -> bool:
        assert self._process.poll() is None, (self._folder / "redis.log").read_text()
        fault = probe.fault(self.url)
        assert fault is None, fault
        return True

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "redis")
    try:
        made.start()
        yield made
    finally:
        made.kill()


@pytest.fixture
def fleet(server: Server, tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(server.url, tmp_path)
    yield made
    made.stop()


def log(fleet: Fleet, number: int) -> str:
    return next(fleet.folder.glob(f"{number}-*.log")).read_text()


def check_each_counted_once(fleet: Fleet, job: str, steps: int) -> None:
    counted = Counter(e.step for e in fleet.store.trace.read(job) if e.event == "outcome")
    assert set(counted.values()) == {1}, fleet.told(job)
    assert len(counted) == steps


def test_jobs_outlive_a_killed_redis_and_so_do_pods_and_supervisors(
    fleet: Fleet, server: Server, gate: Path
) -> None:
    fleet.supervisor()
    fleet.pod(slots=4)
    fleet.ready()
    graph = {f"s{n}": ("gate", ()) for n in range(6)} | {"z": ("succeed", ("s0", "s5"))}
    held = fleet.submit(team(graph), request=str(gate))
    fleet.until(held, "started", count=4)
    # The supervisor has these in hand when Redis dies.
    others = [fleet.submit(team({"a": ("succeed", ())})) for _ in range(40)]

    server.kill()
    gate.touch()
    for number in range(2):
        eventually(lambda n=number: log(fleet, n).count("waiting for it") == 2, within=15)
    server.start()

    assert fleet.report(held).state == "complete"
    assert {fleet.report(job).state for job in others} == {"complete"}
    check_each_counted_once(fleet, held, 7)
    for job in others:
        check_each_counted_once(fleet, job, 1)
    assert [process.poll() for process in fleet.processes] == [None, None]
    for number in range(2):
        told = log(fleet, number)
        # One line of those who ask, one of those who wait for messages; the same when it is back.
        assert told.count("waiting for it") == 2, told
        assert told.count("is back after") == 2, told
        assert "Traceback" not in told
        assert "EMERGENCY" not in told


def test_a_job_outlives_the_loss_of_all_connections_again_and_again(fleet: Fleet) -> None:
    fleet.supervisor()
    fleet.pod()
    fleet.pod()
    fleet.ready()
    job = fleet.submit(team({f"s{n}": ("wait", ()) for n in range(200)}))
    ends = time.monotonic() + 3
    killed = 0

    def kill_all() -> bool:
        nonlocal killed
        for kind in ("normal", "pubsub"):
            killed += int(killer.client_kill_filter(_type=kind, skipme=True))
        return time.monotonic() > ends

    with connect(fleet.url) as killer:
        eventually(kill_all, within=5, every=0.1)

    assert killed > 100
    assert fleet.report(job).state == "complete"
    check_each_counted_once(fleet, job, 200)
    assert [process.poll() for process in fleet.processes] == [None, None, None]


def test_a_full_redis_refuses_new_jobs_and_finishes_what_runs(fleet: Fleet, gate: Path) -> None:
    fleet.supervisor()
    fleet.pod(slots=2)
    fleet.ready()
    graph = {"a": ("gate", ()), "b": ("gate", ()), "c": ("succeed", ("a", "b"))}
    job = fleet.submit(team(graph), request=str(gate))
    fleet.until(job, "started", count=2)
    with connect(fleet.url) as client:
        client.config_set("maxmemory", 500_000)

    with pytest.raises(StoreUnavailable, match="is full; raise its maxmemory"):
        fleet.submit(team({"a": ("succeed", ())}))
    gate.touch()
    fleet.until(job, "outcome", count=2)
    eventually(lambda: log(fleet, 1).count("is not told of its end") == 2)
    with connect(fleet.url) as client:
        client.config_set("maxmemory", 0)

    # Both slots of the pod were filled while Redis was full: they are free again.
    assert fleet.report(job).text == "c(a=a(), b=b())"
    check_each_counted_once(fleet, job, 3)
    assert [process.poll() for process in fleet.processes] == [None, None]


def test_a_supervisor_has_all_its_slots_after_redis_was_full(fleet: Fleet) -> None:
    supervisor = fleet.supervisor()
    fleet.pod()
    eventually(lambda: "ready." in log(fleet, 0) and "ready." in log(fleet, 1))
    supervisor.send_signal(signal.SIGSTOP)
    app = Celery(broker=fleet.url, backend=fleet.url)
    spec = {"team": "brief", "request": "What is it about?"}
    for _ in range(8):
        app.send_task(names.SUBMIT, kwargs={"job": spec}, queue=names.SUPERVISOR_QUEUE)
    app.close()
    with connect(fleet.url) as client:
        client.config_set("maxmemory", 500_000)
        supervisor.send_signal(signal.SIGCONT)
        eventually(lambda: log(fleet, 0).count("chargehand.submit is put off") == 8)
        client.config_set("maxmemory", 0)

    job = fleet.submit(team({"a": ("succeed", ())}))

    assert fleet.report(job).state == "complete"
    assert supervisor.poll() is None


def test_who_is_told_to_stop_while_redis_is_away_leaves_all_the_same(
    fleet: Fleet, server: Server, gate: Path
) -> None:
    fleet.supervisor()
    fleet.pod()
    job = fleet.submit(team({"a": ("gate", ())}), request=str(gate))
    fleet.until(job, "started")
    server.kill()
    gate.touch()
    eventually(lambda: "waiting for it" in log(fleet, 0) and "waiting for it" in log(fleet, 1))

    for process in fleet.processes:
        process.send_signal(signal.SIGTERM)

    assert [process.wait(timeout=15) for process in fleet.processes] == [0, 0]


def test_a_command_says_in_one_line_that_redis_is_away(server: Server) -> None:
    client = Client(server.url)
    server.kill()

    command = subprocess.run(
        [sys.executable, "-m", "chargehand", "jobs"],
        cwd=ROOT,
        env={**os.environ, "CHARGEHAND_REDIS_URL": server.url},
        capture_output=True,
        text=True,
        timeout=20,
    )
    with pytest.raises(StoreUnavailable, match="does not answer"):
        client.recent()

    assert command.returncode == 3
    assert command.stdout == ""
    assert command.stderr.startswith("chargehand: no Redis answers at redis://127.0.0.1:")
    assert command.stderr.count("\n") == 1


def test_many_who_wait_for_redis_say_so_once(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store.open(20.0, server.url)
    assert store.fleet.counters() == {}
    server.kill()

    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(store.fleet.counters) for _ in range(8)]
        eventually(lambda: len(caplog.messages) > 0)
        server.start()
        assert [answer.result() for answer in answers] == [{}] * 8

    assert [m.split(" ")[4] for m in caplog.messages] == ["away", "back"]


def test_a_wrong_password_is_told_at_once_and_not_shown(server: Server) -> None:
    with connect(server.url) as client:
        client.config_set("requirepass", "the-right-one")
    store = Store.open(60.0, server.url.replace("//", "//:the-wrong-one@"))

    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="refuses the password") as told:
        store.fleet.counters()

    assert time.monotonic() - began < 30
    assert "the-wrong-one" not in str(told.value)


def test_a_user_without_the_right_is_told_so(server: Server) -> None:
    with connect(server.url) as client:
        client.acl_setuser("some", enabled=True, passwords=["+pw"], keys=["*"], commands=["+get"])
    store = Store.open(60.0, server.url.replace("//", "//some:pw@"))

    with pytest.raises(StoreUnavailable, match="widen its ACL"):
        store.fleet.counters()


@pytest.mark.parametrize("ask", [lambda f: f.count("x"), lambda f: f.leave("nobody")])
def test_a_redis_that_takes_no_writes_for_a_while_is_waited_for(
    server: Server, ask: Callable[[object], None]
) -> None:
    store = Store.open(20.0, server.url)
    with connect(server.url) as client:
        client.replicaof("127.0.0.1", "1")
        later = threading.Timer(0.5, client.replicaof, ("NO", "ONE"))
        later.start()

        ask(store.fleet)

        later.join()


@pytest.mark.parametrize(
    "error", [redis.BusyLoadingError("LOADING"), redis.ResponseError("BUSY Redis is busy")]
)
def test_a_redis_that_is_busy_with_itself_is_waited_for(server: Server, error: Exception) -> None:
    answers: list[object] = [error, "done"]

    def question(_: redis.Redis) -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with connect(server.url) as client:
        assert Connection(client, server.url, patience=5).ask(question) == "done"


def test_a_fault_of_ours_is_not_taken_for_one_of_redis(server: Server) -> None:
    with connect(server.url) as client:
        client.set("text", "x")

        with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
            Connection(client, server.url, patience=5).ask(lambda c: c.lpush("text", "x"))
