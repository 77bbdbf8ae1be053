from typing import Any

import pytest

from common.contracts import (
    Conflict,
    Evidence,
    Exclusion,
    Finding,
    Gap,
    MergedFinding,
    Report,
    Span,
    Timings,
)


def finding(**given: Any) -> MergedFinding:
    """A finding with its evidence; what is given takes the place of the usual."""
    found_by = given.pop("found_by", ("security",))
    plain = {
        "path": "src/app.py",
        "span": Span(start=3, end=3),
        "severity": "critical",
        "message": "SQL is built from input",
        "suggestion": "Use parameters",
        "confidence": 90,
        "rule": "bandit:B608",
        "category": "sql-injection",
        "specialist": found_by[0],
        "fingerprint": "0123456789abcdef",
    } | given
    return MergedFinding(**plain, found_by=found_by, evidence=(Finding(**plain),))


def report(**given: Any) -> Report:
    """A report of rules that is complete; what is given takes the place of the usual."""
    plain: dict[str, Any] = {
        "job": "abcdefgh12",
        "team": "code_review",
        "state": "complete",
        "engines": ("rules",),
        "summary": "1 problem in 1 file",
        "timings": Timings(makespan=1.5, work=4.5, critical_path=1.25, speedup=3.0),
    }
    return Report(**(plain | given))


@pytest.fixture
def make_finding() -> Any:
    return finding


@pytest.fixture
def make_report() -> Any:
    return report


@pytest.fixture
def full() -> Report:
    """A report with something of everything."""
    return report(
        state="partial",
        findings=(
            finding(found_by=("logic", "security")),
            finding(
                path="web/x y.js",
                span=Span(start=7, end=9),
                severity="warning",
                message="Slow loop",
                suggestion="",
                rule="lizard:complexity",
                category="complexity",
                confidence=70,
                fingerprint="fedcba9876543210-2",
                found_by=("performance",),
            ),
            finding(
                span=Span(start=1, end=1), severity="info", message="Odd name", rule="ruff:N801"
            ),
        ),
        conflicts=(
            Conflict(
                fingerprint="0123456789abcdef",
                severities=(("logic", "warning"), ("security", "critical")),
                settled="critical",
                rule="the more severe one counts",
            ),
        ),
        gaps=(
            Gap(
                step="comments-1",
                specialist="comments",
                kind="not_covered",
                reason="out_of_scope",
                message="needs a model",
            ),
            Gap(
                step="style-1",
                specialist="style",
                kind="lost",
                reason="timeout",
                message="took too long",
            ),
        ),
        excluded=(Exclusion(path="logo.png", reason="binary"),),
        below_threshold=2,
    )


@pytest.fixture
def brief() -> Report:
    """A report of text with its sources."""
    return report(
        team="brief",
        summary="Sales grew",
        text="# Brief\n\nSales grew by **4 %**.\n\n| year | sales |\n|---|---|\n| 2024 | 4 |\n",
        evidence=(
            Evidence(path="sales.csv", span=Span(start=2, end=3), quote="2024,4"),
            Evidence(path="notes.md", quote="a good year"),
        ),
    )


NASTY = "\x1b[31mred\x1b[0m\x9b2J\x07\r\nnext\u202eevil"


@pytest.fixture
def nasty() -> Report:
    """A report in which every text comes from someone who means harm."""
    return report(
        summary=NASTY,
        text=NASTY,
        findings=(finding(path=f"src/{NASTY}.py", message=NASTY, suggestion=NASTY, rule=NASTY),),
        evidence=(Evidence(path=f"src/{NASTY}", quote=NASTY),),
        gaps=(Gap(step="s", specialist="s", kind="lost", reason="x", message=NASTY),),
        excluded=(Exclusion(path=NASTY, reason=NASTY),),
    )
