"""What a request asks, as the rules of a scenario look at it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any


def blocks(content: Any) -> list[dict[str, Any]]:
    """Return content as blocks; a plain string is one block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())


def texts(content: Any) -> Iterator[str]:
    """Yield the texts in content, those inside tool results included."""
    for block in blocks(content):
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result":
            yield from texts(block.get("content"))


def merged(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join consecutive turns of the same role, as the API does."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        content = blocks(message["content"])
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1]["content"] = turns[-1]["content"] + content
        else:
            turns.append({"role": message["role"], "content": content})
    return turns


@dataclass(frozen=True)
class Asked:
    """A request that passed the checks."""

    body: dict[str, Any]

    @cached_property
    def turns(self) -> list[dict[str, Any]]:
        """The conversation, with consecutive turns of one role joined."""
        return merged(self.body["messages"])

    @property
    def model(self) -> str:
        """The id of the model."""
        return str(self.body["model"])

    @property
    def system(self) -> str:
        """The system prompt as one text."""
        return "\n".join(texts(self.body.get("system")))

    @property
    def user(self) -> str:
        """What all user turns say."""
        return "\n".join(
            text for turn in self.turns if turn["role"] == "user" for text in texts(turn["content"])
        )

    @property
    def last(self) -> str:
        """What the last turn says."""
        return "\n".join(texts(self.turns[-1]["content"]))

    @property
    def results(self) -> list[dict[str, Any]]:
        """The tool results in the last turn."""
        return [block for block in self.turns[-1]["content"] if block["type"] == "tool_result"]

    @property
    def round(self) -> int:
        """Which reply of this conversation is asked for, from 1."""
        return 1 + len([turn for turn in self.turns if turn["role"] == "assistant"])

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["name"] for tool in self.body.get("tools") or ()]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the answer has to fit."""
        wanted = (self.body.get("output_config") or {}).get("format")
        return wanted["schema"] if wanted else None

    @property
    def stream(self) -> bool:
        """Whether the answer is to come as events."""
        return bool(self.body.get("stream"))

    def __str__(self) -> str:
        return (
            f"model={self.model} round={self.round} tools={self.tools} "
            f"schema={(self.schema or {}).get('title')!r} "
            f"system={self.system[:80]!r} last={self.last[:80]!r}"
        )
