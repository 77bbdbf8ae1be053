"""Requests for the tests of the scripted API."""

from typing import Any

SONNET = "claude-sonnet-5-5"
TOOL: dict[str, Any] = {
    "name": "read_file",
    "description": "Read a file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}


def request(*messages: Any, schema: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the arguments of a call, valid unless what is given makes them not."""
    asked: dict[str, Any] = {
        "model": SONNET,
        "max_tokens": 1000,
        "messages": list(messages) or [{"role": "user", "content": "Hello."}],
    }
    if schema is not None:
        asked["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return asked | fields


def called(*ids: str) -> dict[str, Any]:
    """Return a turn in which the model calls a tool."""
    return {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": one, "name": "read_file", "input": {"path": one}}
            for one in ids
        ],
    }


def result(*ids: str) -> dict[str, Any]:
    """Return the turn with the results of tool calls."""
    return {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": one, "content": f"content of {one}"}
            for one in ids
        ],
    }


def schema(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these properties, all required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
