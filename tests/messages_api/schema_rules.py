"""The JSON schemas that the API takes for answers and strict tools."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.messages_api.refusal import Refused

MAX_OPTIONAL = 24
MAX_UNIONS = 16

TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}
FORMATS = {
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "time",
    "uri",
    "uuid",
}
ANYWHERE = {"$defs", "$ref", "$schema", "allOf", "anyOf", "const", "default", "definitions"}
ANYWHERE |= {"description", "enum", "title", "type"}
BY_TYPE = {
    "object": {"additionalProperties", "properties", "required"},
    "array": {"items", "minItems"},
    "string": {"format", "pattern"},
}
UNSUPPORTED_REGEX = ("(?=", "(?!", "(?<", "\\b", "\\B", "\\1")


def check(schema: Any, where: str) -> None:
    """Refuse a schema that the API would not compile."""
    _check_node(schema, where)
    _check_references(schema, where)


def check_size(schemas: list[dict[str, Any]]) -> None:
    """Refuse schemas that have too many optional or union-typed properties between them."""
    count: Counter[str] = Counter()
    for node in (node for schema in schemas for node in walk(schema)):
        properties = node.get("properties") or {}
        count["optional"] += len(set(properties) - set(node.get("required") or ()))
        count["unions"] += sum(
            "anyOf" in value or isinstance(value.get("type"), list) for value in properties.values()
        )
    if count["optional"] > MAX_OPTIONAL:
        raise Refused(
            f"Schemas contains too many optional parameters ({count['optional']}), which would "
            f"make grammar compilation inefficient (limit: {MAX_OPTIONAL})."
        )
    if count["unions"] > MAX_UNIONS:
        raise Refused(
            f"Schemas contains too many parameters with union types ({count['unions']}), which "
            f"causes exponential compilation cost (limit: {MAX_UNIONS})."
        )


def children(node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each schema directly inside a schema, with its place."""
    for key in ("$defs", "definitions", "properties"):
        for name, value in (node.get(key) or {}).items():
            yield f"{key}.{name}", value
    for key in ("anyOf", "allOf"):
        for number, value in enumerate(node.get(key) or ()):
            yield f"{key}.{number}", value
    if "items" in node:
        yield "items", node["items"]


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and every schema inside it."""
    yield node
    for _, child in children(node):
        yield from walk(child)


def _check_node(node: Any, where: str) -> None:
    if not isinstance(node, dict):
        raise Refused(f"{where}: a schema must be an object, not {node!r}")
    types = node.get("type", [])
    types = types if isinstance(types, list) else [types]
    if wrong := [name for name in types if name not in TYPES]:
        raise Refused(f"{where}.type: {wrong[0]!r} is not a type")
    allowed = ANYWHERE.union(*(BY_TYPE.get(name, set()) for name in types))
    if unknown := sorted(set(node) - allowed):
        kind = f"For '{types[0]}' type, property" if types else "property"
        raise Refused(f"{where}: {kind} '{unknown[0]}' is not supported")
    if not types and not {"$ref", "allOf", "anyOf", "const", "enum"} & set(node):
        raise Refused(f"{where}: Schema type is missing")
    _check_values(node, types, where)
    for place, child in children(node):
        _check_node(child, f"{where}.{place}")


def _check_values(node: dict[str, Any], types: list[str], where: str) -> None:
    if "object" in types:
        _check_object(node, where)
    if node.get("minItems", 0) not in (0, 1):
        raise Refused(f"{where}: For 'array' type, 'minItems' values other than 0 or 1")
    if "format" in node and node["format"] not in FORMATS:
        raise Refused(f"{where}.format: {node['format']!r} is not supported")
    if any(part in node.get("pattern", "") for part in UNSUPPORTED_REGEX):
        raise Refused(f"{where}.pattern: {node['pattern']!r} uses what is not supported")
    if any(isinstance(value, dict | list) for value in node.get("enum", ())):
        raise Refused(f"{where}.enum: complex values are not supported")
    if any("$ref" in part for part in node.get("allOf", ()) if isinstance(part, dict)):
        raise Refused(f"{where}.allOf: '$ref' inside 'allOf' is not supported")


def _check_object(node: dict[str, Any], where: str) -> None:
    if node.get("additionalProperties") is not False:
        raise Refused(
            f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        )
    if missing := sorted(set(node.get("required") or ()) - set(node.get("properties") or ())):
        raise Refused(f"{where}.required: {missing[0]!r} is not a property")


def _check_references(schema: dict[str, Any], where: str) -> None:
    places = {
        f"#/{key}/{name}": value
        for key in ("$defs", "definitions")
        for name, value in (schema.get(key) or {}).items()
    }

    def follow(node: dict[str, Any], seen: tuple[str, ...]) -> None:
        for inner in walk({key: node[key] for key in node if key not in ("$defs", "definitions")}):
            target = inner.get("$ref")
            if target is None:
                continue
            if target not in places:
                raise Refused(f"{where}: '$ref' to {target!r} is not supported")
            if target in seen:
                raise Refused(f"{where}: Circular reference detected in schema definitions")
            follow(places[target], (*seen, target))

    follow(schema, ())


def emptied(schema: dict[str, Any]) -> bool:
    """Say whether an object in a schema can hold nothing, as `dict[str, X]` is turned into."""
    return any(node.get("type") == "object" and not node.get("properties") for node in walk(schema))
