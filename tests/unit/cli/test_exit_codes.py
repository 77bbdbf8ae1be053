from typing import Literal

import pytest

from chargehand.cli.review import exit_code
from common.contracts import MergedFinding, Report, Severity, Span, Timings

NONE = Timings(makespan=0, work=0, critical_path=0, speedup=1)


def finding(severity: Severity) -> MergedFinding:
    fields = {
        "path": "a.py",
        "span": Span(start=1, end=1),
        "severity": severity,
        "message": "It is wrong.",
        "confidence": 90,
        "rule": "test:rule",
        "category": "test",
        "specialist": "logic",
        "fingerprint": "0" * 16,
    }
    return MergedFinding.model_validate({**fields, "found_by": ["logic"], "evidence": [fields]})


def report(state: Literal["complete", "partial"], *severities: Severity) -> Report:
    return Report(
        job="job0000001",
        team="code_review",
        state=state,
        engines=("rules",),
        summary="done",
        findings=tuple(map(finding, severities)),
        timings=NONE,
    )


@pytest.mark.parametrize(
    ("found", "fail_on", "code"),
    [
        ([], "info", 0),
        (["critical"], "critical", 1),
        (["warning"], "critical", 0),
        (["warning"], "warning", 1),
        (["info"], "warning", 0),
        (["info"], "info", 1),
        (["critical"], "info", 1),
        (["critical"], "never", 0),
    ],
)
def test_findings_at_or_above_the_severity_fail_the_command(
    found: list[Severity], fail_on: Severity, code: int
) -> None:
    assert exit_code(report("complete", *found), fail_on) == code


@pytest.mark.parametrize("fail_on", ["critical", "never"])
def test_a_partial_report_is_no_clean_bill(fail_on: Severity) -> None:
    assert exit_code(report("partial"), fail_on) == 3
    assert exit_code(report("partial", "critical"), fail_on) == 3
