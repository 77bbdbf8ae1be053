"""What a message on our queues must look like, checked as bytes before Celery sees it.

Celery trusts what it takes off a queue: most of what is refused here would end a worker, go back to
the queue, and end the next one.
"""

import json
import re
from base64 import b64decode
from collections.abc import Container
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from common import names

LARGEST = 8 * 2**20
"""The most bytes of a message. Our own are a tenth of that; a submission that comes as a message
carries its documents, and a larger one goes through the client, which stores them first."""
TAIL = 16 * 1024
"""How much of a message's end is looked at to find who waits for its result."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class _Part(BaseModel):
    """Other fields than the known ones are left to Celery, which may gain some."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, hide_input_in_errors=True)


class _Headers(_Part):
    task: str
    id: Id
    compression: None = None
    eta: None = None
    expires: datetime | None = None
    group: Id | None = None
    group_index: int | None = None
    ignore_result: bool | None = None
    kwargsrepr: str | None = None
    argsrepr: str | None = None
    origin: str | None = None
    parent_id: Id | None = None
    replaced_task_nesting: int | None = None
    retries: int | None = None
    root_id: Id | None = None
    shadow: str | None = None
    stamped_headers: list[str] | None = None
    stamps: dict[str, Any] | None = None
    timelimit: tuple[float | None, float | None] | None = None


class _DeliveryInfo(_Part):
    exchange: str
    routing_key: str


class _Properties(_Part):
    body_encoding: Literal["base64"]
    correlation_id: Id | None = None
    delivery_info: _DeliveryInfo
    delivery_tag: Id
    priority: int | None = None
    reply_to: str | None = None


class _Envelope(_Part):
    body: str
    content_encoding: Literal["utf-8"] = Field(alias="content-encoding")
    content_type: Literal["application/json"] = Field(alias="content-type")
    headers: _Headers
    properties: _Properties


class _Embedded(_Part):
    callbacks: list[dict[str, Any]] | None = None
    errbacks: list[dict[str, Any]] | None = None
    chain: list[dict[str, Any]] | None = None
    chord: dict[str, Any] | None = None


_envelope = TypeAdapter(_Envelope)
_call: TypeAdapter[tuple[list[Any], dict[str, Any], _Embedded]] = TypeAdapter(
    tuple[list[Any], dict[str, Any], _Embedded]
)


def fault(item: bytes, tasks: Container[str]) -> str | None:
    """Return why a message is not for these tasks, without its content; None when it is."""
    if len(item) > LARGEST:
        return f"it has {len(item):,} bytes; {LARGEST:,} are allowed"
    try:
        envelope = _envelope.validate_json(item)
        if envelope.headers.task not in tasks:
            return f"no task {envelope.headers.task[:100]!r} here"
        _, kwargs, _ = _call.validate_json(b64decode(envelope.body, validate=True))
    except ValidationError as error:
        return faults(error)
    except ValueError:
        return "body: it is no base64"
    return _lie(envelope, kwargs)


def _lie(envelope: _Envelope, kwargs: dict[str, Any]) -> str | None:
    """Return what is wrong when a message goes by another id than its own."""
    named = envelope.headers.id
    if envelope.properties.correlation_id not in (None, named):
        return "its id and its correlation_id differ"
    given = kwargs.get("assignment")
    if envelope.headers.task == names.WORK and isinstance(given, dict):
        parts = [given.get(field) for field in ("job", "step", "attempt")]
        if None not in parts and named != ".".join(map(str, parts)):
            return "its id is not that of its assignment"
    return None


def faults(error: ValidationError) -> str:
    """Return what a validation found, in one line and without the values."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    told = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}".removeprefix(": ") for e in found[:5]]
    more = [f"and {len(found) - 5} more"] if len(found) > 5 else []
    return "; ".join(told + more).replace("Value error, ", "")


def tag(item: bytes) -> str:
    """Return the name by which a message without fault is acknowledged."""
    return _envelope.validate_json(item).properties.delivery_tag


def waiting(item: bytes) -> str | None:
    """Return the id under which somebody may wait for the result of a message, readable or not."""
    tail = item[-TAIL:]
    found = re.search(rb'"correlation_id": ?("[^"\\]{1,255}")', tail)
    if found is None or re.search(rb'"ignore_result": ?true', tail):
        return None
    return str(json.loads(found[1].decode(errors="replace")))
