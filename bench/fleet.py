"""The processes that are measured: Redis, a supervisor, and two worker processes of each kind."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from redis import Redis

from chargehand.stack import redis_server
from chargehand.stack.log import MergedLog
from common.settings import settings

PROCESSES = 2
THREADS = 20

Process = subprocess.Popen[bytes]


class Fleet:
    """Worker processes of both kinds on one Redis."""

    def __init__(self, url: str) -> None:
        self.redis = Redis.from_url(url, socket_timeout=None)
        self._processes: dict[str, list[Process]] = {}
        self._start("supervisor.app", "supervisor", 4, "supervisor")
        for number in range(PROCESSES):
            self.add("bench.pod", f"ours{number}")
            self.add("bench.raw", f"raw{number}")

    def on(self, queue: str) -> list[Process]:
        """Return the worker processes of a queue, the newest last."""
        return self._processes[queue]

    def add(self, app: str, name: str, queue: str | None = None, threads: int = THREADS) -> Process:
        """Start one more worker process."""
        return self._start(app, queue or ("bench" if app == "bench.pod" else "raw"), threads, name)

    def _start(self, app: str, queue: str, threads: int, name: str) -> Process:
        argv = [sys.executable, "-m", "celery", "--quiet", "-A", app, "worker", "-Q", queue]
        argv += ["-P", "threads", "-c", str(threads), "-n", f"{name}@%h", "-l", "WARNING"]
        process = subprocess.Popen(
            [*argv, "--without-gossip", "--without-mingle"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).parent.parent,
        )
        self._processes.setdefault(queue, []).append(process)
        return process

    def stop(self) -> None:
        """End all processes."""
        everyone = [process for each in self._processes.values() for process in each]
        for process in everyone:
            process.kill()
        for process in everyone:
            process.wait()


@contextmanager
def fleet() -> Iterator[Fleet]:
    """Give a Redis with a supervisor and both kinds of workers on it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        log = stack.enter_context((folder / "redis.log").open("w"))
        merged = MergedLog(log, ["redis"])
        server = stack.enter_context(redis_server.running(folder / "redis", merged))
        os.environ["CHARGEHAND_REDIS_URL"] = server.url
        settings.cache_clear()
        made = Fleet(server.url)
        stack.callback(made.stop)
        yield made
