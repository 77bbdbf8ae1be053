"""What a process counts about its work; off, and free, until something is there to serve it.

Labels are names of teams, specialists, queues and closed sets of words: never an id, never a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from common.contracts import Outcome

if TYPE_CHECKING:
    from common.meters import Meters


@dataclass(frozen=True)
class Gauge:
    """What a number is about that is read when it is asked for."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """Such a number, with its labels."""

    name: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


UP = Gauge("chargehand_up", "Whether Redis answers this process: 1 or 0.")

_meters: "Meters | None" = None


def enable() -> "Meters":
    """Count from now on, and return what holds the numbers; needs prometheus-client."""
    global _meters
    if _meters is None:
        # Only a process that serves metrics pays for the library.
        from common.meters import Meters

        _meters = Meters()
    return _meters


def waited(queue: str, seconds: float) -> None:
    """Take note of how long a step was on its queue."""
    if _meters is not None:
        _meters.waits.of(queue).observe(seconds)


def step(outcome: Outcome) -> None:
    """Count an outcome that the store took."""
    if _meters is None:
        return
    team, specialist, usage = outcome.team, outcome.specialist, outcome.usage
    _meters.steps.of(team, specialist, outcome.engine, outcome.body.kind).inc()
    _meters.step_seconds.of(specialist).observe(outcome.seconds)
    if usage.input_tokens or usage.output_tokens:
        _meters.tokens.of(team, specialist, "input").inc(usage.input_tokens)
        _meters.tokens.of(team, specialist, "output").inc(usage.output_tokens)
    if usage.cache_read_tokens:
        _meters.cache_reads.of(team, specialist).inc(usage.cache_read_tokens)
    if usage.usd:
        _meters.cost.of(team, specialist).inc(usage.usd)


def job(team: str, state: str, seconds: float) -> None:
    """Count a job that has ended: done, partial, cancelled or failed."""
    if _meters is not None:
        _meters.jobs.of(team, state).inc()
        _meters.job_seconds.of(team).observe(max(0.0, seconds))


def reconciled(act: str) -> None:
    """Count something that the reconciler had to do."""
    if _meters is not None:
        _meters.acts.of(act).inc()


def refused() -> None:
    """Count a message that was refused."""
    if _meters is not None:
        _meters.refused.inc()
