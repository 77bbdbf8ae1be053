"""The comments next to the changed lines, as an aid: whether they are true takes judgement."""

import ast
from collections.abc import Iterator

from common.contracts import Document, Result, Span
from workers.desk import Desk
from workers.tools import source, tool
from workers.tools.source import Comment

NEAR = 3
"""A comment this many lines from a change may speak of it."""
MOST_COMMENTS = 60
LONGEST = 300


@tool("comments", "The comments and docstrings next to the changed lines.", analyser=False)
def run(desk: Desk) -> Result:
    """List the comments that may speak of what changed, with where they stand."""
    lines = [
        f"{document.path}:{comment.line}: {' '.join(comment.text.split())[:LONGEST]}"
        for document in desk.subjects()
        for comment in _near(desk, document)
    ]
    shown = ["Comments next to the changed lines:", *lines[:MOST_COMMENTS]]
    return Result(text="\n".join(shown) if lines else "")


def _near(desk: Desk, document: Document) -> Iterator[Comment]:
    for comment in sorted({*source.comments(document), *_docstrings(document)}):
        last = comment.line + comment.text.count("\n")
        if desk.counts(document, Span(start=max(1, comment.line - NEAR), end=last + NEAR)):
            yield comment


def _docstrings(document: Document) -> Iterator[Comment]:
    tree = source.python(document) if document.language == "python" else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node)
            if text:
                yield Comment(node.body[0].lineno, text)
