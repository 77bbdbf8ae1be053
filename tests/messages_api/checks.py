"""What the API refuses before a model sees it: who asks, and with which fields."""

import re
from collections.abc import Mapping
from typing import Any

from tests.messages_api import conversation, schema_rules
from tests.messages_api.refusal import Refused
from tests.messages_api.scenario import ModelRules, Scenario

VERSIONS = ("2023-01-01", "2023-06-01", "2026-10-21")
TYPES: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "messages": (list,),
    "max_tokens": (int,),
    "cache_control": (dict, type(None)),
    "inference_geo": (str, type(None)),
    "metadata": (dict,),
    "output_config": (dict,),
    "service_tier": (str,),
    "speed": (str, type(None)),
    "stop_sequences": (list,),
    "stream": (bool,),
    "system": (str, list),
    "thinking": (dict,),
    "tool_choice": (dict,),
    "tools": (list,),
}
REQUIRED = ("model", "messages", "max_tokens")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
THINKING = ("adaptive", "between_tools", "disabled", "enabled")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TOOL_FIELDS = {
    "allowed_callers",
    "cache_control",
    "defer_loading",
    "description",
    "eager_input_streaming",
    "input_examples",
    "input_schema",
    "name",
    "strict",
    "type",
}
MAX_STRICT_TOOLS = 20
MAX_BREAKPOINTS = 4


def check_caller(headers: Mapping[str, str], scenario: Scenario) -> None:
    """Refuse whoever has not the key, or names no known version of the API."""
    given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    if not given:
        raise Refused("x-api-key or Authorization header is required", 401)
    if given != scenario.key:
        raise Refused("invalid x-api-key", 401)
    version = headers.get("anthropic-version")
    if version is None:
        raise Refused("anthropic-version: header is required")
    if version not in VERSIONS:
        raise Refused(f'anthropic-version: "{version}" is not a valid version')


def check_body(body: Any, scenario: Scenario) -> None:
    """Refuse a request that the API refuses, with the field in the message."""
    _check_fields(body)
    model = scenario.models.get(body["model"])
    if model is None:
        raise Refused(f"model: {body['model']}", 404)
    if not 1 <= body["max_tokens"] <= model.max_output:
        raise Refused(f"max_tokens: {body['max_tokens']} is not from 1 to {model.max_output}")
    _check_tools(body.get("tools") or [])
    _check_tool_choice(body, model)
    _check_thinking(body, model)
    conversation.check_system(body.get("system"))
    conversation.check(body["messages"], prefill=model.prefill)
    _check_output(body.get("output_config") or {})
    _check_schema_sizes(body)
    _check_breakpoints(body)


def _check_fields(body: Any) -> None:
    if not isinstance(body, dict):
        raise Refused("the request body must be a JSON object")
    for name in REQUIRED:
        if name not in body:
            raise Refused(f"{name}: Field required")
    for name, value in body.items():
        if name not in TYPES:
            raise Refused(f"{name}: Extra inputs are not permitted")
        expected = TYPES[name]
        if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
            raise Refused(f"{name}: Input should be a valid {expected[0].__name__}")


def _check_tools(tools: list[Any]) -> None:
    names: set[str] = set()
    for number, tool in enumerate(tools):
        where = f"tools.{number}"
        if not isinstance(tool, dict) or tool.get("type", "custom") not in ("custom", None):
            raise Refused(f"{where}: only custom tools are known here")
        if unknown := sorted(set(tool) - TOOL_FIELDS):
            raise Refused(f"{where}.custom.{unknown[0]}: Extra inputs are not permitted")
        name = tool.get("name")
        if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
            raise Refused(
                f"{where}.custom.name: String should match pattern '^{TOOL_NAME.pattern}$'"
            )
        if name in names:
            raise Refused("tools: Tool names must be unique.")
        names.add(name)
        _check_input_schema(tool, where)
    if sum(tool.get("strict") is True for tool in tools) > MAX_STRICT_TOOLS:
        raise Refused(f"tools: at most {MAX_STRICT_TOOLS} tools may be strict")


