"""What a writer may and may not do with findings."""

from typing import Any

import pytest

from common.contracts import Conflict
from supervisor.write import faults
from supervisor.written import WrittenForm, written
from tests.unit.samples import merged_finding, report

A, B, C = "a" * 16, "b" * 16, "c" * 16
REPORT = report(
    findings=(
        merged_finding(fingerprint=A, severity="critical"),
        merged_finding(fingerprint=B, found_by=("logic",)),
        merged_finding(fingerprint=C, path="b.py", severity="info"),
    ),
    conflicts=(
        Conflict(
            fingerprint=B,
            severities=(("logic", "critical"), ("security", "warning")),
            settled="warning",
            rule="x",
        ),
    ),
)


def form(**changes: Any) -> WrittenForm:
    fields = {"summary": f"Fix [{A}].", "ranking": [A, B, C]}
    return WrittenForm.model_validate(fields | changes)


def verdict(name: str, severity: str) -> dict[str, str]:
    return {"id": name, "severity": severity, "why": "It can happen."}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"ranking": [A, B, C, "d" * 16]}, "no finding"),
    ({"summary": f"Fix [{'e' * 16}]."}, "no finding"),
    ({"summary": "All is well."}, "cites no finding"),
    ({"ranking": [B, C]}, "critical finding"),
    ({"same": [[A, C]]}, "different files"),
    ({"verdicts": [verdict(A, "info")]}, "no contradiction"),
    ({"verdicts": [verdict(B, "info")]}, "are the choices"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_a_writer_may_not_do_is_named(changes: dict[str, Any], said: str) -> None:
    found = faults(form(**changes), REPORT)

    assert len(found) == 1
    assert said in found[0]


def test_a_sound_form_ranks_merges_and_judges() -> None:
    given = form(ranking=[C, B, A], same=[[A, B]], verdicts=[verdict(B, "critical")])

    made = written(given, REPORT)

    assert faults(given, REPORT) == []
    assert [(f.fingerprint, len(f.evidence)) for f in made.findings] == [(C, 1), (A, 2)]
    assert (made.conflicts[0].settled, made.writer) == ("critical", "claude")
