"""Hundreds of jobs while processes and Redis are killed at random: `make chaos`.

Ends with a table, and with exit code 1 when a job was lost or stuck or an outcome counted twice.
"""

import argparse
import collections
import contextlib
import io
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from chargehand.stack import redis_server
from chargehand.stack.log import MergedLog
from common.contracts.team import TeamLimits
from common.errors import ChargehandError
from common.store import Event
from common.store.connection import connect
from tests.fleet import Fleet, team

BEHAVIOURS = ("succeed", "succeed", "wait", "wait", "flaky", "broken")
PAUSE = 8.0
"""Seconds for which a process is stopped: longer than its leases last."""


@dataclass
class Tally:
    """What was done to the fleet, and when."""

    kills: collections.Counter[str] = field(default_factory=collections.Counter)
    pods: dict[str, float] = field(default_factory=dict)
    """When each pod was killed or stopped, by the id that it announces."""


class Chaos:
    """Keeps a fleet of two supervisors and three pods alive while killing it."""

    def __init__(self, fleet: Fleet, redis_folder: Path, chance: random.Random) -> None:
        self.fleet = fleet
        self.tally = Tally()
        self._redis_folder = redis_folder
        self._chance = chance
        self._roles = {"supervisor": fleet.supervisor, "pod": fleet.pod}
        self._running: dict[str, list[subprocess.Popen[bytes]]] = {
            "supervisor": [fleet.supervisor() for _ in range(2)],
            "pod": [fleet.pod() for _ in range(3)],
        }

    def tend(self) -> None:
        """Start again what has ended, as whatever runs pods does."""
        for role, processes in self._running.items():
            for index, process in enumerate(processes):
                if process.poll() is not None:
                    processes[index] = self._roles[role]()

    def strike(self) -> None:
        """Do one thing that a night can bring."""
        acts = {"kill": 6, "stop": 2, "terminate": 2, "connections": 2}
        act = self._chance.choices(list(acts), list(acts.values()))[0]
        if act == "connections":
            with contextlib.suppress(ChargehandError), connect(self.fleet.url) as client:
                client.client_kill_filter(_type="normal", skipme=True)
            self.tally.kills["all connections cut"] += 1
            return
        role = self._chance.choice(("pod", "pod", "supervisor"))
        process = self._chance.choice(self._running[role])
        if process.poll() is None:
            getattr(self, f"_{act}")(role, process)

    def _note(self, kind: str, process: subprocess.Popen[bytes]) -> None:
        self.tally.kills[kind] += 1
        self.tally.pods[f"-{process.pid}"] = self.fleet.store.fleet.now()

    def _kill(self, role: str, process: subprocess.Popen[bytes]) -> None:
        self._note(f"{role} killed", process)
        process.kill()

    def _terminate(self, role: str, process: subprocess.Popen[bytes]) -> None:
        self.tally.kills[f"{role} told to stop"] += 1
        process.terminate()

    def _stop(self, role: str, process: subprocess.Popen[bytes]) -> None:
        self._note(f"{role} paused", process)
        process.send_signal(signal.SIGSTOP)
        threading.Timer(PAUSE, process.send_signal, [signal.SIGCONT]).start()


