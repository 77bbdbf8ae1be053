import json
from typing import Any

from chargehand.formats import as_rdjson
from common.contracts import Report


def check(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Hold a result against reviewdog's DiagnosticResult; return its diagnostics."""
    assert set(result) <= {"source", "severity", "diagnostics"}
    assert result["source"] == {"name": "chargehand"}
    known = {"message", "location", "severity", "source", "code", "suggestions", "original_output"}
    for diagnostic in result["diagnostics"]:
        assert set(diagnostic) <= known
        assert diagnostic["message"]
        assert diagnostic["severity"] in {"ERROR", "WARNING", "INFO"}
        assert diagnostic["code"]["value"]
        location = diagnostic["location"]
        assert set(location) == {"path", "range"}
        assert 1 <= location["range"]["start"]["line"] <= location["range"]["end"]["line"]
    return list(result["diagnostics"])


def test_each_finding_is_a_diagnostic(full: Report) -> None:
    diagnostics = check(json.loads(as_rdjson.render(full)))

    assert [d["severity"] for d in diagnostics] == ["ERROR", "WARNING", "INFO"]
    assert diagnostics[0]["message"].endswith("Suggestion: Use parameters")
    assert diagnostics[1]["location"] == {
        "path": "web/x y.js",
        "range": {"start": {"line": 7}, "end": {"line": 9}},
    }


def test_a_report_without_findings_gives_an_empty_result(brief: Report) -> None:
    assert check(json.loads(as_rdjson.render(brief))) == []
