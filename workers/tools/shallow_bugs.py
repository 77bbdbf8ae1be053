"""Our own rules for shallow bugs: by the tree in Python, by the text elsewhere."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import flow_bugs, source, tool, value_bugs
from workers.tools.findings import Hit, report

JS = ("javascript", "typescript")
CATCHES = (*JS, "java", "csharp", "php", "kotlin")


class Pattern(NamedTuple):
    """A rule on one line of some languages."""

    rule: str
    category: str
    confidence: int
    languages: tuple[str, ...]
    regex: re.Pattern[str]


PATTERNS = (
    Pattern("nan", "constant-condition", 98, JS, re.compile(r"[=!]==?\s*NaN\b|\bNaN\s*[=!]==?")),
    Pattern(
        "assigned",
        "assignment-in-condition",
        80,
        (*JS, "php"),
        re.compile(r"\bif\s*\(\s*[$\w.]+\s*=(?![=>])\s*(?:[\w.$]+|\"\s*\"|'\s*')\s*\)"),
    ),
    Pattern(
        "same-sides",
        "self-comparison",
        90,
        (*JS, "java", "csharp", "go", "php", "c", "cpp", "rust", "swift", "kotlin"),
        re.compile(
            r"(?<![\w.$)\]+*/%-])\b([a-zA-Z_]\w*(?:\.\w+)*)\s*={2,3}\s*\1\b(?!\s*[\w.(\[+*/%-])"
        ),
    ),
    Pattern(
        "swallowed",
        "swallowed-exception",
        75,
        CATCHES,
        re.compile(r"\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}"),
    ),
)
CONFLICT = re.compile(r"^(<{7} \S|>{7} \S)")


@tool("shallow-bugs", "Near-certain bugs that need no knowledge of the program.")
def run(desk: Desk) -> Result:
    """Find shallow bugs and merge conflicts that were left in."""
    return report(desk, _hits(desk))


def _hits(desk: Desk) -> Iterator[tuple[Document, Hit]]:
    for document in desk.subjects():
        desk.left()
        yield from ((document, hit) for hit in _conflicts(document))
        if document.language == "python":
            yield from ((document, hit) for hit in _python(document))
        else:
            yield from ((document, hit) for hit in _text(document))


def _python(document: Document) -> Iterator[Hit]:
    tree = source.python(document)
    if tree is not None:
        yield from flow_bugs.hits(tree)
        yield from value_bugs.hits(tree)
    elif source.is_deeper(document, source.DEEPEST):
        yield Hit(1, "bugs:too-deep", "too-deep", 100, document.lines or 1)


def _text(document: Document) -> Iterator[Hit]:
    rules = [p for p in PATTERNS if document.language in p.languages]
    written = source.text(document).split("\n")
    for number, line in enumerate(source.lines(document) if rules else (), start=1):
        for pattern in rules:
            if pattern.regex.search(line[: source.LONGEST_LINE]):
                # A comment in an empty block says why it is empty.
                if pattern.rule == "swallowed" and not pattern.regex.search(written[number - 1]):
                    continue
                yield Hit(number, f"bugs:{pattern.rule}", pattern.category, pattern.confidence)


def _conflicts(document: Document) -> Iterator[Hit]:
    lines = enumerate(source.text(document).split("\n"), start=1)
    marks = [number for number, line in lines if CONFLICT.match(line)]
    if len(marks) > 1:
        yield from (Hit(number, "bugs:conflict", "merge-conflict", 98) for number in marks)
