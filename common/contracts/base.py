"""What every contract is: frozen, closed to unknown fields, and versioned at its top."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Engine = Literal["claude", "rules"]
Tier = Literal["haiku", "sonnet", "opus"]

Version = Literal[1]
"""The contract version that this code speaks; another one is refused by validation."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,62}$")]
"""A team's, specialist's, tool's or queue's name."""

StepId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
JobId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{8,32}$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Confidence = Annotated[int, Field(ge=0, le=100)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class Contract(BaseModel):
    """A value that crosses a process boundary."""

    model_config = ConfigDict(frozen=True, extra="forbid")
