"""Random graphs of steps that wait 0.2 s, against their critical path and against waves."""

import random
import time
from uuid import uuid4

from bench import raw
from bench.ours import Ours
from bench.pod import WAIT

SEEDS = (1, 2, 3)
STEPS = 40
NEEDS = (0, 1, 1, 2, 3)


def random_graph(seed: int, steps: int = STEPS) -> dict[str, tuple[str, ...]]:
    """Return steps that each need up to three of the ones before; the same for the same seed."""
    chance = random.Random(seed)
    names = [f"s{n}" for n in range(steps)]
    return {
        name: tuple(
            chance.sample(names[max(0, n - 12) : n], min(n, chance.choice((0, 1, 1, 2, 3))))
        )
        for n, name in enumerate(names)
    }


def levels(needs: dict[str, tuple[str, ...]]) -> list[int]:
    """Return how many steps stand on each level: as far down as the longest chain above them."""
    level: dict[str, int] = {}
    for step, needed in needs.items():
        level[step] = 1 + max((level[n] for n in needed), default=-1)
    return [list(level.values()).count(n) for n in range(max(level.values()) + 1)]


def measure() -> list[str]:
    """Return a table; waves are raw chords, level by level, each starting when the last is done."""
    ours = Ours()
    rows = [
        "| graph | levels | critical path | waves of raw chords | ours | ours ÷ critical path |"
    ]
    rows.append("|---|---|---|---|---|---|")
    for seed in SEEDS:
        needs = random_graph(seed)
        widths = levels(needs)
        began = time.perf_counter()
        for width in widths:
            raw.run(raw.wait, width, uuid4().hex)
        waves = time.perf_counter() - began
        report = ours.graph("wait", needs).report
        assert report is not None
        took, path = report.timings.makespan, len(widths) * WAIT
        rows.append(
            f"| seed {seed}, {len(needs)} steps | {len(widths)} | {path:.2f} s | {waves:.2f} s "
            f"| {took:.2f} s | {took / path:.3f} |"
        )
    return rows
