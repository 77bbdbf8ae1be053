"""A worker is killed with `kill -9` while it runs steps: how long until they run again?"""

import signal
import time
from collections.abc import Callable
from uuid import uuid4

from celery import chord
from redis import Redis

from bench import raw
from bench.fleet import Process, worker
from bench.ours import Ours
from common.settings import settings

RUNS = 3
STEPS = 20
PATIENCE = 30.0


def _killed_while_busy(process: Process, busy: Callable[[], bool]) -> float:
    """Kill a worker once its steps run; return when."""
    while not busy():
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return time.time()


def ours(doomed: Process) -> float:
    """Return the seconds from the kill until the last lost step runs again."""
    at_work = Ours()
    job = at_work.submit("slow", {f"s{n}": () for n in range(STEPS)})
    trace = at_work.office.store.trace

    def busy() -> bool:
        return sum(e.event == "started" for e in trace.read(job)) == STEPS

    killed = _killed_while_busy(doomed, busy)
    at_work.ended(job)
    events = trace.read(job)
    lost = {e.step for e in events if e.event == "lost"}
    assert lost, "the killed worker held no step"
    again = [e.time for e in events if e.event == "started" and e.step in lost]
    return max(again) - killed


def theirs(doomed: Process) -> str:
    """Return the seconds from the kill until a raw chord's body ran, or that it did not."""
    signal_ = uuid4().hex
    redis = Redis.from_url(settings().redis())
    chord([raw.slow.s(signal_) for _ in range(STEPS)])(raw.body.s(signal_ + "done"))
    killed = _killed_while_busy(doomed, lambda: int(redis.get(signal_) or 0) == STEPS)
    answer = redis.blpop([signal_ + "done"], timeout=int(PATIENCE))
    return f"{time.time() - killed:.1f} s" if answer else f"not within {PATIENCE:.0f} s"


def measure() -> list[str]:
    """Return a table of several runs; a fresh worker takes the place of each killed one."""
    rows = ["| run | raw chord, default settings | ours: until all lost steps run again |"]
    rows.append("|---|---|---|")
    spare = worker("bench.pod", "bench", STEPS, "spare")
    for run in range(1, RUNS + 1):
        mine = worker("bench.pod", "bench", STEPS, f"doomed{run}")
        plain = worker("bench.raw", "raw", STEPS, f"plain{run}")
        plain_text = theirs(plain) if run == 1 else "(as in run 1)"
        rows.append(f"| {run} | {plain_text} | {ours(mine):.1f} s |")
        plain.terminate()
    spare.terminate()
    return rows
