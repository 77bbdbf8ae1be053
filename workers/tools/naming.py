"""Names that break the convention of their language, where the language has one."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import source, tool
from workers.tools.findings import Hit, report

TESTS = re.compile(r"(test|benchmark|example)", re.IGNORECASE)


class Convention(NamedTuple):
    """A pattern that catches a name which breaks the convention of some languages."""

    what: str
    wanted: str
    languages: frozenset[str]
    regex: re.Pattern[str]
    confidence: int


def _of(what: str, wanted: str, *entries: tuple[int, str, str]) -> list[Convention]:
    return [
        Convention(what, wanted, frozenset(spoken.split()), re.compile(regex), sure)
        for sure, spoken, regex in entries
    ]


JS = "javascript typescript"
CAPITALS = f"{JS} java csharp kotlin swift php scala"
SNAKE = r"(?P<name>[a-z]+_\w+)"
CAMEL = r"(?P<name>[a-z]+[A-Z]\w*)"
CONVENTIONS = (
    *_of(
        "type",
        "PascalCase",
        (85, CAPITALS, r"\b(?:class|interface)\s+(?P<name>[a-z]\w*)\s*[{(:<]"),
        (90, "ruby", r"^\s*class\s+(?P<name>[A-Z]\w*_\w*)"),
        (85, "rust", r"\b(?:struct|enum|trait)\s+(?P<name>[a-z]\w*)"),
    ),
    *_of(
        "function",
        "camelCase",
        (80, JS, rf"\bfunction\s+{SNAKE}\s*\("),
        (80, JS, rf"\b(?:const|let)\s+{SNAKE}\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>"),
        (80, "kotlin", rf"\bfun\s+{SNAKE}\s*\("),
        (80, "swift scala", rf"\b(?:func|def)\s+{SNAKE}\s*[(\[]"),
        (80, "java", rf"\b(?:public|private|protected)\s+(?:static\s+)?[\w<>\[\]]+\s+{SNAKE}\s*\("),
    ),
    *_of(
        "function",
        "MixedCaps",
        (80, "go", r"^func\s+(?:\([^)]*\)\s*)?(?P<name>[A-Za-z]+_\w+)\s*\("),
    ),
    *_of(
        "function",
        "snake_case",
        (85, "ruby", rf"^\s*def\s+(?:self\.)?{CAMEL}"),
        (85, "rust", rf"\bfn\s+{CAMEL}"),
    ),
)


@tool("naming", "Names that break the convention of their language; Python is ruff's.")
def run(desk: Desk) -> Result:
    """Find names of types and functions that break their language's convention."""
    return report(desk, _hits(desk))


def _hits(desk: Desk) -> Iterator[tuple[Document, Hit]]:
    for document in desk.subjects():
        rules = [c for c in CONVENTIONS if document.language in c.languages]
        for number, line in enumerate(source.lines(document) if rules else (), start=1):
            for convention in rules:
                match = convention.regex.search(line[: source.LONGEST_LINE])
                if match and not _is_allowed(document, match):
                    yield document, _hit(number, convention, match)


def _is_allowed(document: Document, match: re.Match[str]) -> bool:
    """Tell whether a test framework gives the name its shape."""
    return document.language in {"go", "java"} and TESTS.match(match["name"]) is not None


def _hit(number: int, convention: Convention, match: re.Match[str]) -> Hit:
    name, what, wanted = match["name"], convention.what, convention.wanted
    message = f"The {what} `{name}` is not in {wanted}, as this language has it."
    return Hit(number, f"naming:{what}", "naming", convention.confidence, None, message)
