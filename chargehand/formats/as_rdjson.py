"""A report in reviewdog's diagnostic format, which it posts as comments of a pull request."""

import json
from typing import Any

from chargehand.formats.as_sarif import message
from common.contracts import MergedFinding, Report

SEVERITIES = {"critical": "ERROR", "warning": "WARNING", "info": "INFO"}


def render(report: Report) -> str:
    """Return the findings as one diagnostic result; a report without any gives an empty one."""
    diagnostics = [_diagnostic(finding) for finding in report.findings]
    return (
        json.dumps({"source": {"name": "chargehand"}, "diagnostics": diagnostics}, indent=2) + "\n"
    )


def _diagnostic(finding: MergedFinding) -> dict[str, Any]:
    lines = {"start": {"line": finding.span.start}, "end": {"line": finding.span.end}}
    return {
        "message": message(finding),
        "location": {"path": finding.path, "range": lines},
        "severity": SEVERITIES[finding.severity],
        "source": {"name": f"chargehand/{finding.specialist}"},
        "code": {"value": finding.rule},
    }
