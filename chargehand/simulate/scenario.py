"""What is to be simulated, checked."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from common.contracts import Team
from common.contracts.base import Contract, Name
from common.contracts.team import Routing
from common.errors import InputError
from common.scale import Policy

MAX_BYTES = 64 * 1024
MAX_STEPS = 20_000_000

Positive = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class Arrivals(Contract):
    """How steps come in: so many together, as the ready steps of one job do."""

    pattern: Literal["steady", "burst", "wave"] = "steady"
    """At a constant rate, all at once, or as day and night; jobs come at random."""
    rate: Positive = 10.0
    """Steps a second in the mean; not for bursts."""
    batch: int = Field(default=1, ge=1, le=1_000_000)
    """Steps of one job, or of one burst."""
    every: Positive | None = None
    """Seconds from one burst to the next; else there is one."""
    swing: float = Field(default=0.8, ge=0, le=1)
    """How far a wave goes above and below its mean."""
    period: Positive = 86_400.0
    """Seconds of one wave."""


class StepTime(Contract):
    """How long steps take."""

    shape: Literal["constant", "exponential", "lognormal"] = "constant"
    mean: Positive = 1.0
    spread: Annotated[float, Field(gt=0, le=5)] = 1.0
    """The sigma of a lognormal time: 1 makes one step in twenty take three times the mean."""


class Pool(Contract):
    """The pods of one specialist."""

    pods: int = Field(default=1, ge=0, le=100_000)
    slots: int = Field(default=20, ge=1, le=10_000)
    step: StepTime = StepTime()
    share: NotNegative = 1.0
    """Its part of the steps that come; 0 is a pool that only stands in for others."""
    backups: tuple[Name, ...] = ()


class Autoscale(Contract):
    """How pools grow and shrink; each starts with its own number of pods."""

    min: int = Field(default=0, ge=0, le=100_000)
    max: int = Field(default=8, ge=1, le=100_000)
    target_wait: NotNegative = 5.0
    cool_down: NotNegative = 10.0

    def policy(self) -> Policy:
        """Return the same for the function that decides."""
        return Policy(self.min, self.max, self.target_wait, self.cool_down)


class Loss(Contract):
    """Pods that die at some time, with their steps."""

    at: NotNegative
    pool: Name
    pods: int = Field(default=1, ge=1)


class Prices(Contract):
    """What things cost."""

    pod_hour: NotNegative = 0.0
    step: NotNegative = 0.0
    """For the tokens of one step."""


class Scenario(Contract):
    """A fleet, what it is given to do, and what happens to it."""

    seed: int = 1
    seconds: Positive = 600.0
    """How long steps come in; the simulation ends when all are done."""
    arrivals: Arrivals = Arrivals()
    pools: dict[Name, Pool] = Field(min_length=1, max_length=1000)
    routing: Routing = Routing()
    autoscale: Autoscale | None = None
    start_up: NotNegative = 5.0
    """Seconds from asking for a pod to its first step."""
    overhead: NotNegative = 0.0
    """Seconds that each step takes its slot beside its own time."""
    lost: tuple[Loss, ...] = ()
    price: Prices = Prices()

    @model_validator(mode="after")
    def _sound(self) -> Self:
        known = ", ".join(sorted(self.pools))
        for loss in self.lost:
            if loss.pool not in self.pools:
                raise ValueError(f"lost names pool {loss.pool!r}; known are: {known}")
        if not any(pool.share for pool in self.pools.values()):
            raise ValueError("no pool has a share of the steps; give one a share above 0")
        if self.autoscale and self.autoscale.min > self.autoscale.max:
            raise ValueError(f"autoscale: min {self.autoscale.min} is above max; lower it")
        if self.expected() > MAX_STEPS:
            raise ValueError(
                f"about {self.expected():,.0f} steps would come, {MAX_STEPS:,} are the most; "
                "lower the rate, the batch or the seconds"
            )
        self.team()
        return self

    def expected(self) -> float:
        """Return about how many steps come."""
        given = self.arrivals
        if given.pattern != "burst":
            return given.rate * self.seconds
        return given.batch * (1 + self.seconds // given.every if given.every else 1)

    def team(self) -> Team:
        """Return a team with one specialist for each pool, for the function that routes."""
        text = "Take part in a simulation."
        fixed = {"description": text, "prompt": text, "instruction": text, "criterion": text}
        return Team.model_validate(
            {
                "name": "simulated",
                "description": text,
                "final_instruction": text,
                "plan": {"by": "files"},
                "specialists": {
                    name: {**fixed, "backups": pool.backups} for name, pool in self.pools.items()
                },
                "routing": self.routing,
            }
        )


def read(file: Path) -> Scenario:
    """Return the scenario that a YAML file describes, or say which field of it is wrong."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise InputError(f"{file}: is over {MAX_BYTES // 1024} KiB; shorten it")
        raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(raw, dict):
        raise InputError(f"{file}: is empty or no mapping; start with `pools:`")
    return check(raw, str(file))


def check(raw: dict[str, Any], where: str) -> Scenario:
    """Return the scenario that these values make, or say which of them is wrong."""
    try:
        return Scenario.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{where}: {'; '.join(_faults(error))}") from None


def _faults(error: ValidationError) -> list[str]:
    said = {"extra_forbidden": "is no known field; remove it or correct its spelling"}
    faults = []
    for each in error.errors(include_url=False, include_input=False):
        field = ".".join(str(part) for part in each["loc"])
        told = said.get(each["type"], each["msg"].removeprefix("Value error, "))
        faults.append(f"{field}: {told}" if field else told)
    return faults
