"""The API itself: from the bytes of a request to the bytes of its answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Literal

from tests.messages_api import checks, events, replies
from tests.messages_api.asked import Asked
from tests.messages_api.cache import PromptCache
from tests.messages_api.ledger import Ledger, Recorded
from tests.messages_api.refusal import Refused, error_body
from tests.messages_api.rules import Rules
from tests.messages_api.scenario import Reply, Scenario

JSON = "application/json"
HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
MALFORMED = {
    "empty": (JSON, b""),
    "html": ("text/html", HTML),
    "html_as_json": (JSON, HTML),
    "not_json": (JSON, b"{'role': assistant}"),
    "wrong_shape": (JSON, b'{"choices": [{"message": {"content": "hello"}}]}'),
}


@dataclass(frozen=True)
class Answer:
    """What goes back: a whole body or chunks, and where the connection breaks."""

    status: int
    body: bytes = b""
    chunks: list[bytes] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = JSON
    disconnect: Literal["before", "during"] | None = None
    pause: float = 0  # seconds, in the middle


class Service:
    """One run of a scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.ledger = Ledger()
        self.stopping = Event()
        self._rules = Rules(scenario)
        self._cache = PromptCache()

    def stats(self) -> Answer:
        """Answer the question what was asked so far."""
        found = {"scenario": self.scenario.name, **self.ledger.stats()}
        return Answer(200, json.dumps(found, indent=2).encode() + b"\n")

    def unknown(self, path: str) -> Answer:
        """Answer a request for something that is not here."""
        return _error(404, f"Not found: {path}", "req_none")

    def messages(self, headers: Mapping[str, str], raw: bytes | None) -> Answer:
        """Answer `POST /v1/messages`; without bytes, the body was too large to be read."""
        body = _parsed(raw)
        with self.ledger.record(headers, body) as entry:
            try:
                answer = self._checked(headers, raw, body, entry)
            except Refused as no:
                answer = _error(no.status, no.message, entry.id, no.error_code)
                entry.message = no.message
            entry.status = None if answer.disconnect == "before" else answer.status
            limits = self.ledger.rate_limits(entry, self.scenario.limits)
        answer.headers.update(
            {
                "request-id": entry.id,
                "x-scripted": self.scenario.name,
                **{name: value for name, value in limits.items() if name not in answer.headers},
            }
        )
        return answer

    def _checked(
        self, headers: Mapping[str, str], raw: bytes | None, body: Any, entry: Recorded
    ) -> Answer:
        checks.check_caller(headers, self.scenario)
        if raw is None:
            raise Refused("Request exceeds the maximum size", 413)
        if body is None:
            raise Refused("The request body is not valid JSON")
        checks.check_body(body, self.scenario)
        return self._replied(Asked(body), entry)

    def _replied(self, asked: Asked, entry: Recorded) -> Answer:
        model = self.scenario.models[asked.model]
        counted = self._cache.count(asked, model.min_cache_tokens)
        if counted.total > model.context:
            raise Refused(f"prompt is too long: {counted.total} tokens > {model.context} maximum")
        reply = self._rules.pick(asked)
        if self.stopping.wait(self.scenario.delay + reply.delay):
            return Answer(500, disconnect="before")
        if reply.status is not None:
            entry.message = reply.message or f"scripted {reply.status}"
            return _scripted_error(reply, entry.id)
        message = replies.message(reply, asked, counted, entry.id)
        if reply.then is not None:
            ids = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
            self._rules.promise(reply.then, ids)
        self._cache.keep(asked, model.min_cache_tokens)
        entry.usage = message["usage"]
        return _sent(reply, message, asked.stream)


def _parsed(raw: bytes | None) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None


def _error(status: int, message: str, request_id: str, error_code: str | None = None) -> Answer:
    body = error_body(status, message, request_id, error_code)
    return Answer(status, json.dumps(body).encode())


def _scripted_error(reply: Reply, request_id: str) -> Answer:
    status = reply.status or 500
    answer = _error(status, reply.message or f"scripted {status}", request_id, reply.error_code)
    answer.headers.update(reply.headers)
    if reply.retry_after is not None:
        answer.headers["retry-after"] = f"{reply.retry_after:g}"
    return answer


def _sent(reply: Reply, message: dict[str, Any], stream: bool) -> Answer:
    headers = dict(reply.headers)
    if reply.malformed is not None:
        kind, body = MALFORMED[reply.malformed]
        return Answer(200, body, headers=headers, content_type=kind)
    if stream:
        chunks = events.stream(message, reply.stream_error)[: reply.truncate]
        return Answer(
            200,
            chunks=chunks,
            headers=headers,
            content_type="text/event-stream; charset=utf-8",
            disconnect=reply.disconnect,
            pause=reply.pause,
        )
    body = json.dumps(message).encode()[: reply.truncate]
    return Answer(200, body, headers=headers, disconnect=reply.disconnect, pause=reply.pause)
