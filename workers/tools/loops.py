"""Loops whose work grows with the square of their input, where Python's syntax tree shows it."""

import ast
from collections.abc import Iterator

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import source, tool
from workers.tools.findings import Hit, report
from workers.tools.source import dotted, names


@tool("loops", "Loops in Python whose work grows with the square of their input.")
def run(desk: Desk) -> Result:
    """Find loops that search, copy or count a whole list at every turn."""
    return report(desk, _hits(desk))


def _hits(desk: Desk) -> Iterator[tuple[Document, Hit]]:
    for document in desk.subjects("python"):
        tree = source.python(document)
        for scope in (tree, *source.functions(tree)) if tree is not None else ():
            yield from ((document, hit) for hit in _scope(scope))


def _scope(scope: ast.AST) -> Iterator[Hit]:
    lists = _growing_lists(scope)
    for loop in source.own_nodes(scope):
        if isinstance(loop, ast.For):
            yield from _searched(loop, lists)
            yield from _shifted(loop, lists)
            yield from _joined_by_hand(loop)


def _growing_lists(scope: ast.AST) -> set[str]:
    """Return the names that only ever hold lists and that grow by `append` inside a loop."""
    made: dict[str, bool] = {}
    for node in source.own_nodes(scope):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        for target in (t for t in targets if isinstance(t, ast.Name)):
            value = getattr(node, "value", None)
            made[target.id] = made.get(target.id, True) and isinstance(value, ast.List)
    grown = {
        dotted(call.func).removesuffix(".append")
        for loop in source.own_nodes(scope)
        if isinstance(loop, ast.For | ast.While)
        for call in source.calls(loop)
        if dotted(call.func).endswith(".append")
    }
    return {name for name, is_list in made.items() if is_list} & grown


def _searched(loop: ast.For, lists: set[str]) -> Iterator[Hit]:
    counted = f"{loop.iter.id}.count" if isinstance(loop.iter, ast.Name) else ""
    for node in (n for statement in loop.body for n in ast.walk(statement)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            name = dotted(node.comparators[0])
            if name in lists and names(node.left) & names(loop.target):
                message = f"Every turn of the loop searches all of the growing list `{name}`."
                yield _hit(node, "search", message, "Keep what was seen in a set.", 85)
        if isinstance(node, ast.Call) and counted and dotted(node.func) == counted:
            message = f"Every turn of the loop calls `{counted}`, which walks the whole list."
            yield _hit(node, "count", message, "Count once with `collections.Counter`.", 88)


def _shifted(loop: ast.For, lists: set[str]) -> Iterator[Hit]:
    for call in (c for statement in loop.body for c in source.calls(statement)):
        name, _, method = dotted(call.func).rpartition(".")
        at_start = (
            bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0
        )
        if name in lists and at_start and method in {"insert", "pop"}:
            message = f"`{name}.{method}(0)` moves every other item at each turn of the loop."
            yield _hit(call, "shift", message, "Use `collections.deque`.", 85)


def _joined_by_hand(loop: ast.For) -> Iterator[Hit]:
    """Yield an inner loop that walks a whole collection to find the outer item's match."""
    for inner in (n for n in loop.body if isinstance(n, ast.For)):
        test = inner.body[0].test if isinstance(inner.body[0], ast.If) else None
        if isinstance(test, ast.Compare) and _matches(test, loop, inner):
            yield _hit(
                inner,
                "join",
                "The inner loop walks the whole collection to find the match of each outer item.",
                "Put one side into a dictionary by the key that is compared.",
                80,
            )


def _matches(test: ast.Compare, loop: ast.For, inner: ast.For) -> bool:
    if not isinstance(test.ops[0], ast.Eq) or not isinstance(inner.iter, ast.Name | ast.Attribute):
        return False
    left, right = names(test.left), names(test.comparators[0])
    outer, own = names(loop.target), names(inner.target)
    independent = not names(inner.iter) & outer
    both = left and right and independent
    return bool(both) and ((left <= outer and right <= own) or (left <= own and right <= outer))


def _hit(node: ast.expr | ast.For, rule: str, message: str, suggestion: str, sure: int) -> Hit:
    end = node.lineno if isinstance(node, ast.For) else node.end_lineno
    return Hit(node.lineno, f"loops:{rule}", "quadratic-growth", sure, end, message, suggestion)
