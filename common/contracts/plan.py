"""A job's plan: a graph of steps, plain JSON that a person can read before it runs."""

from typing import Literal

from pydantic import Field

from common.contracts.base import Contract, Engine, Name, Seconds, StepId, Text, Tier, Version
from common.contracts.document import Exclusion, Slice


class Budget(Contract):
    """What one step may use."""

    tokens: int = Field(default=50_000, ge=0)
    seconds: Seconds = 120.0


class Step(Contract):
    """One piece of work for one specialist."""

    id: StepId
    specialist: Name
    instruction: Text
    context: str = ""
    criterion: Text
    inputs: tuple[Slice, ...] = ()
    depends_on: tuple[StepId, ...] = ()
    budget: Budget = Budget()
    tier: Tier = "sonnet"


class Plan(Contract):
    """Steps, how their outcomes become one report, and what no step looks at."""

    v: Version = 1
    goal: Text
    strategy: Literal["merge"] = "merge"
    final_instruction: Text
    planner: Engine
    steps: tuple[Step, ...]
    excluded: tuple[Exclusion, ...] = ()
