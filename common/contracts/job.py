"""What a caller submits."""

from collections import Counter
from pathlib import PurePosixPath
from typing import Self

from pydantic import Field, model_validator

from common.contracts.base import Confidence, Contract, Name, Seconds, Text, Version
from common.contracts.document import Document, Exclusion


class Job(Contract):
    """A team, a request, its inputs and its limits."""

    v: Version = 1
    team: Name
    request: Text = Field(max_length=20_000)
    documents: tuple[Document, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    """What the submitter left out, with the reason; it is carried into the report."""
    specialists: tuple[Name, ...] = ()
    """The specialists to use; none named means all of the team that apply."""
    min_confidence: Confidence = 0
    deadline_seconds: Seconds | None = None
    """Seconds until a report is wanted; the team's own limit when absent."""
    idempotency_key: str | None = Field(default=None, min_length=1, max_length=200)

    @model_validator(mode="after")
    def _unique_paths(self) -> Self:
        twice = sorted(p for p, n in Counter(d.path for d in self.documents).items() if n > 1)
        if twice:
            raise ValueError(f"documents with the same path: {', '.join(twice)}")
        paths = {d.path for d in self.documents}
        folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
        both = sorted(paths & folders)
        if both:
            raise ValueError(f"paths that are a document and a folder: {', '.join(both)}")
        return self
