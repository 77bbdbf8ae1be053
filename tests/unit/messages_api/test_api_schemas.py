"""`json: auto` fits the schemas that the SDK makes of pydantic types."""

import re
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field

from tests.messages_api import schema_values
from tests.unit.messages_api.api_requests import request


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Severity(StrEnum):
    HIGH = "high"
    LOW = "low"


class Span(Forbidding):
    start: int = Field(ge=3)
    end: Annotated[int, Field(gt=10, le=20)]


class Cat(Forbidding):
    kind: Literal["cat"]
    lives: int = Field(9, ge=1, multiple_of=3)


class Dog(Forbidding):
    kind: Literal["dog"]


class Finding(Forbidding):
    id: str = Field(pattern=r"^[a-z][a-z0-9-]{2,}:(high|low)\d+$")
    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    title: str = Field(min_length=20, max_length=30)
    severity: Severity
    certainty: float = Field(gt=0, lt=1)
    spans: list[Span] = Field(min_length=2, max_length=4)
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    reason: str | None = None
    tags: tuple[str, ...] = ()
    sure: bool
    day: date
    at: datetime
    key: UUID
    none: None


class Findings(Forbidding):
    findings: list[Finding]
    again: Finding


def test_an_automatic_answer_fits_the_type_that_was_asked_for(scripted: Any) -> None:
    import anthropic

    _, client = scripted({"default": {"json": "auto"}})
    asked = request(schema=anthropic.transform_schema(Findings))

    first, second = (client.messages.create(**asked).content[0].text for _ in range(2))

    assert first == second
    assert len(Findings.model_validate_json(first).findings) == 1


def test_json_is_made_only_where_a_schema_is_asked_for(scripted: Any) -> None:
    import anthropic

    _, client = scripted({"default": {"json": "auto"}})

    with pytest.raises(anthropic.BadRequestError, match="no schema is asked for"):
        client.messages.create(**request())


def test_a_free_dict_is_refused_since_it_would_come_back_empty(scripted: Any) -> None:
    import anthropic

    class Loose(BaseModel):
        files: dict[str, int]

    _, client = scripted({"default": {"json": "auto"}})

    with pytest.raises(anthropic.BadRequestError, match="free dict"):
        client.messages.create(**request(schema=anthropic.transform_schema(Loose)))


@pytest.mark.parametrize(
    "pattern", ["^a+$", r"^[^a]\S\w\D\d$", "^(x|y){3}?[.-]$", r"^\$?v\d{1,3}(\.\d+)*$", "."]
)
def test_a_text_fits_its_pattern(pattern: str) -> None:
    text = schema_values.example({"type": "string", "pattern": pattern})

    assert re.search(pattern, text)
