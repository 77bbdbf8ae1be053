"""No-op steps, submit to report, against a raw Celery chord of the same width."""

import statistics
import time
from collections.abc import Callable
from uuid import uuid4

from redis import Redis

from bench import raw
from bench.ours import Ours

SIZES = (100, 1_000, 10_000)
REPEATS = {100: 7, 1_000: 5, 10_000: 2}


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _commands(redis: Redis) -> int:
    stats = redis.info("commandstats")
    return sum(each["calls"] for each in stats.values())


def measure(redis: Redis) -> list[str]:
    """Return a table; each row's runs alternate between the two, so that noise hits both."""
    ours = Ours()
    ours.fan_out("noop", 40)
    raw.run(raw.noop, 40, uuid4().hex)
    rows = [
        "| steps | raw chord | ours | ours ÷ raw | ms a step | Redis commands a step, raw / ours |"
    ]
    rows.append("|---|---|---|---|---|---|")
    for size in SIZES:
        mine, theirs, counted = [], [], {}
        for _ in range(REPEATS[size]):
            before = _commands(redis)
            theirs.append(_seconds(lambda: raw.run(raw.noop, size, uuid4().hex)))  # noqa: B023
            between = _commands(redis)
            mine.append(_seconds(lambda: ours.fan_out("noop", size)))  # noqa: B023
            counted = {"raw": between - before, "ours": _commands(redis) - between}
        our, their = statistics.median(mine), statistics.median(theirs)
        commands = f"{counted['raw'] / size:.1f} / {counted['ours'] / size:.1f}"
        rows.append(
            f"| {size:,} | {their:.3f} s | {our:.3f} s | {our / their:.2f} "
            f"| {our / size * 1000:.2f} | {commands} |"
        )
    return rows
