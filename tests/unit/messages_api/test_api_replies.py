"""Scripted replies reach the SDK as messages, streams and tool calls."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.messages_api.fixture import SCENARIOS
from tests.messages_api.fixture import scripted as scenario_of
from tests.messages_api.scenario import Scenario
from tests.unit.messages_api.api_requests import SONNET, TOOL, request, result, schema


def test_the_first_rule_that_matches_answers(scripted: Any) -> None:
    _, client = scripted(
        {
            "rules": [
                {"when": {"system": "planner"}, "reply": {"text": "by system"}},
                {"when": {"user": {"regex": "^Find .*bugs"}}, "reply": {"text": "by user"}},
                {"when": {"model": "haiku"}, "reply": {"text": "by model"}},
                {"when": {"tools": ["read_file"]}, "reply": {"text": "by tools"}},
                {"when": {"schema": "Plan"}, "reply": {"text": "by schema"}},
                {"when": {"stream": True}, "reply": {"text": "by stream"}},
            ],
            "default": {"text": "by default"},
        }
    )

    def ask(*messages: Any, **fields: Any) -> str:
        return str(client.messages.create(**request(*messages, **fields)).content[0].text)

    assert ask(system="You are the planner.") == "by system"
    assert ask({"role": "user", "content": "Please.\nFind all bugs"}) == "by user"
    assert ask(model="claude-haiku-5-5") == "by model"
    assert ask(tools=[TOOL]) == "by tools"
    assert ask(schema={**schema(x={"type": "null"}), "title": "Plan"}) == "by schema"
    assert ask() == "by default"


def test_a_rule_ends_after_its_times_and_calls_are_numbered(scripted: Any) -> None:
    _, client = scripted(
        {
            "rules": [
                {"times": 2, "reply": {"text": "early"}},
                {"when": {"call": 4}, "reply": {"text": "fourth"}},
            ],
            "default": {"text": "late"},
        }
    )

    said = [client.messages.create(**request()).content[0].text for _ in range(5)]

    assert said == ["early", "early", "late", "fourth", "late"]


def test_a_request_without_a_rule_is_named_in_the_refusal(scripted: Any) -> None:
    import anthropic

    _, client = scripted({"name": "mute"})

    with pytest.raises(anthropic.BadRequestError) as refused:
        client.messages.create(**request(system="You are the aggregator."))

    for part in ("'mute'", SONNET, "aggregator", "Hello."):
        assert part in str(refused.value.api_message)


def test_a_tool_loop_is_scripted_with_then(scripted: Any) -> None:
    _, client = scripted("conversation")
    asked = request(tools=[TOOL], schema=schema(verdict={"type": "string"}))

    first = client.messages.create(**asked)
    calls = [block for block in first.content if block.type == "tool_use"]
    asked["messages"] += [first.to_param(), result(*(call.id for call in calls))]
    second = client.messages.create(**asked)

    assert first.stop_reason == "tool_use"
    assert [call.input["path"] for call in calls] == ["app/login.py", "app/token.py"]
    assert (second.stop_reason, second.content[0].text) == ("end_turn", '{"verdict": "example"}')


def test_rounds_and_tool_results_pick_a_rule(scripted: Any) -> None:
    _, client = scripted(
        {
            "rules": [
                {"when": {"round": 2, "tool_result": "content of t"}, "reply": {"text": "seen"}},
                {
                    "when": {"has_tool_results": False},
                    "reply": {"tool_use": [{"name": "read_file"}]},
                },
            ]
        }
    )
    turn = {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}
    messages = [*request()["messages"], {"role": "assistant", "content": [turn]}, result("t")]

    first = client.messages.create(**request())
    second = client.messages.create(**request(*messages))

    assert (first.stop_reason, second.content[0].text) == ("tool_use", "seen")


def test_a_text_longer_than_max_tokens_is_cut(scripted: Any) -> None:
    _, client = scripted({"default": {"text": "word " * 100}})

    answer = client.messages.create(**request(max_tokens=10))

    assert (answer.stop_reason, len(answer.content[0].text)) == ("max_tokens", 40)
    assert answer.usage.output_tokens == 10


def test_a_json_answer_that_runs_out_of_tokens_is_no_json(scripted: Any) -> None:
    _, client = scripted({"default": {"json": {"a": [1, 2, 3]}, "stop_reason": "max_tokens"}})

    answer = client.messages.create(**request())

    assert answer.stop_reason == "max_tokens"
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer.content[0].text)


def test_a_refusal_says_so_without_content(scripted: Any) -> None:
    _, client = scripted({"default": {"stop_reason": "refusal"}})

    answer = client.messages.create(**request())

    assert (answer.content, answer.stop_reason) == ([], "refusal")
    assert answer.stop_details.type == "refusal"


def test_usage_can_be_overridden(scripted: Any) -> None:
    server, client = scripted({"default": {"text": "x", "usage": {"output_tokens": 77}}})

    answer = client.messages.create(**request())

    assert answer.usage.output_tokens == 77
    assert server.stats["tokens"]["output_tokens"] == 77


def test_a_stream_gives_the_same_message_as_a_plain_answer(scripted: Any) -> None:
    reply = {
        "text": "Let me look at both of these files first.",
        "tool_use": [{"name": "read_file", "input": {"path": "ä" * 40, "lines": [1, 2]}}],
    }
    _, client = scripted({"default": reply})

    plain = client.messages.create(**request())
    with client.messages.stream(**request()) as stream:
        text = "".join(stream.text_stream)
        streamed = stream.get_final_message()

    assert text == reply["text"]
    assert [block.type for block in streamed.content] == ["text", "tool_use"]
    assert streamed.content[1].input == plain.content[1].input
    assert (streamed.stop_reason, streamed.usage) == ("tool_use", plain.usage)


def test_the_events_of_a_stream_come_in_the_order_of_the_real_ones(scripted: Any) -> None:
    _, client = scripted({"default": {"text": "Short."}})

    with client.messages.create(**request(), stream=True) as stream:
        kinds = [event.type for event in stream]

    assert kinds == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


WRONG = [
    {"rule": []},
    {"rules": [{"reply": {"text": "x", "json": 1}}]},
    {"rules": [{"reply": {"text": "x", "then": {"text": "y"}}}]},
    {"rules": [{"when": {"system": {"regex": "("}}, "reply": {}}]},
    {"rules": [{"times": 0, "reply": {}}]},
    {"default": {"status": 200}},
]


@pytest.mark.parametrize("content", WRONG, ids=str)
def test_a_scenario_with_a_mistake_is_refused(content: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Scenario.model_validate(content)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_scenario_is_valid(path: Any) -> None:
    assert scenario_of(path).name == path.stem
