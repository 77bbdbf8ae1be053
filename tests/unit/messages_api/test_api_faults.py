"""How each scripted fault reaches whoever calls the SDK; the error mapping is written from this."""

import json
from typing import Any

import pytest

from tests.unit.messages_api.api_requests import request

STATUS = [
    (400, "BadRequestError", "invalid_request_error"),
    (401, "AuthenticationError", "authentication_error"),
    (403, "PermissionDeniedError", "permission_error"),
    (429, "RateLimitError", "rate_limit_error"),
    (500, "InternalServerError", "api_error"),
    (503, "ServiceUnavailableError", "api_error"),
    (504, "GatewayTimeoutError", "timeout_error"),
    (529, "OverloadedError", "overloaded_error"),
]


@pytest.mark.parametrize(("status", "name", "kind"), STATUS)
def test_a_status_becomes_its_error(scripted: Any, status: int, name: str, kind: str) -> None:
    import anthropic

    _, client = scripted({"default": {"status": status, "retry_after": 1.5}})

    with pytest.raises(getattr(anthropic, name)) as raised:
        client.messages.create(**request())

    assert (raised.value.status_code, raised.value.type) == (status, kind)
    assert raised.value.request_id == "req_000001"
    assert raised.value.response.headers["retry-after"] == "1.5"


@pytest.mark.parametrize(
    "code", ["enforced_spend_limit_reached", "contract_spend_limit_reached", "ramp_limit_exceeded"]
)
def test_a_spend_limit_is_told_from_a_rate_limit_by_its_code(scripted: Any, code: str) -> None:
    import anthropic

    _, client = scripted({"default": {"status": 429, "error_code": code}})

    with pytest.raises(anthropic.RateLimitError) as raised:
        client.messages.create(**request())

    assert type(raised.value) is not anthropic.RateLimitError
    assert raised.value.error_code == code


def test_a_slow_answer_is_a_timeout(scripted: Any) -> None:
    import anthropic

    _, client = scripted({"default": {"text": "late", "delay": 30}}, timeout=0.1)

    with pytest.raises(anthropic.APITimeoutError):
        client.messages.create(**request())


def test_an_answer_that_stops_in_the_middle_is_a_timeout(scripted: Any) -> None:
    import anthropic

    _, client = scripted({"default": {"text": "late", "pause": 30}}, timeout=0.1)

    with pytest.raises(anthropic.APITimeoutError):
        client.messages.create(**request())


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_lost_connection_is_a_connection_error(scripted: Any, when: str) -> None:
    import anthropic

    _, client = scripted({"default": {"text": "x", "disconnect": when}})

    with pytest.raises(anthropic.APIConnectionError) as raised:
        client.messages.create(**request())

    assert not isinstance(raised.value, anthropic.APITimeoutError)


@pytest.mark.parametrize(
    "fault",
    [{"text": "x" * 50, "truncate": 60}]
    + [{"malformed": kind} for kind in ("empty", "html_as_json", "not_json")],
    ids=str,
)
def test_a_body_that_is_no_json_raises_what_no_sdk_error_is(scripted: Any, fault: Any) -> None:
    _, client = scripted({"default": fault})

    with pytest.raises(json.JSONDecodeError):
        client.messages.create(**request())


def test_a_page_in_place_of_a_message_comes_back_as_text(scripted: Any) -> None:
    _, client = scripted({"default": {"malformed": "html"}})

    answer = client.messages.create(**request())

    assert isinstance(answer, str)
    assert "Bad Gateway" in answer


def test_json_of_another_shape_is_a_message_of_nothing(scripted: Any) -> None:
    _, client = scripted({"default": {"malformed": "wrong_shape"}})

    answer = client.messages.create(**request())

    assert (answer.content, answer.stop_reason, answer.usage) == (None, None, None)


def streamed(client: Any) -> Any:
    with client.messages.stream(**request()) as stream:
        return stream.get_final_message()


def test_an_error_in_a_stream_has_the_status_200(scripted: Any) -> None:
    import anthropic

    _, client = scripted({"default": {"text": "x" * 200, "stream_error": "overloaded_error"}})

    with pytest.raises(anthropic.APIStatusError) as raised:
        streamed(client)

    assert type(raised.value) is anthropic.APIStatusError
    assert (raised.value.status_code, raised.value.type) == (200, "overloaded_error")


@pytest.mark.parametrize(
    ("fault", "name"),
    [({"disconnect": "during"}, "RemoteProtocolError"), ({"pause": 30}, "ReadTimeout")],
    ids=["lost", "stalled"],
)
def test_a_stream_that_breaks_raises_the_error_of_the_http_client(
    scripted: Any, fault: dict[str, Any], name: str
) -> None:
    import httpx2

    _, client = scripted({"default": {"text": "x" * 200, **fault}}, timeout=0.2)

    with pytest.raises(getattr(httpx2, name)):
        streamed(client)


def test_a_stream_that_ends_early_is_a_message_without_stop_reason(scripted: Any) -> None:
    _, client = scripted({"default": {"text": "x" * 200, "truncate": 5}})

    answer = streamed(client)

    assert answer.stop_reason is None
    assert answer.content[0].text == "x" * 48


@pytest.mark.parametrize("kind", ["empty", "html", "wrong_shape"])
def test_a_stream_without_events_fails_an_assertion_of_the_sdk(scripted: Any, kind: str) -> None:
    _, client = scripted({"default": {"malformed": kind}})

    with pytest.raises(AssertionError):
        streamed(client)


def test_the_sdk_retries_through_bad_weather_when_it_is_let(scripted: Any) -> None:
    server, client = scripted("weather", max_retries=3)

    with pytest.raises(json.JSONDecodeError):
        client.messages.create(**request())

    assert [entry.status for entry in server.requests] == [429, 529, 500, 200]
