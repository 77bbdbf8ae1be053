"""Comments by which an author says that a finding was seen and is meant so."""

import re

from common.contracts import Document, Finding
from workers.tools import source
from workers.tools.categories import SECURITY
from workers.tools.rules import BANDIT, RUFF_LOGIC, RUFF_PERFORMANCE, RUFF_SECURITY, RUFF_STYLE

FEW_LINES = 12
"""In a longer range, such as a whole function, only the first line can carry the comment."""
RULES = BANDIT | RUFF_SECURITY | RUFF_PERFORMANCE | RUFF_STYLE | RUFF_LOGIC
COMMENT = re.compile(
    r"(?:#|//)\s*(?P<word>noqa|nosec)\b(?::?\s*(?P<codes>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?",
    re.IGNORECASE,
)
SECRET = re.compile(r"pragma:\s*allowlist[ -]secret", re.IGNORECASE)


def silenced(document: Document, finding: Finding) -> bool:
    """Tell whether a comment on a finding's lines silences every finding of its kind.

    A code of one analyser speaks for its category, so that `noqa: S608` also silences bandit.
    """
    first, last = finding.span.start, finding.span.end
    lines = source.text(document).split("\n")[first - 1 : last]
    return any(
        _silences(line, finding.category)
        for line in (lines if last - first < FEW_LINES else lines[:1])
    )


def _silences(line: str, category: str) -> bool:
    if category == "hard-coded-secret" and SECRET.search(line):
        return True
    return any(_speaks_of(match, category) for match in COMMENT.finditer(line))


def _speaks_of(match: re.Match[str], category: str) -> bool:
    if match["codes"] is None:
        return match["word"].lower() == "noqa" or category in SECURITY
    codes = re.split(r"[,\s]+", match["codes"].upper())
    return any(code in RULES and RULES[code].category == category for code in codes)
