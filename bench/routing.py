"""A burst at one queue with a backup, the speed of routing and of reading loads, and scaling."""

import time
from collections.abc import Callable
from statistics import median

from bench.fleet import Fleet
from bench.ours import SPECIALISTS, Ours
from common.contracts import Step, Team
from common.contracts.team import ByFiles, Routing
from common.store import Load
from supervisor.route import route

BURST = 200
SLOTS = 10


def _p95(waits: list[float]) -> float:
    return sorted(waits)[int(len(waits) * 0.95)]


def _burst(ours: Ours, queues: dict[str, str], routing: Routing) -> float:
    """Return the 95th percentile of the waits in a burst of steps that take 0.2 s."""
    wait = SPECIALISTS["wait"].model_copy(
        update={"queue": queues["primary"], "backups": ("spare",)}
    )
    spare = SPECIALISTS["wait"].model_copy(update={"queue": queues["backup"]})
    job = ours.submit(
        "wait",
        {f"s{n}": () for n in range(BURST)},
        specialists={"wait": wait, "spare": spare},
        routing=routing,
    )
    ours.ended(job)
    events = ours.office.store.trace.read(job)
    return _p95([e.data["waited"] for e in events if e.event == "started"])


def bursts(fleet: Fleet) -> list[str]:
    """Compare routing by load with static routing, and both with one ideal shared pool."""
    ours = Ours()
    for queue in ("busy", "spare", "shared", "shared"):
        fleet.add("bench.pod", f"{queue}-{time.monotonic_ns()}", queue, SLOTS)
    while (
        sum(
            load.slots
            for load in ours.office.store.loads.read(["busy", "spare", "shared"]).values()
        )
        < 4 * SLOTS
    ):
        time.sleep(0.05)
    apart = {"primary": "busy", "backup": "spare"}
    shared = _burst(ours, {"primary": "shared", "backup": "shared"}, Routing(by="static"))
    static = _burst(ours, apart, Routing(by="static"))
    by_load = _burst(ours, apart, Routing(overflow_seconds=0))
    return [
        "| 200 steps of 0.2 s at once | p95 wait | ÷ the shared pool |",
        "|---|---|---|",
        f"| one shared pool of 20 slots | {shared:.2f} s | 1 |",
        f"| 10 slots and a backup of 10, by load | {by_load:.2f} s | {by_load / shared:.2f} |",
        f"| 10 slots and a backup of 10, static | {static:.2f} s | {static / shared:.2f} |",
    ]


def _milliseconds(action: Callable[[], object], runs: int = 50) -> float:
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return median(times) * 1000


def speeds(fleet: Fleet) -> list[str]:
    """Time the routing of 1,000 steps over 50 queues, and the reading of 50 queues' load."""
    ours = Ours()
    names = [f"q{n}" for n in range(50)]
    specialists = {
        name: SPECIALISTS["noop"].model_copy(
            update={"queue": name, "backups": (names[(n + 1) % 50], names[(n + 2) % 50])}
        )
        for n, name in enumerate(names)
    }
    team = Team(
        name="bench",
        description="A team for measuring.",
        final_instruction="Count what came back.",
        plan=ByFiles(by="files"),
        specialists=specialists,
        routing=Routing(overflow_seconds=0.1),
    )
    loads = {n: Load(n, waiting=i, running=5, slots=10, mean=0.3) for i, n in enumerate(names)}
    text = "Do as the tool of this specialist does."
    steps = [
        Step(id=f"s{n}", specialist=names[n % 50], instruction=text, criterion=text)
        for n in range(1000)
    ]

    def lengths() -> object:
        with fleet.redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.llen(name)
            return pipe.execute()

    routing = _milliseconds(lambda: route(steps, team, loads))
    reading = _milliseconds(lambda: ours.office.store.loads.read(names))
    llen = _milliseconds(lengths)
    return [
        "| what | ms |",
        "|---|---|",
        f"| route 1,000 steps over 50 queues, two backups each | {routing:.1f} |",
        f"| read the load of 50 queues | {reading:.2f} |",
        f"| pipelined LLEN over 50 queues | {llen:.2f} ({reading / llen:.2f} times less) |",
    ]


def scaling(fleet: Fleet) -> list[str]:
    """Time a load of steps that wait on one pod, and on four."""
    ours = Ours()
    rows = ["| pods of 10 slots | 400 steps of 0.2 s | times as fast |", "|---|---|---|"]
    first = 0.0
    for pods in (1, 4):
        queue = f"scaled{pods}"
        for number in range(pods):
            fleet.add("bench.pod", f"{queue}-{number}", queue, SLOTS)
        while ours.office.store.loads.read([queue])[queue].pods < pods:
            time.sleep(0.05)
        wait = SPECIALISTS["wait"].model_copy(update={"queue": queue})
        job = ours.submit("wait", {f"s{n}": () for n in range(400)}, specialists={"wait": wait})
        report = ours.ended(job).report
        took = report.timings.makespan if report else 0.0
        first = first or took
        rows.append(f"| {pods} | {took:.2f} s | {first / took:.2f} |")
    return rows
