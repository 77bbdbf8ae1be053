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


def worker(app: str, queue: str, threads: int, name: str) -> Process:
    """Start a worker process."""
    argv = [sys.executable, "-m", "celery", "--quiet", "-A", app, "worker", "-Q", queue]
    argv += ["-P", "threads", "-c", str(threads), "-n", f"{name}@%h", "-l", "WARNING"]
    return subprocess.Popen(
        [*argv, "--without-gossip", "--without-mingle"],
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parent.parent,
    )


@contextmanager
def fleet() -> Iterator[Redis]:
    """Give a Redis with a supervisor and both kinds of workers on it, all ready."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        log = stack.enter_context((folder / "redis.log").open("w"))
        merged = MergedLog(log, ["redis"])
        server = stack.enter_context(redis_server.running(folder / "redis", merged))
        os.environ["CHARGEHAND_REDIS_URL"] = server.url
        settings.cache_clear()
        kinds = [("supervisor.app", "supervisor", 4, "supervisor")]
        for number in range(PROCESSES):
            kinds.append(("bench.pod", "bench", THREADS, f"ours{number}"))
            kinds.append(("bench.raw", "raw", THREADS, f"raw{number}"))
        processes = [worker(*kind) for kind in kinds]
        stack.callback(lambda: [process.wait() for process in processes])
        stack.callback(lambda: [process.terminate() for process in processes])
        yield Redis.from_url(server.url)
