"""The scripted API counts tokens, cache hits and requests, and keeps up with many at once."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.request import urlopen

import pytest

from tests.eventually import eventually
from tests.messages_api.fixture import serve
from tests.unit.messages_api.api_requests import SONNET, TOOL, request, schema

FINE = {"default": {"text": "Fine."}}
CACHED = {"type": "ephemeral"}


def prefix(text: str = "shared ", times: int = 1000, **control: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text * times, "cache_control": {**CACHED, **control}}]


def used(client: Any, **fields: Any) -> tuple[int, int]:
    usage = client.messages.create(**request(**fields)).usage
    return usage.cache_creation_input_tokens, usage.cache_read_input_tokens


def test_a_shared_prefix_is_written_once_and_then_read(scripted: Any) -> None:
    server, client = scripted(FINE)

    written, nothing = used(client, system=prefix())
    none, read = used(
        client, system=prefix(), messages=[{"role": "user", "content": "Something else."}]
    )

    assert (nothing, none) == (0, 0)
    assert written == read > 1700
    assert server.stats["cache_hits"] == 1


def test_the_sum_of_all_input_is_the_same_with_and_without_cache(scripted: Any) -> None:
    _, client = scripted(FINE)

    usages = [client.messages.create(**request(system=prefix())).usage for _ in range(2)]

    totals = {
        usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
        for usage in usages
    }
    assert len(totals) == 1
    assert usages[1].input_tokens < 30


@pytest.mark.parametrize(
    "fields",
    [
        {"system": prefix("another ")},
        {"system": prefix(), "model": "claude-opus-5-5"},
        {"system": prefix(), "tools": [TOOL]},
    ],
    ids=["text", "model", "tools"],
)
def test_another_prefix_is_no_hit(scripted: Any, fields: dict[str, Any]) -> None:
    _, client = scripted(FINE)
    used(client, system=prefix())

    assert used(client, **fields)[1] == 0


def test_another_schema_keeps_only_the_tools_in_the_cache(scripted: Any) -> None:
    _, client = scripted({"default": {"json": "auto"}})
    tools = [{**TOOL, "description": "x" * 8000, "cache_control": CACHED}]

    def ask(kind: str) -> tuple[int, int]:
        shape = schema(x={"type": kind})
        return used(client, tools=tools, system=prefix(), **request(schema=shape))

    first, again, other = ask("string"), ask("string"), ask("integer")

    assert again == (0, first[0])
    assert 2000 < other[1] < first[0]
    assert other[0] == first[0] - other[1]


def test_a_short_prefix_is_not_cached(scripted: Any) -> None:
    _, client = scripted(FINE)

    assert [used(client, system=prefix(times=100)) for _ in range(2)] == [(0, 0), (0, 0)]


def test_without_a_breakpoint_nothing_is_cached(scripted: Any) -> None:
    _, client = scripted(FINE)

    assert [used(client, system="shared " * 1000) for _ in range(2)] == [(0, 0), (0, 0)]


def test_a_growing_conversation_reads_what_it_wrote_before(scripted: Any) -> None:
    _, client = scripted(FINE)
    messages = [{"role": "user", "content": "question " * 1000}]

    first = used(client, messages=messages, cache_control=CACHED)
    messages += [{"role": "assistant", "content": "a"}, {"role": "user", "content": "more " * 500}]
    second = used(client, messages=messages, cache_control=CACHED)

    assert second[1] == first[0]
    assert 500 < second[0] < 1000


def test_the_lifetime_of_what_is_written_is_told(scripted: Any) -> None:
    _, client = scripted(FINE)

    usage = client.messages.create(**request(system=prefix(ttl="1h"))).usage

    assert usage.cache_creation.ephemeral_1h_input_tokens == usage.cache_creation_input_tokens
    assert usage.cache_creation.ephemeral_5m_input_tokens == 0


def test_every_request_is_written_down_without_its_key(scripted: Any) -> None:
    import anthropic

    server, client = scripted(FINE)

    client.messages.create(**request(system="You plan."))
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(**request(model="claude-9"))

    first, second = server.requests
    assert (first.body["system"], first.model, first.status) == ("You plan.", SONNET, 200)
    assert first.headers["anthropic-version"] == "2026-10-21"
    assert (second.status, second.message) == (404, "model: claude-9")
    assert server.key not in repr(server.requests)


def test_the_middleware_of_the_sdk_sees_the_rate_limits_of_every_attempt(scripted: Any) -> None:
    seen: list[tuple[int, str, str | None]] = []

    def watch(asked: Any, call_next: Any) -> Any:
        answer = call_next(asked)
        left = answer.headers["anthropic-ratelimit-requests-remaining"]
        seen.append((answer.status_code, left, answer.headers.get("retry-after")))
        return answer

    _, client = scripted(
        {
            "limits": {"requests": 50},
            "rules": [{"times": 1, "reply": {"status": 429, "retry_after": 0.01}}],
            **FINE,
        },
        middleware=[watch],
        max_retries=1,
    )

    client.messages.create(**request())
    with client.messages.stream(**request()) as stream:
        stream.get_final_message()

    assert seen == [(429, "49", "0.01"), (200, "48", None), (200, "47", None)]


def test_the_counts_can_be_asked_for_over_http(scripted: Any) -> None:
    server, client = scripted({"name": "counted", **FINE})
    client.messages.create(**request())

    with urlopen(f"{server.url}/_/stats") as answer:  # noqa: S310 - a server of this test
        stats = json.load(answer)

    assert stats["scenario"] == "counted"
    assert (stats["by_model"], stats["by_status"]) == ({SONNET: 1}, {"200": 1})
    assert stats["tokens"]["output_tokens"] > 0
    assert answer.status == 200


def test_answers_say_that_they_are_scripted(post: Any) -> None:
    status, headers, _ = post(request())

    assert (status, headers["x-scripted"]) == (200, "unnamed")
    assert headers["request-id"].startswith("req_")


def test_a_server_starts_at_once_and_stops_while_it_is_asked(connect: Any) -> None:
    begin = time.perf_counter()
    with serve({"default": {"text": "late", "delay": 60}}) as server:
        started = time.perf_counter() - begin
        client = connect(server)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(client.messages.create, **request())
            eventually(lambda: server.requests)
            begin = time.perf_counter()
            server.stop()
            stopped = time.perf_counter() - begin
            error = asked.exception(timeout=5)

    assert started < 0.05
    assert stopped < 5
    assert type(error).__name__ == "APIConnectionError"


def many(client: Any, calls: int) -> list[str]:
    with ThreadPoolExecutor(calls) as pool:
        answers = pool.map(lambda _: client.messages.create(**request()), range(calls))
        return [answer.content[0].text for answer in answers]


def test_two_hundred_slow_calls_are_answered_together(scripted: Any) -> None:
    server, client = scripted({"delay": 0.5, **FINE}, timeout=30)

    begin = time.perf_counter()
    said = many(client, 200)
    took = time.perf_counter() - begin

    assert said == ["Fine."] * 200
    assert server.stats["max_in_flight"] > 50
    assert took < 10
