"""Values that fit a JSON schema, always the same ones."""

import math
import re
from re import _constants as ops  # type: ignore[attr-defined]  # no public parser of patterns
from re import _parser as parser  # type: ignore[attr-defined]  # no public parser of patterns
from typing import Any

BY_FORMAT = {
    "date": "2026-01-02",
    "date-time": "2026-01-02T03:04:05Z",
    "duration": "PT1M",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "time": "03:04:05Z",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}

COMMON_FIRST = "ax0A_-. /" + "".join(map(chr, range(33, 127)))


def example(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """Return a value that fits the schema, and the limits that the SDK wrote in descriptions."""
    root = root or schema
    if "$ref" in schema:
        return example(_target(schema["$ref"], root), root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        # A value says more than its absence.
        return example(next((one for one in schema["anyOf"] if not _null(one)), {}), root)
    if "allOf" in schema:
        return {key: value for one in schema["allOf"] for key, value in example(one, root).items()}
    return _of_type(schema, root)


def _of_type(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    limits = {**_written_limits(schema.get("description", "")), **schema}
    if kind == "object":
        return {key: example(value, root) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        length = min(max(1, int(limits.get("minItems", 1))), int(limits.get("maxItems", 1000)))
        return [example(schema["items"], root)] * length if "items" in schema else []
    if kind in ("integer", "number"):
        return _number(limits, kind == "integer")
    if kind == "string":
        return _string(limits)
    return True if kind == "boolean" else None


def _null(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "null"


def _target(reference: str, root: dict[str, Any]) -> dict[str, Any]:
    node: Any = root
    for key in reference.removeprefix("#/").split("/"):
        node = node[key]
    return dict(node)


def _written_limits(description: str) -> dict[str, str]:
    """Read `{minimum: 1, maximum: 5}` at the end of a description."""
    found = re.search(r"\{(\w+: .*)\}$", description, re.DOTALL)
    if found is None:
        return {}
    pairs = (part.split(": ", 1) for part in re.split(r", (?=[a-zA-Z]+: )", found[1]))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _number(limits: dict[str, Any], whole: bool) -> float:
    low, high = float(limits.get("minimum", -math.inf)), float(limits.get("maximum", math.inf))
    step = 1.0 if whole else 0.001
    low = max(low, float(limits.get("exclusiveMinimum", -math.inf)) + step)
    high = min(high, float(limits.get("exclusiveMaximum", math.inf)) - step)
    value = max(low, min(1.0, high))
    if multiple := float(limits.get("multipleOf", 0)):
        value = math.ceil(value / multiple) * multiple
    return int(value) if whole else value


def _string(limits: dict[str, Any]) -> str:
    if limits.get("format") in BY_FORMAT:
        return BY_FORMAT[limits["format"]]
    pattern = limits.get("pattern")
    text = _matching(parser.parse(pattern)) if pattern else "example"
    text += (text[-1:] or "x") * (int(limits.get("minLength", 0)) - len(text))
    return text[: int(limits.get("maxLength", len(text)))]


def _matching(parsed: Any) -> str:
    """Return the shortest text that a simple pattern matches."""
    return "".join(_piece(op, argument) for op, argument in parsed)


def _piece(op: Any, argument: Any) -> str:
    if op is ops.LITERAL:
        return chr(argument)
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        least, most, inner = argument
        return _matching(inner) * int(max(least, min(1, most)))
    if op is ops.SUBPATTERN:
        return _matching(argument[-1])
    if op is ops.BRANCH:
        return _matching(argument[1][0])
    if op is ops.IN:
        return _member(argument)
    return "x" if op in (ops.ANY, ops.NOT_LITERAL) else ""


def _member(members: list[tuple[Any, Any]]) -> str:
    """Return a character of a set such as `[a-z0-9]`."""
    pattern = re.compile(f"[{''.join(_set_part(*member) for member in members)}]")
    return next(one for one in COMMON_FIRST if pattern.match(one))


def _set_part(op: Any, argument: Any) -> str:
    if op is ops.NEGATE:
        return "^"
    if op is ops.RANGE:
        return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
    if op is ops.CATEGORY:
        names = {"DIGIT": "\\d", "SPACE": "\\s", "WORD": "\\w"}
        name = str(argument).removeprefix("CATEGORY_")
        part = names[name.removeprefix("NOT_")]
        return part.upper() if name.startswith("NOT_") else part
    return re.escape(chr(argument))
