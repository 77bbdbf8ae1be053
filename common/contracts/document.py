"""What a job works on: texts with a path, whole or by reference, and facts about them."""

from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from common.contracts.base import Contract, Text


def contained(path: str) -> str:
    """Return a relative path that stays below its folder, or raise ValueError."""
    pure = PurePosixPath(path)
    escapes = pure.is_absolute() or ".." in pure.parts or not pure.parts
    if escapes or "\0" in path or "\\" in path:
        raise ValueError(
            f"path {path!r} leaves its folder; give a relative path with '/' and without '..'"
        )
    return str(pure)


RelativePath = Annotated[str, Field(max_length=1024), AfterValidator(contained)]
Ref = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]

MOST_LINES = 10_000_000
"""More lines than any text that a job can carry has."""


class Span(Contract):
    """A range of lines, counted from 1, both ends included."""

    start: int = Field(ge=1)
    end: int = Field(ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"span ends at line {self.end}, before its start {self.start}")
        return self

    def overlaps(self, other: "Span") -> bool:
        """Tell whether the two share a line."""
        return self.start <= other.end and other.start <= self.end


class Note(Contract):
    """A fact about a document that its submitter collected, such as a line's last commit."""

    kind: Literal["blame", "commit"]
    text: Text
    span: Span | None = None


class Document(Contract):
    """One text. Its body is here, or stored under its content's hash when it is large."""

    path: RelativePath
    language: str | None = None
    role: Literal["subject", "guideline"] = "subject"
    text: str | None = None
    ref: Ref | None = None
    lines: int = Field(ge=0, le=MOST_LINES)
    changed: tuple[Span, ...] | None = None
    """The lines that count; None means all of them."""
    notes: tuple[Note, ...] = ()

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if (self.text is None) == (self.ref is None):
            raise ValueError(f"document {self.path!r} needs either a text or a ref")
        return self

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if any(span.end > MOST_LINES for span in self.changed or ()):
            raise ValueError(f"document {self.path!r} has a change below line {MOST_LINES:,}")
        return self


class Slice(Contract):
    """The part of a document that a step looks at; no span means all of it."""

    path: RelativePath
    span: Span | None = None


class Exclusion(Contract):
    """A part of the input that no step looks at, and why."""

    path: str
    reason: Text
