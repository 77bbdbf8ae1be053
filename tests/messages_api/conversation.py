"""What the API refuses in the turns of a conversation."""

from collections.abc import Iterator
from typing import Any

from tests.messages_api.asked import blocks, merged
from tests.messages_api.refusal import Refused

FIELDS = {
    "text": {"cache_control", "citations", "text", "type"},
    "tool_use": {"cache_control", "caller", "id", "input", "name", "toolset_name", "type"},
    "tool_result": {
        "cache_control",
        "content",
        "is_error",
        "tool_use_id",
        "toolset_name",
        "type",
    },
}
USER_BLOCKS = ("text", "image", "document", "search_result", "tool_result")
ASSISTANT_BLOCKS = ("text", "thinking", "redacted_thinking", "tool_use")
RESULT_BLOCKS = ("text", "image", "document", "search_result")
BY_ROLE = {"user": USER_BLOCKS, "assistant": ASSISTANT_BLOCKS, "system": ("text",)}


def check_system(system: Any) -> None:
    """Refuse a system prompt that is no text."""
    if system is not None:
        _check_blocks(system, "system", ("text",))


def check(messages: list[Any], *, prefill: bool) -> None:
    """Refuse turns in a wrong order, empty content, and tool calls without their results."""
    if not messages:
        raise Refused("messages: at least one message is required")
    for number, message in enumerate(messages):
        _check_message(message, f"messages.{number}")
    if messages[0]["role"] != "user":
        raise Refused('messages: first message must use the "user" role')
    turns = merged(messages)
    _check_ids(turns)
    _check_results(turns)
    if turns[-1]["role"] == "assistant" and not prefill:
        raise Refused(
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )


def cache_controls(body: dict[str, Any]) -> Iterator[Any]:
    """Yield every cache_control of a request."""
    contents = [body.get("system"), *(message["content"] for message in body["messages"])]
    inner = [block for content in contents for block in blocks(content)]
    for block in [body, *(body.get("tools") or ()), *inner]:
        if block.get("cache_control") is not None:
            yield block["cache_control"]


def _check_message(message: Any, where: str) -> None:
    if not isinstance(message, dict):
        raise Refused(f"{where}: Input should be an object")
    if unknown := sorted(set(message) - {"role", "content"}):
        raise Refused(f"{where}.{unknown[0]}: Extra inputs are not permitted")
    if message.get("role") not in BY_ROLE:
        raise Refused(f"{where}.role: {message.get('role')!r} is none of {', '.join(BY_ROLE)}")
    if "content" not in message:
        raise Refused(f"{where}.content: Field required")
    if not message["content"]:
        raise Refused(f"{where}: all messages must have non-empty content")
    _check_blocks(message["content"], f"{where}.content", BY_ROLE[message["role"]])
    if message["role"] == "user" and any(
        block.get("citations") for block in blocks(message["content"])
    ):
        raise Refused(f"{where}.content: citations are not permitted in user messages")


def _check_blocks(content: Any, where: str, kinds: tuple[str, ...]) -> None:
    if not isinstance(content, str | list):
        raise Refused(f"{where}: Input should be a string or a list of blocks")
    for number, block in enumerate(blocks(content)):
        _check_block(block, f"{where}.{number}", kinds)


def _check_block(block: Any, where: str, kinds: tuple[str, ...]) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in kinds:
        raise Refused(
            f"{where}: Input tag {kind!r} found using 'type' does not match any of the expected "
            f"tags: {', '.join(kinds)}"
        )
    if unknown := sorted(set(block) - FIELDS.get(kind, set(block))):
        raise Refused(f"{where}.{kind}.{unknown[0]}: Extra inputs are not permitted")
    if kind == "text":
        _check_text(block, where)
    elif kind == "tool_use":
        _check_tool_use(block, where)
    elif kind == "tool_result":
        if not isinstance(block.get("tool_use_id"), str):
            raise Refused(f"{where}.tool_result.tool_use_id: Field required")
        if block.get("content"):
            _check_blocks(block["content"], f"{where}.tool_result.content", RESULT_BLOCKS)


def _check_text(block: dict[str, Any], where: str) -> None:
    if not isinstance(block.get("text"), str):
        raise Refused(f"{where}.text.text: Field required")
    if not block["text"]:
        if block.get("cache_control"):
            raise Refused(f"{where}: cache_control cannot be set for empty text blocks")
        raise Refused(f"{where}: text content blocks must be non-empty")
    if block["text"].isspace():
        raise Refused(f"{where}: text content blocks must contain non-whitespace text")


def _check_tool_use(block: dict[str, Any], where: str) -> None:
    for name in ("id", "name"):
        if not isinstance(block.get(name), str) or not block[name]:
            raise Refused(f"{where}.tool_use.{name}: Field required")
    if not isinstance(block.get("input"), dict):
        raise Refused(f"{where}.tool_use.input: Input should be an object")


def _check_ids(turns: list[dict[str, Any]]) -> None:
    used = [
        block["id"] for turn in turns for block in turn["content"] if block["type"] == "tool_use"
    ]
    if len(used) != len(set(used)):
        raise Refused("messages: `tool_use` ids must be unique")


def _check_results(turns: list[dict[str, Any]]) -> None:
    called: list[str] = []
    for number, turn in enumerate(turns):
        answered = [
            block["tool_use_id"] for block in turn["content"] if block["type"] == "tool_result"
        ]
        first = [block["type"] for block in turn["content"][: len(answered)]]
        if orphans := [one for one in answered if one not in called]:
            raise Refused(
                f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{', '.join(orphans)}. Each `tool_result` block must have a corresponding "
                "`tool_use` block in the previous message."
            )
        if len(answered) != len(set(answered)):
            raise Refused(f"messages.{number}: each tool_use must have a single result")
        missing = [one for one in called if one not in answered]
        if missing or any(kind != "tool_result" for kind in first):
            raise Refused(
                f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing or called)}. Each `tool_use` block must "
                "have a corresponding `tool_result` block in the next message."
            )
        called = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
    if called:
        raise Refused(
            f"messages.{len(turns) - 1}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {', '.join(called)}."
        )
