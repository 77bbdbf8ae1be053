"""A report in the form that a person or a program wants to read.

Every form is text that ends with one line feed, the same for the same report, and holds no control
character of a reviewed file.
"""

from collections.abc import Callable

from chargehand.formats import as_json, as_markdown, as_rdjson, as_sarif, as_text
from common.contracts import Report
from common.errors import InputError

FORMATS: dict[str, Callable[[Report], str]] = {
    "text": as_text.render,
    "json": as_json.render,
    "markdown": as_markdown.render,
    "sarif": as_sarif.render,
    "rdjson": as_rdjson.render,
}


def render(name: str, report: Report) -> str:
    """Return a report in a named format, without colours."""
    if name not in FORMATS:
        raise InputError(f"no format {name!r}; known are: {', '.join(FORMATS)}")
    return FORMATS[name](report)
