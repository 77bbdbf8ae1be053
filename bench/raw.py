"""The peer: a plain Celery app with its default settings, on the same Redis."""

import time

from celery import Celery, chord
from redis import Redis

from bench.pod import SLOW, WAIT
from common.settings import settings

app = Celery("raw", broker=settings().redis(), backend=settings().redis())
app.conf.broker_connection_retry_on_startup = True
app.conf.task_default_queue = "raw"


@app.task
def noop(_number: int) -> int:
    return 1


@app.task
def wait(_number: int) -> int:
    time.sleep(WAIT)
    return 1


@app.task
def slow(started: str) -> int:
    Redis.from_url(settings().redis()).incr(started)
    time.sleep(SLOW)
    return 1


@app.task
def body(results: list[int], signal: str) -> int:
    Redis.from_url(settings().redis()).lpush(signal, sum(results))
    return sum(results)


def client() -> Redis:
    """Return a client that waits for as long as its commands do."""
    return Redis.from_url(settings().redis(), socket_timeout=None)


def run(task: object, count: int, signal: str) -> None:
    """Run a chord and return when its body has run. Its result is not asked for: that is slower."""
    chord([task.s(i) for i in range(count)])(body.s(signal))
    answer = client().blpop([signal], timeout=120)
    assert answer is not None, "the raw chord did not finish in 120 s"
    assert int(answer[1]) == count
