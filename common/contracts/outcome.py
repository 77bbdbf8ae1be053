"""What comes back for a step: a result, an escalation or a failure; data, never an exception."""

from typing import Annotated, Literal

from pydantic import Field

from common.contracts.base import Confidence, Contract, Engine, JobId, Name, StepId, Text, Version
from common.contracts.finding import Evidence, Finding


class Result(Contract):
    """The work was done: findings, a text, or both."""

    kind: Literal["result"] = "result"
    findings: tuple[Finding, ...] = ()
    text: str = ""
    evidence: tuple[Evidence, ...] = ()
    confidence: Confidence = 100


class Escalation(Contract):
    """The specialist will not or cannot answer, says why, and gives what it has."""

    kind: Literal["escalation"] = "escalation"
    reason: Literal["out_of_scope", "ambiguous_input", "confidence_too_low", "timeout"]
    message: Text
    partial: Result | None = None


class Failure(Contract):
    """The work broke. A transient failure may succeed when tried again."""

    kind: Literal["failure"] = "failure"
    reason: Literal[
        "exception", "timeout", "tool_missing", "bad_input", "cancelled", "lost", "crashed", "model"
    ]
    message: Text
    transient: bool = False


class Usage(Contract):
    """What was consumed of a model."""

    calls: int = Field(default=0, ge=0)
    retries: int = Field(default=0, ge=0)
    """Tries without an answer before a call that had one; some of them may be billed."""
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)
    usd: float = Field(default=0.0, ge=0)

    def __add__(self, other: "Usage") -> "Usage":
        """Return both together."""
        mine, theirs = self.model_dump(), other.model_dump()
        return Usage.model_validate({name: mine[name] + theirs[name] for name in mine})


class Outcome(Contract):
    """What one attempt at a step came to, and who did it."""

    v: Version = 1
    job: JobId
    team: Name
    step: StepId
    attempt: int = Field(ge=1)
    specialist: Name
    """Who did it, which may be a backup of the one that the plan names."""
    engine: Engine
    pod: str
    seconds: float = Field(ge=0)
    usage: Usage = Usage()
    body: Annotated[Result | Escalation | Failure, Field(discriminator="kind")]

    @property
    def answer(self) -> Result | None:
        """What there is to work with: the result, or the partial one of an escalation."""
        match self.body:
            case Result() as result:
                return result
            case Escalation(partial=partial):
                return partial
        return None
