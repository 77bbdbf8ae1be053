"""What was left in, left out or grew too long, in languages that ruff does not read."""

import re
from collections.abc import Iterator

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import source, tool
from workers.tools.findings import Hit, report

LONGEST_FILE = 1_000
LEFTOVERS = {
    "javascript": re.compile(r"^\s*debugger\s*;?\s*$"),
    "typescript": re.compile(r"^\s*debugger\s*;?\s*$"),
    "php": re.compile(r"^\s*(?:var_dump|dd|print_r)\s*\(\s*\$"),
    "ruby": re.compile(r"^\s*(?:binding\.(?:pry|irb)|byebug)\b"),
    "rust": re.compile(r"\bdbg!\("),
}
GO_PUBLIC = re.compile(r"^func\s+(?:\(\w+\s+\*?[A-Z]\w*\)\s*)?(?P<name>[A-Z]\w*)\s*[(\[]")


@tool("organisation", "Debugging statements, undocumented Go functions, files that grew too long.")
def run(desk: Desk) -> Result:
    """Find what was left in, left out or grew too long."""
    return report(desk, _hits(desk))


def _hits(desk: Desk) -> Iterator[tuple[Document, Hit]]:
    for document in desk.subjects():
        for hit in (*_leftovers(document), *_undocumented(document), *_too_long(document)):
            yield document, hit


def _leftovers(document: Document) -> Iterator[Hit]:
    regex = LEFTOVERS.get(document.language or "")
    if regex is not None:
        for number, line in enumerate(source.lines(document), start=1):
            if regex.search(line[: source.LONGEST_LINE]):
                yield Hit(number, "organisation:debugging", "leftover-debugging", 92)


def _undocumented(document: Document) -> Iterator[Hit]:
    if document.language != "go" or document.path.endswith("_test.go"):
        return
    lines = source.text(document).split("\n")
    for number, line in enumerate(lines, start=1):
        match = GO_PUBLIC.match(line)
        if match and not re.match(r"\s*//|.*\*/\s*$", lines[number - 2] if number > 1 else ""):
            message = f"The exported function `{match['name']}` has no comment."
            yield Hit(number, "organisation:undocumented", "missing-docs", 85, None, message)


def _too_long(document: Document) -> Iterator[Hit]:
    lines = source.text(document).count("\n") + 1
    if lines > LONGEST_FILE and source.grew(document, 1, lines):
        message = f"The file has {lines} lines; beyond {LONGEST_FILE} it is hard to find one's way."
        yield Hit(1, "organisation:long-file", "long-file", 80, lines, message)
