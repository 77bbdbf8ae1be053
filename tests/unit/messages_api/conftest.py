"""The real SDK and plain HTTP, both pointed at a scripted API."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.messages_api.fixture import Script, messages_api, serve
from tests.messages_api.server import Server

__all__ = ["messages_api"]

Connect = Callable[..., Any]
Post = Callable[..., tuple[int, dict[str, str], Any]]


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Give SDK clients that do not retry, until the end of the test."""
    import anthropic

    with ExitStack() as stack:

        def build(server: Server, **options: Any) -> anthropic.Anthropic:
            given = {"api_key": server.key, "base_url": server.url, "max_retries": 0, "timeout": 10}
            return stack.enter_context(anthropic.Anthropic(**{**given, **options}))

        yield build


@pytest.fixture
def scripted(
    messages_api: Callable[[Script], Server], connect: Connect
) -> Callable[..., tuple[Server, Any]]:
    """Serve a scenario and give a client for it."""

    def start(script: Script, **options: Any) -> tuple[Server, Any]:
        server = messages_api(script)
        return server, connect(server, **options)

    return start


@pytest.fixture(scope="module")
def plain_server() -> Iterator[Server]:
    """A server that answers every valid request, for all tests of a module."""
    with serve({"default": {"text": "Fine."}, "max_body": 100_000}) as server:
        yield server


@pytest.fixture(scope="module")
def plain_client(plain_server: Server) -> Iterator[Any]:
    """An SDK client for that server."""
    import anthropic

    with anthropic.Anthropic(
        api_key=plain_server.key, base_url=plain_server.url, max_retries=0
    ) as client:
        yield client


@pytest.fixture(scope="module")
def post(plain_server: Server) -> Post:
    """Post what the SDK would not: returns status, headers and body."""

    def send(body: Any, **headers: str | None) -> tuple[int, dict[str, str], Any]:
        usual: dict[str, str | None] = {
            "authorization": f"Bearer {plain_server.key}",
            "anthropic-version": "2026-10-21",
        }
        usual |= {name.replace("_", "-"): value for name, value in headers.items()}
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = HTTPConnection(plain_server.url.removeprefix("http://"), timeout=10)
        try:
            sent = {name: value for name, value in usual.items() if value is not None}
            connection.request("POST", "/v1/messages", raw, sent)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), json.loads(answer.read())
        finally:
            connection.close()

    return send
