"""The server-sent events that a streamed message comes in."""

import json
from collections.abc import Iterator
from typing import Any

STEP = 24  # characters of a delta


def stream(message: dict[str, Any], error: str | None = None) -> list[bytes]:
    """Return the events of a message, with an error in the middle if one is scripted."""
    found = [_event(event) for event in _events(message)]
    if error is None:
        return found
    body = {"type": "error", "error": {"type": error, "message": f"scripted {error}"}}
    return [*found[: len(found) // 2], _event(body)]


def _event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    usage = message["usage"]
    start = {
        **message,
        "content": [],
        "stop_reason": None,
        "stop_details": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    end = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    counted = {key: value for key, value in usage.items() if key.endswith("_tokens")}
    yield {"type": "message_delta", "delta": end, "usage": counted}
    yield {"type": "message_stop"}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        empty, kind, key, whole = {**block, "text": ""}, "text_delta", "text", block["text"]
    else:
        empty, kind, key = {**block, "input": {}}, "input_json_delta", "partial_json"
        whole = json.dumps(block["input"])
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for at in range(0, len(whole), STEP):
        delta = {"type": kind, key: whole[at : at + STEP]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
