"""How rules read source: as Python's syntax tree, or as text with comments and strings apart."""

import ast
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from common.contracts import Document

C_LIKE = frozenset(
    {"c", "cpp", "csharp", "css", "go", "java", "javascript", "kotlin", "php", "rust", "swift"}
    | {"scala", "scss", "typescript", "terraform"}
)
HASH = frozenset(
    {"python", "ruby", "shell", "yaml", "toml", "dockerfile", "terraform", "php", "perl", "r"}
    | {"makefile", "elixir"}
)
MARKUP = frozenset({"html", "xml", "markdown", "vue"})
DASHES = frozenset({"sql", "lua", "haskell"})

LONGEST_LINE = 2_000
"""Longer lines are not written by hand, and are not matched against patterns."""

DEEPEST = 150
"""Trees nested deeper than this are made by machines, and would exhaust a recursive walk."""

# Each opening ends somewhere, at the latest with the line or the text: an attempt that could fail
# would be made again from every later quote, and take time that grows with the square.
_STRINGS = "|".join(
    [rf"{q}(?:\\(?:.|\Z)|[^\\])*?(?:{q}|\Z)" for q in ('"' * 3, "'" * 3, "`")]
    + [rf"{q}(?:\\(?:.|\Z)|[^{q}\\\n])*(?:{q}|(?=\n)|\Z)" for q in ('"', "'")]
)


class Comment(NamedTuple):
    """A comment and the line it starts on."""

    line: int
    text: str


def text(document: Document) -> str:
    """Return a document's text without a byte order mark."""
    return (document.text or "").removeprefix("\ufeff")


def python(document: Document) -> ast.Module | None:
    """Return the syntax tree of a document, or None when there is none that can be walked."""
    try:
        tree = _parsed(document)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if _depth(tree) <= DEEPEST else None


def is_deeper(document: Document, levels: int) -> bool:
    """Tell whether a Python document parses and nests deeper than this."""
    try:
        return _depth(_parsed(document)) > levels
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return True


def _parsed(document: Document) -> ast.Module:
    # The parser warns of odd escapes in the reviewed text, which are no concern of this process.
    warnings.filterwarnings("ignore", module="<reviewed>")
    return ast.parse(text(document), filename="<reviewed>")


def _depth(tree: ast.AST) -> int:
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def dotted(node: ast.AST) -> str:
    """Return a name such as `a.b.c`, with `()` for a call in the chain; empty for other nodes."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            parts.append("()")
            node = node.func
        elif isinstance(node, ast.Name):
            return ".".join(reversed([*parts, node.id]))
        else:
            return ".".join(reversed(parts)) if parts else ""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield every call below a node."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def names(node: ast.AST) -> set[str]:
    """Return every plain name that occurs below a node."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function below a node, methods and nested ones included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without those of the functions and classes inside it."""
    waiting = deque(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.popleft()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def lines(document: Document) -> list[str]:
    """Return the lines without comments, and with nothing left inside their strings."""
    return _replaced(document, lambda found: found[:1] + _blank(found[1:-1]) + found[-1:]).split(
        "\n"
    )


def statements(document: Document) -> Iterator[tuple[int, int, str]]:
    """Yield the lines without comments, those of one string as one line, with where they are."""
    number = 1
    for line in _replaced(document, lambda found: found.replace("\n", "\v")).split("\n"):
        last = number + line.count("\v")
        yield number, last, line
        number = last + 1


def _replaced(document: Document, string: Callable[[str], str]) -> str:
    def replace(match: re.Match[str]) -> str:
        found = match.group()
        return string(found) if match.lastgroup == "string" else _blank(found)

    return _tokens(document.language or "").sub(replace, _newlines(document))


def _blank(found: str) -> str:
    return "".join(character if character == "\n" else " " for character in found)


def _newlines(document: Document) -> str:
    return text(document).replace("\r\n", "\n")


def comments(document: Document) -> list[Comment]:
    """Return a document's comments in their order."""
    code = _newlines(document)
    return [
        Comment(code.count("\n", 0, match.start()) + 1, match.group().strip())
        for match in _tokens(document.language or "").finditer(code)
        if match.lastgroup == "comment"
    ]


@cache
def _tokens(language: str) -> re.Pattern[str]:
    kinds = []
    if language in C_LIKE:
        kinds.append(r"(?<![:\w])//[^\n]*|/\*.*?(?:\*/|\Z)")
    if language in HASH:
        kinds.append(r"(?<![\w$&\\])#[^\n]*")
    if language in MARKUP:
        kinds.append(r"<!--.*?(?:-->|\Z)")
    if language in DASHES:
        kinds.append(r"--[^\n]*")
    strings = r"(?!)" if language in MARKUP else _STRINGS
    return re.compile(rf"(?P<string>{strings})|(?P<comment>{'|'.join(kinds) or '(?!)'})", re.DOTALL)


def is_test(path: str) -> bool:
    """Tell whether a path looks like that of a test."""
    return (
        re.search(r"(^|/)(tests?|spec|__tests__)/|(^|/)test_|[._-](test|spec)\.", path) is not None
    )


def grew(document: Document, start: int, end: int) -> bool:
    """Tell whether most of a range of lines is new, so that its size is this change's doing."""
    if document.changed is None:
        return True
    new = sum(max(0, min(s.end, end) - max(s.start, start) + 1) for s in document.changed)
    return 2 * new >= end - start + 1
