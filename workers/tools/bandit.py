"""Bandit, for security problems in Python."""

from collections.abc import Iterator
from typing import Any

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import programs, tool
from workers.tools.findings import Hit, report
from workers.tools.rules import BANDIT
from workers.tools.source import is_test

LESS_SURE = {"HIGH": 0, "MEDIUM": 5, "LOW": 15, "UNDEFINED": 15}


@tool("bandit", "Bandit's rules for security problems in Python.")
def run(desk: Desk) -> Result:
    """Find security problems by bandit's rules."""
    files = programs.write_all(desk, desk.subjects("python"))
    if not files:
        return Result()
    found = programs.run_json(
        desk, "bandit", "--quiet", "--format", "json", "--tests", ",".join(sorted(BANDIT)), *files
    )
    return report(desk, _hits(files, found["results"]))


def _hits(
    files: dict[str, Document], found: list[dict[str, Any]]
) -> Iterator[tuple[Document, Hit]]:
    for one in found:
        document, rule = files[one["filename"]], BANDIT[one["test_id"]]
        if _worth_telling(document, one):
            lines = one["line_range"] or [one["line_number"]]
            confidence = rule.confidence - LESS_SURE[one["issue_confidence"]]
            # Bandit's own words quote what it takes for a password, so the category's are used.
            yield (
                document,
                Hit(
                    one["line_number"],
                    f"bandit:{one['test_id']}",
                    rule.category,
                    confidence,
                    max(lines[-1], one["line_number"]),
                ),
            )


def _worth_telling(document: Document, one: dict[str, Any]) -> bool:
    """Tell whether a finding is one that a reviewer would make."""
    if one["test_id"] in {"B602", "B604", "B605"}:
        return bool(one["issue_severity"] != "LOW")  # A constant command is as safe as it looks.
    return not (is_test(document.path) and one["test_id"] in {"B105", "B106", "B107", "B108"})
