"""A team as data: what `team.yaml` says, checked."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from common.contracts.base import Confidence, Contract, Name, Seconds, StepId, Text, Tier, Version
from common.contracts.plan import Budget


class Specialist(Contract):
    """One narrow role with its own tools and its own queue."""

    description: Text
    prompt: Text
    """The prompt's text; in `team.yaml` the Markdown file that holds it."""
    instruction: Text
    """What a step asks for."""
    criterion: Text
    """How to tell that the step is done."""
    tools: tuple[Name, ...] = ()
    languages: tuple[str, ...] = ()
    """Only documents in these languages concern it; none named means every known one."""
    needs: Literal["guidelines", "notes"] | None = None
    """What must be at hand for this specialist to be of use."""
    queue: Name | None = None
    """Its queue; the specialist's own name unless given."""
    backups: tuple[Name, ...] = ()
    """Specialists that do its steps, each in its own way, when it cannot do them soon enough."""
    tier: Tier = "sonnet"
    budget: Budget = Budget()


class ByFiles(Contract):
    """Plan one step for each specialist and each batch of documents that concern it."""

    by: Literal["files"]
    batch_lines: int = Field(default=600, ge=1)
    """Small documents share a step up to this many lines; a larger one is split at it."""


class GraphStep(Contract):
    """A step of a fixed graph; the specialist gives instruction and criterion."""

    id: StepId
    specialist: Name
    depends_on: tuple[StepId, ...] = ()
    documents: bool = False
    """Whether the step sees the job's documents, besides what its dependencies found."""


class ByGraph(Contract):
    """Plan the same graph of steps for every job."""

    by: Literal["graph"]
    steps: tuple[GraphStep, ...] = Field(min_length=1)


class TeamLimits(Contract):
    """What one job of this team may use."""

    steps: int = Field(default=500, ge=1, le=20_000)
    seconds: Seconds = 1800.0
    tries: int = Field(default=3, ge=1, le=3)
    """How often a step is attempted before it is given up."""


class Prompts(Contract):
    """What a model is told for the whole team; in `team.yaml` the files that hold it."""

    shared: str = ""
    """The beginning of every specialist's prompt."""
    plan: str = ""
    """How to plan: what makes a good step, with examples."""
    write: str = ""
    """How to write the report."""


class Generalist(Contract):
    """Who does the steps of specialists that a planner proposes and the team lacks."""

    queue: Name
    tools: tuple[Name, ...] = ()
    """The tools that such a specialist may be given."""
    most: int = Field(default=3, ge=1, le=20)
    """How many such specialists one plan may propose."""


class Routing(Contract):
    """When a step goes to a backup."""

    by: Literal["load", "static"] = "load"
    """`static` always takes the specialist that the plan names."""
    overflow_seconds: float = Field(default=5.0, ge=0, allow_inf_nan=False)
    """A backup is taken when the wait would be longer than this."""


class Team(Contract):
    """A roster, how to plan, how to aggregate, and limits."""

    v: Version = 1
    name: Name
    description: Text
    final_instruction: Text
    plan: Annotated[ByFiles | ByGraph, Field(discriminator="by")]
    specialists: dict[Name, Specialist] = Field(min_length=1)
    when_lost: Literal["skip", "run"] = "skip"
    """What becomes of a step when one that it depends on is lost."""
    prompts: Prompts = Prompts()
    generalist: Generalist | None = None
    validate_below: Confidence = 0
    """Findings of a model less certain than this are looked at a second time, by a cheap one."""
    critique: bool = False
    """Whether a model's report is checked against the outcomes before it is delivered."""
    routing: Routing = Routing()
    limits: TeamLimits = TeamLimits()

    @model_validator(mode="after")
    def _sound_backups(self) -> Self:
        for name, specialist in self.specialists.items():
            for backup in specialist.backups:
                if backup == name:
                    raise ValueError(f"specialists.{name}.backups: it names itself; remove that")
                if backup not in self.specialists:
                    known = ", ".join(sorted(self.specialists))
                    raise ValueError(
                        f"specialists.{name}.backups: no specialist {backup!r}; known are: {known}"
                    )
        return self

    @model_validator(mode="after")
    def _sound_graph(self) -> Self:
        steps = self.plan.steps if isinstance(self.plan, ByGraph) else ()
        known = ", ".join(sorted(self.specialists))
        above: set[str] = set()
        for step in steps:
            if step.specialist not in self.specialists:
                raise ValueError(
                    f"plan step {step.id!r} names specialist {step.specialist!r}; "
                    f"the team has: {known}"
                )
            if step.id in above:
                raise ValueError(f"two plan steps are named {step.id!r}; rename one")
            for needed in step.depends_on:
                if needed not in above:
                    raise ValueError(
                        f"plan step {step.id!r} depends on {needed!r}, which is not above it; "
                        "list a step below all that it needs"
                    )
            above.add(step.id)
        return self

    def queue(self, specialist: str) -> str:
        """Return the queue that a specialist's steps go to."""
        return self.specialists[specialist].queue or specialist
