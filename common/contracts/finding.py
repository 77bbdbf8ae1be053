"""A problem in a document, as one specialist reports it."""

import hashlib
from typing import Literal

from pydantic import Field

from common.contracts.base import Confidence, Contract, Name, Text
from common.contracts.document import RelativePath, Span

Severity = Literal["critical", "warning", "info"]


def fingerprint(path: str, category: str, snippet: str) -> str:
    """Identify a problem by its file, kind and code, so that it survives moved lines."""
    code = " ".join(snippet.split())
    return hashlib.sha256(f"{path}\0{category}\0{code}".encode()).hexdigest()[:16]


class Finding(Contract):
    """One problem at one place."""

    path: RelativePath
    span: Span
    severity: Severity
    message: Text
    suggestion: str = ""
    confidence: Confidence
    rule: Text
    """The analyser's own rule, such as `bandit:B608`."""
    category: Name
    """The kind of problem, the same for every analyser, such as `sql-injection`."""
    specialist: Name
    fingerprint: str = Field(pattern=r"^[0-9a-f]{16}(-\d+)?$")


class Evidence(Contract):
    """Where a statement of a text result comes from."""

    path: RelativePath
    span: Span | None = None
    quote: Text
