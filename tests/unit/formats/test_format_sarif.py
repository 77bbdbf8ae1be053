import json
import re
from typing import Any
from urllib.parse import unquote

import pytest

from chargehand.formats import as_sarif
from common.contracts import Report

URI_REFERENCE = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=@/]|%[0-9A-F]{2})+")
LEVELS = {"none", "note", "warning", "error"}


def check(log: dict[str, Any]) -> dict[str, Any]:
    """Hold a log against the rules of the SARIF 2.1.0 schema that concern it; return its run."""
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert set(run) <= {"tool", "invocations", "results"}
    rules = run["tool"]["driver"]["rules"]
    ids = [rule["id"] for rule in rules]
    assert run["tool"]["driver"]["name"] == "chargehand"
    assert len(ids) == len(set(ids))
    for rule in rules:
        assert set(rule) <= {"id", "shortDescription", "defaultConfiguration", "properties"}
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in LEVELS
        assert len(rule["properties"]["tags"]) == len(set(rule["properties"]["tags"]))
    for invocation in run["invocations"]:
        assert isinstance(invocation["executionSuccessful"], bool)
        for notification in invocation.get("toolExecutionNotifications", []):
            assert notification["level"] in LEVELS
            assert notification["message"]["text"]
    for result in run["results"]:
        _check_result(result, ids)
    return dict(run)


def _check_result(result: dict[str, Any], ids: list[str]) -> None:
    assert ids[result["ruleIndex"]] == result["ruleId"]
    assert result["level"] in LEVELS
    assert 0.0 <= result["rank"] <= 100.0
    assert result["message"]["text"]
    assert all(isinstance(v, str) for v in result["partialFingerprints"].values())
    (location,) = result["locations"]
    physical = location["physicalLocation"]
    assert URI_REFERENCE.fullmatch(physical["artifactLocation"]["uri"])
    region = physical["region"]
    assert 1 <= region["startLine"] <= region["endLine"]


def test_a_review_is_valid_and_complete(full: Report) -> None:
    run = check(json.loads(as_sarif.render(full)))

    assert [r["level"] for r in run["results"]] == ["error", "warning", "note"]
    assert [r["id"] for r in run["tool"]["driver"]["rules"]] == [f.rule for f in full.findings]
    first = run["results"][0]
    assert first["message"]["text"] == "SQL is built from input\n\nSuggestion: Use parameters"
    assert first["partialFingerprints"] == {"chargehandFingerprint/v1": "0123456789abcdef"}
    assert first["properties"]["foundBy"] == ["logic", "security"]
    assert run["results"][1]["message"]["text"] == "Slow loop"


def test_a_partial_review_is_no_successful_execution(full: Report, make_report: Any) -> None:
    partial = check(json.loads(as_sarif.render(full)))["invocations"][0]
    complete = check(json.loads(as_sarif.render(make_report())))["invocations"][0]

    assert partial["executionSuccessful"] is False
    assert [n["level"] for n in partial["toolExecutionNotifications"]] == ["note", "error"]
    assert complete["executionSuccessful"] is True


def test_a_rule_that_found_much_is_listed_once(make_report: Any, make_finding: Any) -> None:
    report = make_report(findings=(make_finding(), make_finding(fingerprint="0" * 16)))

    run = check(json.loads(as_sarif.render(report)))

    assert len(run["tool"]["driver"]["rules"]) == 1
    assert len(run["results"]) == 2


@pytest.mark.parametrize("path", ["x y.py", "c:/d.py", "ä%20#?.py", "new\nline.py"])
def test_any_path_is_a_valid_reference(path: str, make_report: Any, make_finding: Any) -> None:
    report = make_report(findings=(make_finding(path=path),))

    run = check(json.loads(as_sarif.render(report)))

    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert unquote(location["artifactLocation"]["uri"]) == path
    assert ":" not in location["artifactLocation"]["uri"]


def test_a_report_without_findings_is_valid_and_empty(brief: Report) -> None:
    run = check(json.loads(as_sarif.render(brief)))

    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []
