"""Requests and replies as the Messages API has them."""

from typing import Any

from common.contracts import Tier, Usage
from common.errors import ModelUnavailable
from common.model.prices import cost
from common.model.words import Reply, Request, ToolCall, Turn

CACHED = {"type": "ephemeral"}
EFFORT: dict[Tier, str | None] = {"haiku": None, "sonnet": "medium", "opus": "high"}
"""How hard a tier thinks; the smallest knows no such setting."""


def parameters(request: Request) -> dict[str, Any]:
    """Return the request as the API takes it, with what is worth it marked for the cache."""
    given: dict[str, Any] = {
        "max_tokens": request.max_tokens,
        "system": [_text(part, cached=True) for part in (request.shared, request.system) if part],
        "messages": _marked(request.turns) if request.goes_on else list(request.turns),
    }
    if request.tools:
        given["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.schema)}
            for t in request.tools
        ]
    output: dict[str, Any] = {}
    if request.schema is not None:
        output["format"] = {"type": "json_schema", "schema": dict(request.schema)}
    if effort := EFFORT[request.tier]:
        output["effort"] = effort
    if output:
        given["output_config"] = output
    return given


def _text(text: str, *, cached: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    return block | {"cache_control": CACHED} if cached else block


def _marked(turns: Any) -> list[Turn]:
    """Return the turns with the end of the last one marked, where the next request goes on."""
    *before, last = turns
    *blocks, end = last["content"]
    return [*before, last | {"content": [*blocks, end | {"cache_control": CACHED}]}]


def reply(message: Any, model: str, request_id: str | None) -> Reply:
    """Return a message in our words, or raise ModelUnavailable when it is none."""
    blocks = message.content
    if not isinstance(blocks, list) or message.usage is None or not message.stop_reason:
        raise ModelUnavailable("the answer has the wrong shape")
    return Reply(
        text="".join(b.text for b in blocks if b.type == "text"),
        calls=tuple(ToolCall(b.id, b.name, _arguments(b)) for b in blocks if b.type == "tool_use"),
        stop_reason=message.stop_reason,
        usage=_usage(message, model),
        model=model,
        request_id=request_id or "",
        turn={"role": "assistant", "content": [_echoed(b) for b in blocks if not _blank(b)]},
    )


def _arguments(block: Any) -> dict[str, Any]:
    """Return a tool's arguments; what is no object becomes an argument that no tool knows."""
    given = block.input
    return given if isinstance(given, dict) else {"malformed": str(given)[:100]}


def _blank(block: Any) -> bool:
    """Tell whether the API would refuse a block that it sent."""
    return block.type == "text" and not block.text.strip()


def _echoed(block: Any) -> dict[str, Any]:
    """Return a block as it is sent back."""
    said: dict[str, Any] = block.model_dump(mode="json", exclude_none=True, warnings=False)
    if block.type == "tool_use":
        said["input"] = _arguments(block)
    return said


def _usage(message: Any, model: str) -> Usage:
    used = message.usage
    return Usage(
        calls=1,
        input_tokens=used.input_tokens or 0,
        output_tokens=used.output_tokens or 0,
        cache_read_tokens=used.cache_read_input_tokens or 0,
        cache_write_tokens=used.cache_creation_input_tokens or 0,
        usd=cost(message.model_dump(mode="json", exclude={"content"}, warnings=False), model),
    )
