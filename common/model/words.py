"""What goes through the door to the model, and what comes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from common.contracts import Tier, Usage

Turn = dict[str, Any]
"""One message of a conversation, as the Messages API has it."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool that the model may call."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One call of the model."""

    tier: Tier
    shared: str
    """The beginning that many calls have in common; it is cached by the service."""
    system: str
    """What only this kind of call says; it stands behind the shared beginning."""
    turns: Sequence[Turn]
    tools: Sequence[ToolSpec] = ()
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the answer has to fit, if any."""
    max_tokens: int = 8_000
    goes_on: bool = False
    """Whether another request may begin with these turns, so that they are worth caching."""


@dataclass(frozen=True)
class ToolCall:
    """The model asks for a tool."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the model answered."""

    text: str
    calls: tuple[ToolCall, ...]
    stop_reason: str
    usage: Usage
    model: str
    request_id: str
    turn: Turn = field(repr=False)
    """The answer as a turn, to go on from."""

    @property
    def cut_off(self) -> bool:
        """Whether the answer ended before its end."""
        return self.stop_reason in ("max_tokens", "model_context_window_exceeded")


def said(text: str) -> Turn:
    """Return a user's turn."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}