def random_graph(chance: random.Random) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return a small graph of steps that succeed, wait, fail at first, or fail for good."""
    names = [f"s{n}" for n in range(chance.randint(3, 12))]
    return {
        name: (
            chance.choice(BEHAVIOURS),
            tuple(sorted(chance.sample(names[:n], min(n, chance.choice((0, 0, 1, 2)))))),
        )
        for n, name in enumerate(names)
    }


def recoveries(events: list[Event], struck: dict[str, float]) -> list[float]:
    """Return how long each step that ran on a struck pod took until it ran again."""
    found = []
    started = [e for e in events if e.event == "started"]
    for event in started:
        at = next((t for pod, t in struck.items() if event.data["pod"].endswith(pod)), None)
        if at is None or event.time > at:
            continue
        ended = [e.time for e in events if e.event == "outcome" and e.step == event.step]
        again = [e.time for e in started if e.step == event.step and e.time > at]
        if again and not any(event.time <= t <= at for t in ended):
            found.append(again[0] - at)
    return found


def run(jobs: int, seed: int, every: float) -> int:
    """Run the chaos and print its table; return the exit code."""
    chance = random.Random(seed)
    print(f"seed {seed}: {jobs} jobs, a strike every {every:g} s", flush=True)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        log = MergedLog(io.StringIO(), ["redis"])
        server = stack.enter_context(redis_server.running(folder / "redis", log, persistent=True))
        fleet = Fleet(server.url, folder)
        stack.callback(fleet.stop)
        chaos = Chaos(fleet, folder / "redis", chance)
        fleet.ready()
        ids = _submit_under_fire(chaos, jobs, every, chance)
        stuck = _settle(chaos, ids)
        return _report(fleet, ids, stuck, chaos.tally)


def _submit_under_fire(chaos: Chaos, jobs: int, every: float, chance: random.Random) -> list[str]:
    ids: list[str] = []
    struck = time.monotonic()
    while len(ids) < jobs:
        made = team(random_graph(chance), limits=TeamLimits(seconds=240))
        made = made.model_copy(update={"when_lost": chance.choice(("skip", "run"))})
        ids.append(chaos.fleet.submit(made))
        chaos.tend()
        if time.monotonic() - struck >= every:
            struck = time.monotonic()
            chaos.strike()
        time.sleep(0.15)
    return ids


def _settle(chaos: Chaos, ids: list[str], within: float = 120.0) -> list[str]:
    """Wait for all jobs while the fleet is kept alive; return those that do not end."""
    ends = time.monotonic() + within
    left = list(ids)
    while left and time.monotonic() < ends:
        chaos.tend()
        left = [job for job in left if not chaos.fleet.store.jobs.state(job).ended]
        time.sleep(0.2)
    return left


def _report(fleet: Fleet, ids: list[str], stuck: list[str], tally: Tally) -> int:
    twice, repeated, recovered, lost = 0, 0, [], 0
    for job in ids:
        try:
            events = fleet.store.trace.read(job)
        except ChargehandError:
            lost += 1
            continue
        counted = collections.Counter(
            (e.step, e.data["attempt"]) for e in events if e.event == "outcome"
        )
        delivered = sum(e.event == "delivered" for e in events)
        twice += sum(n - 1 for n in counted.values()) + max(0, delivered - 1)
        starts = collections.Counter(
            (e.step, e.data["attempt"]) for e in events if e.event == "started"
        )
        lost_attempts = sum(e.event == "lost" for e in events)
        repeated += lost_attempts + sum(n - 1 for n in starts.values())
        recovered += recoveries(events, tally.pods)
    rows = [("jobs", len(ids)), *sorted(tally.kills.items())]
    rows += [("lost", lost), ("stuck", len(stuck)), ("counted twice", twice)]
    rows += [("steps run more than once", repeated)]
    if recovered:
        ordered = sorted(recovered)
        rows.append(("recoveries", len(ordered)))
        rows.append(("  median", f"{statistics.median(ordered):.1f} s"))
        rows.append(("  95th percentile", f"{ordered[int(len(ordered) * 0.95)]:.1f} s"))
        rows.append(("  longest", f"{ordered[-1]:.1f} s"))
    print("\n".join(f"| {name} | {value} |" for name, value in rows), flush=True)
    for job in stuck[:3]:
        print(f"\nstuck {job}:\n{fleet.told(job)}")
    return 1 if lost or stuck or twice else 0


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--every", type=float, default=1.5)
    given = parser.parse_args()
    sys.exit(run(given.jobs, given.seed, given.every))


if __name__ == "__main__":
    main()
