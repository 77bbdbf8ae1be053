"""The scripted API refuses what the real one refuses, and names what is wrong."""

from typing import Any

import pytest

from tests.messages_api.server import Server
from tests.unit.messages_api.api_requests import SONNET, TOOL, called, request, result, schema

Call = dict[str, Any]

REFUSED: dict[str, tuple[Call, str]] = {
    "an unknown field": (request(extra_body={"colour": "red"}), "colour: Extra inputs"),
    "a temperature": (request(extra_body={"temperature": 1.0}), "temperature: Extra inputs"),
    "top_p": (request(extra_body={"top_p": 0.5}), "top_p: Extra inputs"),
    "top_k": (request(extra_body={"top_k": 5}), "top_k: Extra inputs"),
    "no messages": (request(messages=[]), "at least one message"),
    "no tokens": (request(max_tokens=0), "max_tokens"),
    "a true max_tokens": (request(max_tokens=True), "max_tokens"),
    "an assistant first": (request({"role": "assistant", "content": "x"}), 'the "user" role'),
    "an unknown role": (request({"role": "robot", "content": "x"}), "messages.0.role: 'robot'"),
    "empty content": (request({"role": "user", "content": ""}), "non-empty content"),
    "an empty text": (
        request({"role": "user", "content": [{"type": "text", "text": ""}]}),
        "text content blocks must be non-empty",
    ),
    "an empty system text": (
        request(system=[{"type": "text", "text": ""}]),
        "system.0: text content blocks must be non-empty",
    ),
    "a blank text": (request({"role": "user", "content": " \n"}), "non-whitespace"),
    "an unknown block": (
        request({"role": "user", "content": [{"type": "sound"}]}),
        "Input tag 'sound'",
    ),
    "an unknown field of a block": (
        request({"role": "user", "content": [{"type": "text", "text": "x", "parsed_output": 1}]}),
        "messages.0.content.0.text.parsed_output: Extra inputs",
    ),
    "an unknown field of a message": (
        request({"role": "user", "content": "x", "name": "Ann"}),
        "messages.0.name: Extra inputs",
    ),
    "a prefill": (
        request({"role": "user", "content": "x"}, {"role": "assistant", "content": "{"}),
        "prefill",
    ),
    "a tool call without result": (
        request({"role": "user", "content": "x"}, called("a"), {"role": "user", "content": "y"}),
        "messages.1: `tool_use` ids were found without `tool_result`",
    ),
    "one result of two": (
        request({"role": "user", "content": "x"}, called("a", "b"), result("a")),
        "immediately after: b",
    ),
    "a late result": (
        request(
            {"role": "user", "content": "x"},
            called("a"),
            {"role": "user", "content": [{"type": "text", "text": "y"}, *result("a")["content"]]},
        ),
        "immediately after: a",
    ),
    "an orphan result": (request(result("a")), "unexpected `tool_use_id`"),
    "two results of one call": (
        request({"role": "user", "content": "x"}, called("a"), result("a", "a")),
        "a single result",
    ),
    "an id used twice": (
        request({"role": "user", "content": "x"}, called("a"), result("a"), called("a")),
        "ids must be unique",
    ),
    "a call at the end": (
        request({"role": "user", "content": "x"}, called("a")),
        "without `tool_result`",
    ),
    "a tool name with a dot": (request(tools=[{**TOOL, "name": "read.file"}]), "tools.0.custom"),
    "a long tool name": (request(tools=[{**TOOL, "name": "x" * 65}]), "should match pattern"),
    "tools of one name": (request(tools=[TOOL, TOOL]), "Tool names must be unique"),
    "a tool without schema": (request(tools=[{"name": "x"}]), "input_schema: Field required"),
    "a tool for a list": (
        request(tools=[{"name": "x", "input_schema": {"type": "array"}}]),
        "input_schema.type: Input should be 'object'",
    ),
    "an unknown field of a tool": (request(tools=[{**TOOL, "colour": 1}]), "custom.colour"),
    "a loose strict tool": (request(tools=[{**TOOL, "strict": True}]), "additionalProperties"),
    "a choice without tools": (request(tool_choice={"type": "auto"}), "while providing tools"),
    "any tool forced": (request(tools=[TOOL], tool_choice={"type": "any"}), "forced tool use"),
    "a tool forced": (
        request(tools=[TOOL], tool_choice={"type": "tool", "name": "read_file"}),
        "forced tool use",
    ),
    "thinking disabled": (request(thinking={"type": "disabled"}), "thinking.type.disabled"),
    "a thinking budget": (
        request(thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=4000),
        "thinking.budget_tokens",
    ),
    "an unknown effort": (request(output_config={"effort": "huge"}), "effort: 'huge'"),
    "five breakpoints": (
        request(
            system=[
                {"type": "text", "text": str(n), "cache_control": {"type": "ephemeral"}}
                for n in range(5)
            ]
        ),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "an odd lifetime": (request(cache_control={"type": "ephemeral", "ttl": "1d"}), "ttl"),
    "an open object": (request(schema={"type": "object", "properties": {}}), "additionalProp"),
    "an emptied dict": (
        request(schema={"type": "object", "properties": {}, "additionalProperties": False}),
        "was it a free dict?",
    ),
    "a minimum": (
        request(schema=schema(n={"type": "integer", "minimum": 1})),
        "properties.n: For 'integer' type, property 'minimum' is not supported",
    ),
    "a maxLength": (request(schema=schema(s={"type": "string", "maxLength": 1})), "'maxLength'"),
    "two items at least": (
        request(schema=schema(a={"type": "array", "items": {"type": "null"}, "minItems": 2})),
        "minItems",
    ),
    "an unknown format": (request(schema=schema(s={"type": "string", "format": "sha"})), "'sha'"),
    "no type": (request(schema=schema(s={"description": "anything"})), "type is missing"),
    "a foreign reference": (request(schema=schema(s={"$ref": "https://x/y"})), "https://x/y"),
    "a schema of itself": (
        request(
            schema={
                "$defs": {"Node": schema(child={"$ref": "#/$defs/Node"})},
                "$ref": "#/$defs/Node",
            }
        ),
        "Circular reference",
    ),
    "too many optional properties": (
        request(
            schema={**schema(**{f"p{n}": {"type": "string"} for n in range(25)}), "required": []}
        ),
        "too many optional parameters (25)",
    ),
    "too many unions": (
        request(
            schema=schema(
                **{f"p{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(17)}
            )
        ),
        "union types (17)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_the_real_api_refuses_is_refused(plain_client: Any, name: str) -> None:
    import anthropic

    call, message = REFUSED[name]

    with pytest.raises(anthropic.BadRequestError) as refused:
        plain_client.messages.create(**call)

    assert message in str(refused.value.api_message)
    assert refused.value.type == "invalid_request_error"


ACCEPTED: dict[str, Call] = {
    "a plain question": request(),
    "turns of one role": request(
        {"role": "user", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": "y"}]},
    ),
    "results in two turns": request(
        {"role": "user", "content": "x"}, called("a", "b"), result("a"), result("b"), tools=[TOOL]
    ),
    "text after the results": request(
        {"role": "user", "content": "x"},
        called("a"),
        result("a"),
        {"role": "user", "content": "go on"},
    ),
    "a failed tool without content": request(
        {"role": "user", "content": "x"},
        called("a"),
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": True}],
        },
    ),
    "every effort": request(output_config={"effort": "xhigh"}),
    "adaptive thinking": request(thinking={"type": "adaptive"}),
    "four breakpoints": request(
        cache_control={"type": "ephemeral", "ttl": "1h"},
        tools=[{**TOOL, "cache_control": {"type": "ephemeral"}}],
        system=[
            {"type": "text", "text": str(n), "cache_control": {"type": "ephemeral"}}
            for n in range(2)
        ],
    ),
    "a forced tool for haiku": request(
        model="claude-haiku-5-5", tools=[TOOL], tool_choice={"type": "tool", "name": "read_file"}
    ),
    "a schema": request(schema=schema(s={"type": "string", "format": "date", "pattern": "^a+$"})),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_valid_request_is_answered(plain_client: Any, name: str) -> None:
    answer = plain_client.messages.create(**ACCEPTED[name])

    assert [block.text for block in answer.content] == ["Fine."]
    assert answer.stop_reason == "end_turn"


def test_an_answer_can_be_sent_back_as_the_sdk_gives_it(plain_client: Any) -> None:
    first = plain_client.messages.create(**request())

    again = plain_client.messages.create(
        **request({"role": "user", "content": "x"}, first.to_param(), *request()["messages"])
    )

    assert again.stop_reason == "end_turn"


def test_an_unknown_model_is_not_found(plain_client: Any) -> None:
    import anthropic

    with pytest.raises(anthropic.NotFoundError) as refused:
        plain_client.messages.create(**request(model="claude-opus-9"))

    assert (refused.value.type, refused.value.api_message) == (
        "not_found_error",
        "model: claude-opus-9",
    )


def test_a_wrong_key_is_refused(plain_server: Server, connect: Any) -> None:
    import anthropic

    with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
        connect(plain_server, api_key="sk-wrong").messages.create(**request())


def test_a_body_that_is_too_large_is_refused(plain_client: Any) -> None:
    import anthropic

    with pytest.raises(anthropic.ContentTooLargeError) as refused:
        plain_client.messages.create(**request({"role": "user", "content": "x" * 200_000}))

    assert str(refused.value.type) == "request_too_large"


def test_a_prompt_longer_than_the_context_is_refused(scripted: Any) -> None:
    import anthropic

    _, client = scripted({"models": {SONNET: {"context": 100}}, "default": {"text": "x"}})

    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        client.messages.create(**request({"role": "user", "content": "x" * 1000}))


BODY = request()
RAW: dict[str, tuple[Any, dict[str, str | None], int, str]] = {
    "no key": (BODY, {"authorization": None}, 401, "header is required"),
    "a wrong x-api-key": (BODY, {"x_api_key": "sk-wrong"}, 401, "invalid x-api-key"),
    "no version": (BODY, {"anthropic_version": None}, 400, "anthropic-version"),
    "an unknown version": (BODY, {"anthropic_version": "2020-01-01"}, 400, '"2020-01-01"'),
    "no JSON": (b"{", {}, 400, "not valid JSON"),
    "a list": ([], {}, 400, "must be a JSON object"),
    "no model": ({**BODY, "model": 5}, {}, 400, "model: Input should be a valid str"),
    "messages as text": ({**BODY, "messages": "x"}, {}, 400, "messages: Input should be"),
    "half a token": ({**BODY, "max_tokens": 1.5}, {}, 400, "max_tokens: Input should be"),
    **{
        f"no {name}": ({k: v for k, v in BODY.items() if k != name}, {}, 400, f"{name}: Field req")
        for name in ("model", "messages", "max_tokens")
    },
}


@pytest.mark.parametrize("name", RAW)
def test_what_the_sdk_would_not_send_is_refused(post: Any, name: str) -> None:
    body, headers, expected, message = RAW[name]

    status, _, answer = post(body, **headers)

    assert status == expected
    assert message in answer["error"]["message"]
    assert answer["request_id"].startswith("req_")


def test_the_key_is_taken_in_either_header(post: Any, plain_server: Server) -> None:
    status, _, _ = post(BODY, authorization=None, x_api_key=plain_server.key)

    assert status == 200