def _check_input_schema(tool: dict[str, Any], where: str) -> None:
    schema = tool.get("input_schema")
    if not isinstance(schema, dict):
        raise Refused(f"{where}.custom.input_schema: Field required")
    if schema.get("type") != "object":
        raise Refused(f"{where}.custom.input_schema.type: Input should be 'object'")
    if tool.get("strict"):
        schema_rules.check(schema, f"{where}.custom.input_schema")


def _check_tool_choice(body: dict[str, Any], model: ModelRules) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    kind = choice.get("type")
    if kind not in ("auto", "any", "tool", "none"):
        raise Refused(f"tool_choice: {kind!r} is none of 'auto', 'any', 'tool', 'none'")
    if not body.get("tools"):
        raise Refused("tool_choice may only be specified while providing tools")
    if kind in ("any", "tool") and not model.forced_tools:
        raise Refused(f"tool_choice: forced tool use is not supported by {body['model']}")
    if kind == "tool" and choice.get("name") not in {tool["name"] for tool in body["tools"]}:
        raise Refused(f"Tool '{choice.get('name')}' not found in provided tools")


def _check_thinking(body: dict[str, Any], model: ModelRules) -> None:
    kind = body.get("thinking", {"type": "adaptive"}).get("type")
    if kind not in THINKING:
        raise Refused(f"thinking: {kind!r} is none of {', '.join(THINKING)}")
    if kind == "disabled" and not model.disabled_thinking:
        raise Refused(f"thinking.type.disabled: not supported by {body['model']}")
    if kind == "enabled" and not model.thinking_budget:
        raise Refused(f"thinking.budget_tokens: not supported by {body['model']}")
    if (
        kind == "enabled"
        and not 1024 <= body["thinking"].get("budget_tokens", 0) < (body["max_tokens"])
    ):
        raise Refused("thinking.budget_tokens: from 1024 and less than max_tokens")


def _check_output(config: dict[str, Any]) -> None:
    if unknown := sorted(set(config) - {"effort", "format"}):
        raise Refused(f"output_config.{unknown[0]}: Extra inputs are not permitted")
    effort = config.get("effort")
    if effort is not None and effort not in EFFORTS:
        raise Refused(f"output_config.effort: {effort!r} is none of {', '.join(EFFORTS)}")
    wanted = config.get("format")
    if wanted is None:
        return
    if not isinstance(wanted, dict) or wanted.get("type") != "json_schema":
        raise Refused("output_config.format.type: Input should be 'json_schema'")
    if not isinstance(wanted.get("schema"), dict):
        raise Refused("output_config.format.schema: Field required")
    if unknown := sorted(set(wanted) - {"schema", "type"}):
        raise Refused(f"output_config.format.{unknown[0]}: Extra inputs are not permitted")
    where = "output_config.format.schema"
    schema_rules.check(wanted["schema"], where)
    if schema_rules.emptied(wanted["schema"]):
        # The real API takes it and answers `{}`; here it is a mistake in whoever wrote the type.
        raise Refused(f"{where}: an object without properties; was it a free dict?")


def _check_schema_sizes(body: dict[str, Any]) -> None:
    schemas = [tool["input_schema"] for tool in body.get("tools") or () if tool.get("strict")]
    if wanted := (body.get("output_config") or {}).get("format"):
        schemas.append(wanted["schema"])
    schema_rules.check_size(schemas)


def _check_breakpoints(body: dict[str, Any]) -> None:
    found = list(conversation.cache_controls(body))
    for control in found:
        if not isinstance(control, dict) or control.get("type") != "ephemeral":
            raise Refused("cache_control.type: Input should be 'ephemeral'")
        if control.get("ttl", "5m") not in ("5m", "1h"):
            raise Refused("cache_control.ttl: Input should be '5m' or '1h'")
    if len(found) > MAX_BREAKPOINTS:
        raise Refused(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {len(found)}."
        )
