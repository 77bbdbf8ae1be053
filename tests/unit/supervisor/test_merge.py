from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from common.contracts import Conflict, Finding, Span
from supervisor.merge import RANK, RULE, merge
from tests.unit.samples import finding, texts


def test_the_same_problem_from_several_specialists_is_one_finding() -> None:
    reports = [
        finding(10, 12, specialist="security", confidence=90, message="Injection."),
        finding(11, specialist="logic", confidence=60, suggestion="Bind the value."),
        finding(12, 14, specialist="security", confidence=70, rule="ruff:S608"),
    ]

    merged, conflicts = merge(reports)

    assert len(merged) == 1
    one = merged[0]
    assert (one.message, one.confidence, one.span) == ("Injection.", 90, Span(start=10, end=12))
    assert one.found_by == ("logic", "security")
    assert list(one.evidence) == reports
    assert one.suggestion == "Bind the value."
    assert conflicts == []


def test_the_best_reports_own_suggestion_comes_first() -> None:
    reports = [
        finding(specialist="logic", confidence=10, suggestion="Theirs."),
        finding(specialist="security", confidence=90, suggestion="Mine."),
    ]

    assert merge(reports)[0][0].suggestion == "Mine."


def test_other_files_kinds_and_lines_are_other_problems() -> None:
    reports = [
        finding(10),
        finding(10, path="b.py"),
        finding(10, category="secrets"),
        finding(11),
    ]

    merged, _ = merge(reports)

    assert len(merged) == 4
    assert all(len(one.evidence) == 1 for one in merged)


def test_the_most_confident_report_settles_a_conflict() -> None:
    reports = [
        finding(specialist="logic", severity="critical", confidence=60),
        finding(specialist="security", severity="info", confidence=90),
    ]

    merged, conflicts = merge(reports)

    assert merged[0].severity == "info"
    assert conflicts == [
        Conflict(
            fingerprint=merged[0].fingerprint,
            severities=(("logic", "critical"), ("security", "info")),
            settled="info",
            rule=RULE,
        )
    ]


def test_among_equally_confident_reports_the_more_severe_one_settles_a_conflict() -> None:
    reports = [
        finding(specialist="logic", severity="info"),
        finding(specialist="security", severity="critical"),
        finding(specialist="style", severity="warning"),
    ]

    merged, conflicts = merge(reports)

    assert merged[0].severity == "critical"
    assert [c.settled for c in conflicts] == ["critical"]


def test_findings_are_ranked_by_severity_then_confidence_then_place() -> None:
    reports = [
        finding(1, severity="info", confidence=100, category="a"),
        finding(2, severity="critical", confidence=50, category="b"),
        finding(3, severity="critical", confidence=90, path="z.py"),
        finding(4, severity="critical", confidence=90, path="b.py"),
        finding(9, severity="warning", category="c"),
    ]

    merged, _ = merge(reports)

    assert [one.span.start for one in merged] == [4, 3, 2, 9, 1]


def test_problems_that_look_the_same_are_numbered_down_the_file() -> None:
    merged, _ = merge([finding(30), finding(10), finding(20)])

    assert {one.span.start: one.fingerprint for one in merged} == {
        10: "0123456789abcdef",
        20: "0123456789abcdef-2",
        30: "0123456789abcdef-3",
    }


def test_a_conflict_names_the_numbered_problem() -> None:
    reports = [
        finding(10),
        finding(20, severity="info", specialist="logic"),
        finding(20, severity="critical"),
    ]

    merged, conflicts = merge(reports)

    assert [c.fingerprint for c in conflicts] == ["0123456789abcdef-2"]
    assert {c.fingerprint for c in conflicts} <= {one.fingerprint for one in merged}


def test_reports_that_differ_in_their_words_alone_are_told_apart_in_any_order() -> None:
    one, other = finding(message="One."), finding(message="Other.")

    forth, back = merge([one, other]), merge([other, one])

    assert forth == back
    assert texts(forth[0]) == ["One."]


def test_nothing_merges_to_nothing() -> None:
    assert merge([]) == ([], [])


def varied(fields: dict[str, Any]) -> Finding:
    start, length = fields.pop("place")
    return finding(start, start + length, **fields)


reports = st.fixed_dictionaries(
    {
        "place": st.tuples(st.integers(1, 6), st.integers(0, 3)),
        "path": st.sampled_from(["a.py", "b.py"]),
        "category": st.sampled_from(["secrets", "naming"]),
        "severity": st.sampled_from(["critical", "warning", "info"]),
        "specialist": st.sampled_from(["security", "logic"]),
        "rule": st.sampled_from(["r1", "r2"]),
        "confidence": st.sampled_from([50, 90]),
        "message": st.sampled_from(["One.", "Two."]),
        "suggestion": st.sampled_from(["", "Do this.", "Do that."]),
        "fingerprint": st.sampled_from(["0" * 16, "1" * 16]),
    }
).map(varied)


@given(st.lists(reports, max_size=12), st.data())
def test_the_order_of_the_reports_changes_nothing(
    found: list[Finding], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(found))

    assert merge(shuffled) == merge(found)


@given(st.lists(reports, max_size=20))
def test_every_report_is_kept_once_and_every_problem_has_its_own_name(
    found: list[Finding],
) -> None:
    merged, conflicts = merge(found)

    kept = [report for one in merged for report in one.evidence]
    assert sorted(map(repr, kept)) == sorted(map(repr, found))
    assert len({one.fingerprint for one in merged}) == len(merged)
    assert [RANK[one.severity] for one in merged] == sorted(RANK[one.severity] for one in merged)
    for one in merged:
        assert set(one.found_by) == {report.specialist for report in one.evidence}
        assert one.confidence == max(report.confidence for report in one.evidence)
    contested = [one for one in merged if len({report.severity for report in one.evidence}) > 1]
    assert [c.fingerprint for c in conflicts] == [one.fingerprint for one in contested]
