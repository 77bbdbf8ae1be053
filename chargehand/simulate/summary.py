"""What a simulation came to."""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil

from pydantic import BaseModel, ConfigDict

from chargehand.simulate.fleet import Pool
from chargehand.simulate.scenario import Scenario

HOUR = 3600.0
SECOND_TIME = "lost with its pod"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Waits(_Part):
    """How long steps waited, in seconds."""

    mean: float
    p50: float
    p95: float
    p99: float
    longest: float


class PoolSummary(_Part):
    """What one pool came to."""

    steps: int
    waits: Waits
    pods_min: int
    pods_mean: float
    pods_max: int
    utilisation: float
    """The share of the slots' time in which they worked."""
    pod_hours: float


class Cost(_Part):
    """What it cost."""

    pods: float
    steps: float
    total: float


class Summary(_Part):
    """What a simulation came to."""

    steps: int
    unfinished: int
    """Steps for which there was no pod until the end."""
    makespan: float
    """Seconds until the last step was done."""
    waits: Waits
    overflow: float
    """The share of the steps that went to a backup."""
    reasons: dict[str, int]
    """Why steps went where they did."""
    pools: dict[str, PoolSummary]
    pod_hours: float
    cost: Cost


def summarise(
    scenario: Scenario, pools: Mapping[str, Pool], reasons: Counter[str], ended: float
) -> Summary:
    """Return the numbers of a simulation that has ended."""
    parts = {name: _pool(pool, ended) for name, pool in pools.items()}
    waits = array("d")
    for pool in pools.values():
        waits.extend(pool.waits)
    steps = sum(number for reason, number in reasons.items() if reason != SECOND_TIME)
    aside = sum(reasons[reason] for reason in ("overflow", "no live pod"))
    hours = sum(part.pod_hours for part in parts.values())
    paid, tokens = hours * scenario.price.pod_hour, steps * scenario.price.step
    return Summary(
        steps=steps,
        unfinished=sum(len(pool.waiting) for pool in pools.values()),
        makespan=round(ended, 3),
        waits=_waits(waits),
        overflow=round(aside / steps, 4) if steps else 0.0,
        reasons=dict(sorted(reasons.items())),
        pools=parts,
        pod_hours=round(hours, 3),
        cost=Cost(pods=round(paid, 2), steps=round(tokens, 2), total=round(paid + tokens, 2)),
    )


def _pool(pool: Pool, ended: float) -> PoolSummary:
    seconds = pool.paid + sum(max(0.0, ended - pod.began) for pod in pool.pods)
    capacity = seconds * pool.slots
    return PoolSummary(
        steps=len(pool.waits),
        waits=_waits(pool.waits),
        pods_min=pool.sizes.least,
        pods_mean=round(pool.sizes.mean(ended), 2),
        pods_max=pool.sizes.most,
        utilisation=round(pool.busy / capacity, 4) if capacity else 0.0,
        pod_hours=round(seconds / HOUR, 3),
    )


def _waits(seconds: Sequence[float]) -> Waits:
    if not seconds:
        return Waits(mean=0.0, p50=0.0, p95=0.0, p99=0.0, longest=0.0)
    ordered = sorted(seconds)

    def below(share: float) -> float:
        return round(ordered[ceil(share * len(ordered)) - 1], 3)

    mean = round(sum(ordered) / len(ordered), 3)
    return Waits(mean=mean, p50=below(0.5), p95=below(0.95), p99=below(0.99), longest=below(1.0))
