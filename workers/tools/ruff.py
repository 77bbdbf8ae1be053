"""Ruff, with a selection of rules for each lens."""

from collections.abc import Iterator, Mapping
from typing import Any

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import programs, tool
from workers.tools.categories import SECURITY
from workers.tools.findings import Hit, report
from workers.tools.rules import RUFF_LOGIC, RUFF_PERFORMANCE, RUFF_SECURITY, RUFF_STYLE, Rule
from workers.tools.source import is_deeper, is_test

SYNTAX = "invalid-syntax"
# The newest grammar, so that a file for a newer Python than ours is no error. Settings of the
# reviewed repository are not on the pod; comments such as `noqa` are honoured.
OPTIONS = ("--isolated", "--no-cache", "--output-format", "json", "--target-version", "py314")
DEEPEST = 1_000
"""Beyond some thousand levels ruff's stack overflows, and takes the other files with it."""
PARAMETERS = "lint.pylint.max-args=7"
# Here our words are clearer than ruff's, which also quotes what it takes for a password.
OUR_WORDS = frozenset(SECURITY) | {
    "bare-except",
    "identity-with-literal",
    "late-binding",
    "lost-task",
    "mutable-default",
    "resource-leak",
    "star-import",
    "swallowed-exception",
}


@tool("ruff-security", "Ruff's rules for security problems in Python.")
def security(desk: Desk) -> Result:
    """Find security problems by ruff's rules."""
    return report(desk, _hits(desk, RUFF_SECURITY))


@tool("ruff-performance", "Ruff's rules for needless work in Python.")
def performance(desk: Desk) -> Result:
    """Find needless work by ruff's rules."""
    return report(desk, _hits(desk, RUFF_PERFORMANCE))


@tool("ruff-style", "Ruff's rules for names, documentation and idiom in Python.")
def style(desk: Desk) -> Result:
    """Find names, missing documentation and clumsy code by ruff's rules."""
    return report(desk, _hits(desk, RUFF_STYLE))


@tool("ruff-logic", "Ruff's rules for likely bugs in Python, and whether a file parses.")
def logic(desk: Desk) -> Result:
    """Find likely bugs and files that do not parse."""
    found = _diagnostics(desk, RUFF_LOGIC)
    return report(desk, [*_syntax_errors(found), *_of_rules(found, RUFF_LOGIC)])


def _hits(desk: Desk, rules: Mapping[str, Rule]) -> Iterator[tuple[Document, Hit]]:
    return _of_rules(_diagnostics(desk, rules), rules)


def _diagnostics(desk: Desk, rules: Mapping[str, Rule]) -> list[tuple[Document, dict[str, Any]]]:
    readable = [d for d in desk.subjects("python") if not is_deeper(d, DEEPEST)]
    files = programs.write_all(desk, readable)
    if not files:
        return []
    select = ",".join(sorted(rules))
    found = programs.run_json(
        desk, "ruff", "check", *OPTIONS, "--select", select, "--config", PARAMETERS, "--", *files
    )
    return [(files[one["filename"]], one) for one in found]


def _of_rules(
    found: list[tuple[Document, dict[str, Any]]], rules: Mapping[str, Rule]
) -> Iterator[tuple[Document, Hit]]:
    for document, one in found:
        rule = rules.get(one["code"] or SYNTAX)
        if rule is not None and _worth_telling(document, one):
            yield document, _hit(one, rule)


def _worth_telling(document: Document, one: dict[str, Any]) -> bool:
    """Tell whether a finding is one that a reviewer would make."""
    code = one["code"]
    if "seems safe" in one["message"]:
        return False
    if is_test(document.path):
        return code not in {"D101", "D102", "D103", "S105", "S106", "S107", "S108"}
    return not (code == "F401" and document.path.endswith("__init__.py"))


def _hit(one: dict[str, Any], rule: Rule) -> Hit:
    start, end = one["location"], one["end_location"]
    last = end["row"] - 1 if end["column"] == 1 and end["row"] > start["row"] else end["row"]
    return Hit(
        line=start["row"],
        end=last,
        rule=f"ruff:{one['code']}",
        category=rule.category,
        confidence=rule.confidence,
        message="" if rule.category in OUR_WORDS else _sentence(one["message"]),
    )


def _sentence(message: str) -> str:
    first = message.splitlines()[0].strip()
    return first if first.endswith((".", "!", "?")) else f"{first}."


def _syntax_errors(
    found: list[tuple[Document, dict[str, Any]]],
) -> Iterator[tuple[Document, Hit]]:
    """Yield the first syntax error of each file; those after it mostly follow from it."""
    told: set[str] = set()
    for document, one in found:
        if one["code"] in (None, SYNTAX) and document.path not in told:
            told.add(document.path)
            row = one["location"]["row"]
            message = f"The file does not parse at line {row}: {_sentence(one['message'])}"
            yield (
                document,
                Hit(_cause(document, row), "ruff:syntax", "syntax-error", 100, None, message),
            )


def _cause(document: Document, row: int) -> int:
    """Return the changed line that comes nearest: a parser often stumbles after the mistake."""
    lines = {n for s in document.changed or () for n in range(s.start, s.end + 1)}
    before = [n for n in lines if n <= row]
    return max(before, default=min(lines, default=row))
