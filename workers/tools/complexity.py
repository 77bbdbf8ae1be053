"""Lizard's measure of functions, for the languages that it knows."""

import ast
import csv
from collections.abc import Iterator

from common.contracts import Document, Result
from workers.desk import Desk, ToolError
from workers.tools import programs, source, tool
from workers.tools.findings import Hit, report

LANGUAGES = (
    "c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "lua", "php", "python", "ruby",
    "rust", "scala", "swift", "typescript", "vue",
)  # fmt: skip
PATHS = 15
"""More independent paths than this through one function are too many to test."""
DEPTH = 4
LINES = 120
BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)


@tool("complexity", "Paths and length of functions in many languages; nesting in Python.")
def run(desk: Desk) -> Result:
    """Find functions that this change made too complex, too deep or too long."""
    files = programs.write_all(desk, desk.subjects(*LANGUAGES))
    if not files:
        return Result()
    output = programs.run(desk, "lizard", "--csv", "--no-gitignore", *files)
    return report(desk, [*_measured(files, output), *_nested(desk)])


def _measured(files: dict[str, Document], output: str) -> Iterator[tuple[Document, Hit]]:
    for row in csv.reader(output.splitlines()):
        try:
            lines, paths, start, end = (int(row[n]) for n in (0, 1, 9, 10))
            document, name = files[row[6]], row[7]
        except (IndexError, ValueError, KeyError):
            raise ToolError("lizard wrote a line that cannot be read", transient=True) from None
        if source.grew(document, start, end):
            yield from ((document, hit) for hit in _judged(name, lines, paths, start, end))


def _judged(name: str, lines: int, paths: int, start: int, end: int) -> Iterator[Hit]:
    if paths > PATHS:
        message = f"`{name}` has {paths} independent paths; more than {PATHS} are hard to test."
        yield Hit(start, "lizard:paths", "complex-function", 90, end, message)
    if lines > LINES:
        message = f"`{name}` has {lines} lines of code; more than {LINES} do more than one thing."
        yield Hit(start, "lizard:lines", "long-function", 80, end, message)


def _nested(desk: Desk) -> Iterator[tuple[Document, Hit]]:
    for document in desk.subjects("python"):
        tree = source.python(document)
        for function in source.functions(tree) if tree is not None else ():
            start, end = function.lineno, function.end_lineno or function.lineno
            depth = _depth(function.body)
            if depth > DEPTH and source.grew(document, start, end):
                message = f"`{function.name}` nests {depth} blocks; more than {DEPTH} hide its way."
                yield document, Hit(start, "nesting:depth", "deep-nesting", 85, end, message)


def _depth(statements: list[ast.stmt]) -> int:
    """Return how many blocks lie inside each other; an `elif` is no deeper than its `if`."""
    return max((_depth_of(statement) for statement in statements), default=0)


def _depth_of(statement: ast.stmt) -> int:
    if isinstance(statement, ast.If):
        chained = len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If)
        other = _depth(statement.orelse)
        return max(1 + _depth(statement.body), other if chained else 1 + other)
    if isinstance(statement, BLOCKS):
        parts = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        handlers = [handler.body for handler in getattr(statement, "handlers", [])]
        return 1 + max(_depth(part) for part in (*parts, *handlers))
    return 0
