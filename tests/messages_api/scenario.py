"""What a scenario file may say: which requests get which replies, and how the API is set up."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

DEFAULT_KEY = "sk-test-scripted"


class Part(BaseModel):
    """A part of a scenario file; a field it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True)


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as wrong:
        raise ValueError(f"{pattern!r} is no regular expression: {wrong}") from wrong
    return pattern


class Regex(Part):
    """A text that is looked for by pattern, anywhere and over lines."""

    regex: Annotated[str, AfterValidator(_compiles)]


Needle = str | Regex


class When(Part):
    """Which requests a rule is for; all that is given must hold, and nothing given means any."""

    system: Needle | None = None
    user: Needle | None = None  # in any user turn
    last: Needle | None = None  # in the last user turn
    tool_result: Needle | None = None  # in a tool result of the last user turn
    model: Needle | None = None
    output_schema: str | None = Field(None, alias="schema")  # the title of the asked schema
    tools: tuple[str, ...] = ()  # names that must all be offered
    has_tool_results: bool | None = None  # in the last user turn
    stream: bool | None = None
    call: PositiveInt | None = None  # the n-th request that passed the checks
    round: PositiveInt | None = None  # 1 plus the assistant turns so far


class ToolCall(Part):
    """A tool that the model calls; nothing checks that it was offered."""

    name: str
    input: dict[str, Any] = {}


StopReason = Literal[
    "end_turn",
    "max_tokens",
    "model_context_window_exceeded",
    "pause_turn",
    "refusal",
    "stop_sequence",
    "tool_use",
]

# `html_as_json` lies about its type, as some gateways do.
Malformed = Literal["empty", "html", "html_as_json", "not_json", "wrong_shape"]


class Reply(Part):
    """What is sent: content, an error, or a fault on the way."""

    text: str | None = None
    value: Any = Field(None, alias="json")  # `auto` makes a value that fits the asked schema
    tool_use: tuple[ToolCall, ...] = ()
    then: "Reply | None" = None  # for the request that brings the results of `tool_use`
    stop_reason: StopReason | None = None
    usage: dict[str, int] = {}

    status: int | None = Field(None, ge=400, le=599)
    message: str | None = None
    error_code: str | None = None
    retry_after: NonNegativeFloat | None = None
    headers: dict[str, str] = {}

    delay: NonNegativeFloat = 0
    truncate: PositiveInt | None = None  # bytes of the body, or events of a stream, that are sent
    malformed: Malformed | None = None
    pause: NonNegativeFloat = 0  # in the middle of the body or the stream
    disconnect: Literal["before", "during"] | None = None
    stream_error: str | None = None  # the type of an error event in the middle of a stream

    @model_validator(mode="after")
    def _whole(self) -> "Reply":
        if self.then is not None and not self.tool_use:
            raise ValueError("`then` answers the results of `tool_use`, which is not given")
        if self.text is not None and self.value is not None:
            raise ValueError("give `text` or `json`, not both")
        return self


class Rule(Part):
    """A reply for the requests that match, at most `times` times."""

    when: When = When()
    reply: Reply
    times: PositiveInt | None = None


class ModelRules(Part):
    """What one model accepts."""

    min_cache_tokens: NonNegativeInt = 512
    context: PositiveInt = 1_000_000
    max_output: PositiveInt = 128_000
    forced_tools: bool = False
    disabled_thinking: bool = False
    thinking_budget: bool = False
    prefill: bool = False


MODELS = {
    "claude-haiku-5-5": ModelRules(forced_tools=True, disabled_thinking=True),
    "claude-sonnet-5-5": ModelRules(min_cache_tokens=1024),
    "claude-opus-5-5": ModelRules(),
}


class Limits(Part):
    """Rate limits a minute for each model; they are told in headers and not enforced."""

    requests: PositiveInt = 4_000
    input_tokens: PositiveInt = 4_000_000
    output_tokens: PositiveInt = 800_000


class Scenario(Part):
    """A whole scenario file."""

    name: str = "unnamed"
    key: str = DEFAULT_KEY
    models: dict[str, ModelRules] = MODELS
    rules: tuple[Rule, ...] = ()
    default: Reply | None = None
    delay: NonNegativeFloat = 0  # before every reply, besides its own
    limits: Limits = Limits()
    max_body: PositiveInt = 32 * 1024 * 1024


def load(path: Path) -> Scenario:
    """Read a scenario file, named after itself unless it says otherwise."""
    return Scenario.model_validate({"name": path.stem} | (yaml.safe_load(path.read_text()) or {}))
