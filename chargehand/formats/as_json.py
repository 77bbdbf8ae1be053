"""A report as JSON: the contract itself."""

import json

from common.contracts import Report


def render(report: Report) -> str:
    """Return the report's own JSON, indented, in ASCII and so safe to print anywhere."""
    return json.dumps(report.model_dump(mode="json"), indent=2) + "\n"
