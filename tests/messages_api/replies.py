"""The messages that scripted replies become."""

import json
from typing import Any

from tests.messages_api.asked import Asked
from tests.messages_api.cache import Counted, tokens
from tests.messages_api.refusal import Refused
from tests.messages_api.scenario import Reply
from tests.messages_api.schema_values import example


def message(reply: Reply, asked: Asked, counted: Counted, request_id: str) -> dict[str, Any]:
    """Return the message that answers a request, cut where its max_tokens end."""
    number = request_id.removeprefix("req_")
    content, cut = _content(reply, asked, number)
    stop_reason = reply.stop_reason or ("max_tokens" if cut else _usual_stop(reply))
    written = sum(tokens(json.dumps(block)) for block in content)
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": _stop_details(stop_reason),
        "usage": {
            **counted.usage(),
            "output_tokens": min(max(1, written), asked.body["max_tokens"]),
            "service_tier": "standard",
            **reply.usage,
        },
    }


def _usual_stop(reply: Reply) -> str:
    return "tool_use" if reply.tool_use else "end_turn"


def _stop_details(stop_reason: str) -> dict[str, Any] | None:
    if stop_reason != "refusal":
        return None
    return {"type": "refusal", "category": None, "explanation": "scripted refusal"}


def _content(reply: Reply, asked: Asked, number: str) -> tuple[list[dict[str, Any]], bool]:
    content: list[dict[str, Any]] = []
    text, cut = _text(reply, asked), False
    if text is not None:
        allowed = asked.body["max_tokens"] * 4
        cut = len(text) > allowed
        content.append({"type": "text", "text": text[:allowed]})
    for position, call in enumerate(reply.tool_use):
        content.append(
            {
                "type": "tool_use",
                "id": f"toolu_{number}_{position}",
                "name": call.name,
                "input": call.input,
            }
        )
    return content, cut


def _text(reply: Reply, asked: Asked) -> str | None:
    if reply.value is None:
        return reply.text
    value = reply.value
    if value == "auto":
        if asked.schema is None:
            raise Refused(f"the scenario says `json: auto`, but no schema is asked for: {asked}")
        value = example(asked.schema)
    text = json.dumps(value)
    # A JSON answer that runs out of tokens ends somewhere in the middle.
    return text[: len(text) // 2] if reply.stop_reason == "max_tokens" else text
