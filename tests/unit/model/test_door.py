"""The real SDK over HTTP: whatever the service does, a reply or an error of ours comes out."""

import logging
import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from common.errors import ModelError, ModelMisused, ModelUnavailable
from common.model import Door, Reply, Request
from common.model.words import said
from common.settings import Settings
from tests.messages_api.fixture import Script, messages_api
from tests.messages_api.server import Server

__all__ = ["messages_api"]
Serve = Callable[[Script], Server]
KEY = "sk-test-scripted"


class Colour(BaseModel):
    name: str


def door(server: Server, key: str = KEY, **changes: Any) -> Door:
    given = {"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": server.url, **changes}
    return Door(Settings.model_validate(given))


def ask(made: Door, left: float = 5.0, **changes: Any) -> Reply:
    fields: dict[str, Any] = {
        "tier": "sonnet",
        "shared": "You name colours. " * 300,
        "system": "Be brief.",
        "turns": [said("Which colour?")],
        "schema": made.schema(Colour),
    }
    return made.ask(Request(**fields | changes), lambda: left)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["common.model.door"], "FIRST_PAUSE", 0.001)


@pytest.mark.parametrize("max_tokens", [1_000, 32_000])
def test_an_answer_comes_with_usage_cost_and_request_id(
    messages_api: Serve, max_tokens: int
) -> None:
    server = messages_api({"default": {"json": {"name": "blue"}}})
    made = door(server)

    first, second = (ask(made, max_tokens=max_tokens) for _ in range(2))

    assert Colour.model_validate_json(first.text) == Colour(name="blue")
    assert (first.usage.calls, first.usage.retries) == (1, 0)
    assert first.usage.cache_write_tokens > 1_000
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens
    assert 0 < second.usage.usd < first.usage.usd
    assert first.request_id == "req_000001"
    assert server.requests[0].body.get("stream", False) is (max_tokens > 8_192)


UNAVAILABLE: list[dict[str, Any]] = [
    {"status": 529},
    {"status": 500},
    {"status": 429, "retry_after": 0.01},
    {"text": "x", "truncate": 2},
    {"malformed": "empty"},
    {"malformed": "html"},
    {"malformed": "html_as_json"},
    {"malformed": "not_json"},
    {"malformed": "wrong_shape"},
    {"disconnect": "before"},
    {"text": "x", "disconnect": "during"},
]
LONG = [1_000, 32_000]


@pytest.mark.parametrize("max_tokens", LONG)
@pytest.mark.parametrize("fault", UNAVAILABLE, ids=str)
def test_what_may_pass_is_tried_again_and_counted(
    messages_api: Serve, fault: dict[str, Any], max_tokens: int
) -> None:
    server = messages_api({"rules": [{"times": 2, "reply": fault}], "default": {"text": "Fine."}})

    reply = ask(door(server), max_tokens=max_tokens)

    assert (reply.text, reply.usage.retries) == ("Fine.", 2)


@pytest.mark.parametrize("max_tokens", LONG)
@pytest.mark.parametrize("fault", UNAVAILABLE, ids=str)
def test_what_does_not_pass_is_unavailable_and_tells_no_key(
    messages_api: Serve,
    fault: dict[str, Any],
    max_tokens: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    server = messages_api({"default": fault})

    with pytest.raises(ModelUnavailable, match="after 4 tries") as caught:
        ask(door(server), max_tokens=max_tokens)

    assert len(server.requests) == 4
    assert_no_key(caught.value, caplog)


MISUSED: list[tuple[dict[str, Any], str]] = [
    ({"status": 429, "error_code": "enforced_spend_limit_reached"}, "spend limit"),
    ({"status": 400, "message": f"bad {KEY} header"}, r"refused: bad \*\*\* header"),
    ({"status": 413}, "too large"),
    ({"status": 403}, "may not"),
    ({"status": 402}, "billing"),
]


@pytest.mark.parametrize(("fault", "said"), MISUSED, ids=str)
def test_what_will_not_pass_is_asked_once(
    messages_api: Serve, fault: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = messages_api({"default": fault})

    with pytest.raises(ModelMisused, match=said) as caught:
        ask(door(server))

    assert len(server.requests) == 1
    assert_no_key(caught.value, caplog)


def test_a_wrong_key_and_an_unknown_model_name_the_setting(
    messages_api: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = messages_api({"default": {"text": "Fine."}})

    with pytest.raises(ModelMisused, match="check ANTHROPIC_API_KEY") as wrong:
        ask(door(server, key="sk-wrong-key"))
    with pytest.raises(ModelMisused, match="no model 'gone-1'; check CHARGEHAND_MODEL"):
        ask(door(server, model_sonnet="gone-1"))
    with pytest.raises(ModelMisused, match="no API key"):
        Door(Settings())

    assert_no_key(wrong.value, caplog, "sk-wrong-key")


def test_a_long_retry_after_holds_no_slot(messages_api: Serve) -> None:
    server = messages_api({"default": {"status": 429, "retry_after": 3600}})

    with pytest.raises(ModelUnavailable) as caught:
        ask(door(server))

    assert (len(server.requests), caught.value.retry_after) == (1, 3600.0)


@pytest.mark.parametrize("max_tokens", LONG)
def test_a_slow_answer_ends_with_the_time_that_is_left(
    messages_api: Serve, max_tokens: int
) -> None:
    server = messages_api({"default": {"text": "late", "delay": 5}})
    seconds = iter([0.2, 0.2])

    def left() -> float:
        try:
            return next(seconds)
        except StopIteration:
            raise TimeoutError("over") from None

    made = door(server)
    request = Request("haiku", "a", "b", [said("c")], max_tokens=max_tokens)

    with pytest.raises(TimeoutError, match="over"):
        made.ask(request, left)

    assert len(server.requests) == 1


def test_nobody_listening_is_unavailable(messages_api: Serve) -> None:
    server = messages_api({})
    server.stop()

    with pytest.raises(ModelUnavailable, match="no connection"):
        ask(door(server))


def assert_no_key(error: ModelError, caplog: pytest.LogCaptureFixture, key: str = KEY) -> None:
    seen: list[BaseException] = [error]
    while more := seen[-1].__cause__ or seen[-1].__context__:
        seen.append(more)
    told = [repr(vars(e)) + repr(e) + str(e) + repr(e.args) for e in seen]
    told += [record.getMessage() + repr(record.args) for record in caplog.records]
    assert seen == [error]
    assert not [text for text in told if key in text]
    assert key.encode() not in pickle.dumps(error)
