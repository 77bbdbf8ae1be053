"""From what a rule hit to the findings that a step reports."""

from collections.abc import Iterable
from typing import NamedTuple

from common.contracts import Document, Finding, Result, Severity, Span
from workers.desk import Desk
from workers.tools.categories import CATEGORIES
from workers.tools.suppressions import silenced

LONGEST_MESSAGE = 400


class Hit(NamedTuple):
    """One place where a rule applies; what it leaves open, its category says."""

    line: int
    rule: str
    category: str
    confidence: int
    end: int | None = None
    message: str = ""
    suggestion: str = ""
    severity: Severity | None = None


def report(desk: Desk, hits: Iterable[tuple[Document, Hit]]) -> Result:
    """Return the hits on lines that count and are not silenced, each once, in a fixed order."""
    made = {
        finding
        for document, hit in hits
        # Most hits of a large file lie outside a step's part, so the cheap question comes first.
        if desk.counts(document, Span(start=hit.line, end=max(hit.line, hit.end or 0)))
        and (finding := _finding(desk, document, hit))
        and not silenced(document, finding)
    }
    return Result(findings=tuple(sorted(made, key=_order)))


def _finding(desk: Desk, document: Document, hit: Hit) -> Finding | None:
    category = CATEGORIES[hit.category]
    return desk.finding(
        document,
        hit.line,
        hit.end,
        rule=hit.rule,
        category=hit.category,
        severity=hit.severity or category.severity,
        message=(hit.message or category.message)[:LONGEST_MESSAGE],
        confidence=hit.confidence,
        suggestion=hit.suggestion or category.suggestion,
    )


def _order(finding: Finding) -> tuple[str, int, int, str, str]:
    return finding.path, finding.span.start, finding.span.end, finding.rule, finding.message
