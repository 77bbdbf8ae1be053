"""What a pod receives for a step, and all it needs: no plan, no other step, no supervisor."""

from typing import Self

from pydantic import Field, model_validator

from common.contracts.base import Confidence, Contract, JobId, Name, StepId, Text, Tier, Version
from common.contracts.document import Document, Ref, Slice
from common.contracts.outcome import Result
from common.contracts.plan import Budget


class Upstream(Contract):
    """What a step that this one depends on came to; no body means that it was lost."""

    step: StepId
    specialist: Name
    result: Result | None = None
    ref: Ref | None = None
    lost: str = ""
    """Why there is no result, so that the specialist can name the gap."""

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if (self.result is not None) + (self.ref is not None) + bool(self.lost) != 1:
            raise ValueError(f"upstream {self.step!r} needs one of result, ref or lost")
        return self


class Assignment(Contract):
    """The contract of one attempt at one step."""

    v: Version = 1
    job: JobId
    step: StepId
    attempt: int = Field(ge=1)
    team: Name
    specialist: Name
    tools: tuple[Name, ...] = ()
    prompts: tuple[Ref, ...] = ()
    """The team's and the specialist's prompts, stored under their hash; only a model needs them."""
    instruction: Text
    context: str = ""
    criterion: Text
    documents: tuple[Document, ...] = ()
    slices: tuple[Slice, ...] = ()
    upstream: tuple[Upstream, ...] = ()
    validate_below: Confidence = 0
    """Findings less certain than this are looked at a second time."""
    budget: Budget = Budget()
    tier: Tier = "sonnet"
