"""A worker is killed with `kill -9` while it runs steps: how long until they run again?"""

import time
from collections.abc import Callable
from uuid import uuid4

from celery import chord

from bench import raw
from bench.fleet import PROCESSES, THREADS, Fleet, Process
from bench.ours import Ours

RUNS = 3
STEPS = PROCESSES * THREADS
"""As many as there are slots, so that every worker has its share."""
PATIENCE = 30


def _killed_while_busy(process: Process, busy: Callable[[], bool]) -> float:
    """Kill a worker once all steps run; return when."""
    while not busy():
        time.sleep(0.02)
    process.kill()
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
    return max(e.time for e in events if e.event == "started" and e.step in lost) - killed


def theirs(fleet: Fleet, doomed: Process) -> str:
    """Return the seconds from the kill until a raw chord's body ran, or that it did not."""
    started, done = uuid4().hex, uuid4().hex
    chord([raw.slow.s(started) for _ in range(STEPS)])(raw.body.s(done))
    killed = _killed_while_busy(doomed, lambda: int(fleet.redis.get(started) or 0) == STEPS)
    answer = fleet.redis.blpop([done], timeout=PATIENCE)
    return f"{time.time() - killed:.1f} s" if answer else f"not within {PATIENCE} s"


def measure(fleet: Fleet) -> list[str]:
    """Return a table; a fresh worker takes the place of each that was killed."""
    rows = ["| run | raw chord, default settings | ours: until all lost steps run again |"]
    rows.append("|---|---|---|")
    plain = theirs(fleet, fleet.on("raw")[0])
    for run in range(1, RUNS + 1):
        doomed = fleet.on("bench")[-1]
        seconds = ours(doomed)
        fleet.add("bench.pod", f"fresh{run}")
        rows.append(f"| {run} | {plain if run == 1 else ''} | {seconds:.1f} s |")
    return rows
