"""Small cases of the simulation are compared with the same case in real processes."""

import io
from collections.abc import Iterator
from statistics import mean

import pytest

from chargehand.simulate import Scenario, Summary, run
from chargehand.stack import redis_server
from chargehand.stack.log import MergedLog
from common.contracts import Team
from common.contracts.team import Routing
from common.store import StepRecord
from tests.fleet import Fleet, team

STEPS, SLOTS = 60, 5
GRAPH = {f"s{n}": ("wait", ()) for n in range(STEPS)}


@pytest.fixture(scope="module")
def small_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A supervisor, two pods of five slots, and one that serves as a backup."""
    folder = tmp_path_factory.mktemp("fleet")
    with redis_server.running(folder / "redis", MergedLog(io.StringIO(), ["redis"])) as server:
        made = Fleet(server.url, folder)
        made.supervisor()
        for queue in ("tests", "tests", "spare"):
            made.pod(SLOTS, queue)
        made.ready()
        yield made
        made.stop()


def simulated(records: list[StepRecord], **pools: dict[str, object]) -> Summary:
    """Simulate a burst on these pools; how long a step takes here is not what is simulated."""
    step = {"mean": mean((r.ended or 0.0) - (r.started or 0.0) for r in records)}
    return run(
        Scenario.model_validate(
            {
                "arrivals": {"pattern": "burst", "batch": STEPS},
                "pools": {n: {"slots": SLOTS, "step": step, **pool} for n, pool in pools.items()},
                "routing": {"overflow_seconds": 0},
            }
        )
    )


def compare(records: list[StepRecord], seen: Summary) -> None:
    """Hold what was simulated against what was."""
    waits = sorted((r.started or 0.0) - (r.queued or 0.0) for r in records)
    makespan = max(r.ended or 0.0 for r in records) - min(r.queued or 0.0 for r in records)
    real = {"makespan": makespan, "p95": waits[int(0.95 * STEPS) - 1]}

    assert {"makespan": seen.makespan, "p95": seen.waits.p95} == pytest.approx(real, rel=0.25)


def ran(fleet: Fleet, made: Team) -> list[StepRecord]:
    job = fleet.submit(made)
    fleet.ended(job)
    return list(fleet.store.steps.records(job).values())


def test_a_burst_takes_as_long_as_the_simulation_says(small_fleet: Fleet) -> None:
    records = ran(small_fleet, team(GRAPH))

    seen = simulated(records, tests={"pods": 2})

    compare(records, seen)


def test_a_burst_overflows_to_a_backup_as_the_simulation_says(small_fleet: Fleet) -> None:
    plain = team(GRAPH)
    wait = plain.specialists["wait"]
    own = {
        "wait": wait.model_copy(update={"backups": ("spare",)}),
        "spare": wait.model_copy(update={"queue": "spare"}),
    }
    routed = {"specialists": own, "routing": Routing(overflow_seconds=0)}
    records = ran(small_fleet, plain.model_copy(update=routed))

    pools = {"tests": {"pods": 2, "backups": ["spare"]}, "spare": {"pods": 1, "share": 0}}
    seen = simulated(records, **pools)

    compare(records, seen)
    aside = sum(record.queue == "spare" for record in records) / STEPS
    assert seen.overflow == pytest.approx(aside, abs=0.1)
