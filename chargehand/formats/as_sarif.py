"""A report as SARIF 2.1.0, which code hosts and editors read."""

import json
from typing import Any
from urllib.parse import quote

from common.contracts import Finding, Gap, MergedFinding, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"critical": "error", "warning": "warning", "info": "note"}
GAP_LEVELS = {"lost": "error", "not_covered": "note"}


def render(report: Report) -> str:
    """Return the findings in SARIF; a report without any gives a valid, empty run."""
    rules = _rules(report)
    run = {
        "tool": {"driver": {"name": "chargehand", "rules": list(rules.values())}},
        "invocations": [_invocation(report)],
        "results": [_result(finding, list(rules)) for finding in report.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rules(report: Report) -> dict[str, dict[str, Any]]:
    """Return each rule that found something once, in the order of the findings."""
    rules: dict[str, dict[str, Any]] = {}
    for finding in report.findings:
        rules.setdefault(finding.rule, _rule(finding))
    return rules


def _rule(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.rule,
        "shortDescription": {"text": f"{finding.category} ({finding.rule})"},
        "defaultConfiguration": {"level": LEVELS[finding.severity]},
        "properties": {"tags": [finding.category]},
    }


def _result(finding: MergedFinding, rules: list[str]) -> dict[str, Any]:
    region = {"startLine": finding.span.start, "endLine": finding.span.end}
    # Quoting makes a reference of any path: a colon in its first part would be read as a scheme.
    artifact = {"uri": quote(finding.path), "uriBaseId": "%SRCROOT%"}
    return {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": LEVELS[finding.severity],
        "rank": float(finding.confidence),
        "message": {"text": message(finding)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "partialFingerprints": {"chargehandFingerprint/v1": finding.fingerprint},
        "properties": {"category": finding.category, "foundBy": list(finding.found_by)},
    }


def message(finding: Finding) -> str:
    """Return the problem with its suggestion: advice in words is no fix that a tool can apply."""
    if not finding.suggestion.strip():
        return finding.message
    return f"{finding.message}\n\nSuggestion: {finding.suggestion.strip()}"


def _invocation(report: Report) -> dict[str, Any]:
    invocation: dict[str, Any] = {
        "executionSuccessful": report.state == "complete",
        "properties": {"engines": list(report.engines), "job": report.job},
    }
    if report.gaps:
        invocation["toolExecutionNotifications"] = [_notification(gap) for gap in report.gaps]
    return invocation


def _notification(gap: Gap) -> dict[str, Any]:
    text = f"{gap.specialist}: {gap.message}"
    return {"level": GAP_LEVELS[gap.kind], "message": {"text": text}}
