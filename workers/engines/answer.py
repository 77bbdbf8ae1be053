"""The form in which a model answers, and how it becomes a result."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from common.contracts import (
    Assignment,
    Document,
    Escalation,
    Evidence,
    Finding,
    Result,
    Severity,
    Span,
)
from workers.desk import Desk


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FindingForm(_Form):
    """One problem."""

    path: str
    start: int = Field(description="first line, as numbered in the document")
    end: int = Field(description="last line")
    severity: Severity
    category: str = Field(description="kind of problem as a slug, such as sql-injection")
    message: str
    suggestion: str = ""
    confidence: int = Field(description="0 to 100")


class EvidenceForm(_Form):
    """Where a statement comes from."""

    path: str
    quote: str


class EscalationForm(_Form):
    """Why there is no full answer."""

    reason: Literal["out_of_scope", "ambiguous_input", "confidence_too_low"]
    message: str


class Answer(_Form):
    """The whole answer of a specialist."""

    findings: list[FindingForm] = []
    text: str = ""
    evidence: list[EvidenceForm] = []
    confidence: int = Field(default=80, description="of the whole answer, 0 to 100")
    escalation: EscalationForm | None = Field(
        default=None, description="only when you cannot or should not answer in full"
    )


class Verdict(_Form):
    """The answer of a validator."""

    confirmed: bool
    why: str


def body(desk: Desk, answer: Answer) -> Result | Escalation:
    """Turn an answer into a result; what does not belong to this step is left out."""
    subjects = {document.path: document for document in desk.subjects()}
    found = [_finding(desk, subjects, form) for form in answer.findings]
    quoted = [_evidence(desk.assignment, form) for form in answer.evidence]
    result = Result(
        findings=tuple(finding for finding in found if finding is not None),
        text=answer.text,
        evidence=tuple(dict.fromkeys(evidence for evidence in quoted if evidence is not None)),
        confidence=_percent(answer.confidence),
    )
    if answer.escalation is None:
        return result
    empty = not result.findings and not result.text
    return Escalation(
        reason=answer.escalation.reason,
        message=answer.escalation.message.strip() or "no reason given",
        partial=None if empty else result,
    )


def _finding(desk: Desk, subjects: dict[str, Document], form: FindingForm) -> Finding | None:
    document = subjects.get(form.path)
    if document is None or not form.message.strip():
        return None
    if not 1 <= form.start <= (document.text or "").count("\n") + 1:
        return None
    return desk.finding(
        document,
        form.start,
        max(form.start, form.end),
        rule="claude",
        category=_slug(form.category),
        severity=form.severity,
        message=form.message,
        suggestion=form.suggestion,
        confidence=_percent(form.confidence),
    )


def _slug(words: str) -> str:
    """Return a category as a name; whatever the model wrote, it becomes one."""
    kept = "".join(c if c.isalnum() and c.isascii() else "-" for c in words.lower())
    slug = "-".join(part for part in kept.split("-") if part)[:60]
    return slug if slug[:1].isalpha() else "other"


def _percent(number: int) -> int:
    return max(0, min(100, number))


def _evidence(assignment: Assignment, form: EvidenceForm) -> Evidence | None:
    """Return a quote with its line; one that stands nowhere in what was given is invented."""
    words = form.quote.strip()
    if not words:
        return None
    for document in assignment.documents:
        text = document.text or ""
        if document.path == form.path and words in text:
            at = text[: text.index(words)].count("\n") + 1
            span = Span(start=at, end=at + words.count("\n"))
            return Evidence(path=document.path, span=span, quote=words)
    results = [upstream.result for upstream in assignment.upstream if upstream.result]
    earlier = [evidence for result in results for evidence in result.evidence]
    return next((e for e in earlier if e.path == form.path and words in e.quote), None)
