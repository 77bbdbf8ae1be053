"""Shallow bugs in the way that a Python program flows: near certain from the tree alone."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from workers.tools.findings import Hit
from workers.tools.source import calls, dotted, functions, own_nodes

Function = ast.FunctionDef | ast.AsyncFunctionDef
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# A list may grow at its end while it is walked: that is how a list of open work is done.
CHANGES = {"insert", "remove", "pop", "clear", "add", "discard"}
OPENERS = {"open", "socket.socket", "sqlite3.connect"}


def hits(tree: ast.Module) -> Iterator[Hit]:
    """Yield every flaw in the flow of a tree."""
    for node in ast.walk(tree):
        yield from _unreachable(node)
        if isinstance(node, ast.ExceptHandler):
            yield from _swallowed(node)
        if isinstance(node, ast.If):
            yield from _repeated_condition(node)
            yield from _same_branches(node)
        if isinstance(node, ast.For):
            yield from _changed_under_way(node)
    yield from _never_awaited(tree)
    for scope in functions(tree):
        yield from _left_open(scope)


def _unreachable(node: ast.AST) -> Iterator[Hit]:
    for block in ("body", "orelse", "finalbody"):
        statements = getattr(node, block, None)
        if not isinstance(statements, list):  # A lambda's body is an expression.
            continue
        for before, after in pairwise(statements):
            if isinstance(before, LEAVES) and not _is_generator_mark(after):
                word = type(before).__name__.lower()
                message = (
                    f"This code can never run: the `{word}` before it always leaves the block."
                )
                yield _hit(after, "unreachable", "unreachable-code", 97, message)
                break


def _is_generator_mark(statement: ast.stmt) -> bool:
    """Tell whether an unreachable `yield` is there to make its function a generator."""
    return isinstance(statement, ast.Expr) and isinstance(
        statement.value, ast.Yield | ast.YieldFrom
    )


def _swallowed(handler: ast.ExceptHandler) -> Iterator[Hit]:
    """Yield a handler for every exception that neither tells nor raises nor does anything."""
    broad = handler.type is None or dotted(handler.type) in {"Exception", "BaseException"}
    if broad and all(_does_nothing(statement) for statement in handler.body):
        yield Hit(
            handler.lineno, "bugs:swallowed", "swallowed-exception", 80, handler.body[-1].end_lineno
        )


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return | ast.Assign):
        return statement.value is None or _is_plain(statement.value)
    return isinstance(statement, ast.Pass | ast.Continue | ast.Break) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _is_plain(value: ast.expr) -> bool:
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return not value.elts
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Dict) and not value.keys)


def _repeated_condition(node: ast.If) -> Iterator[Hit]:
    seen = {ast.dump(node.test)}
    branch = node
    while len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If):
        branch = branch.orelse[0]
        test = ast.dump(branch.test)
        if test in seen and not any(calls(branch.test)):
            yield _hit(branch.test, "repeated-condition", "duplicate-condition", 95)
        seen.add(test)


def _same_branches(node: ast.If) -> Iterator[Hit]:
    same = [ast.dump(s) for s in node.body] == [ast.dump(s) for s in node.orelse]
    if same and not isinstance(node.body[0], ast.Pass):
        yield _hit(node, "same-branches", "identical-branches", 85)


def _changed_under_way(loop: ast.For) -> Iterator[Hit]:
    if not isinstance(loop.iter, ast.Name | ast.Attribute):
        return
    walked = dotted(loop.iter)
    for statement, follower in _with_followers(loop.body):
        if isinstance(follower, ast.Break | ast.Return):
            continue
        for call in calls(statement):
            receiver, _, method = dotted(call.func).rpartition(".")
            if receiver == walked and method in CHANGES:
                message = f"`{walked}` is changed by `{method}` while the loop walks over it."
                yield _hit(call, "changed-under-way", "mutated-while-iterated", 85, message)


def _with_followers(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    """Yield the simple statements below a block, each with the one after it."""
    for index, statement in enumerate(body):
        inner = [getattr(statement, name, []) for name in ("body", "orelse")]
        if any(inner) and not isinstance(statement, Function | ast.ClassDef):
            for block in inner:
                yield from _with_followers(block)
        else:
            yield statement, body[index + 1] if index + 1 < len(body) else None


def _never_awaited(tree: ast.Module) -> Iterator[Hit]:
    """Yield calls of the module's own coroutines whose result is dropped."""
    spoken = [node for node in tree.body if isinstance(node, Function)]
    coroutines = {f.name for f in spoken if isinstance(f, ast.AsyncFunctionDef)}
    coroutines -= {f.name for f in spoken if isinstance(f, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name = dotted(node.value.func)
            if name in coroutines:
                message = f"`{name}` is a coroutine; without `await` its body never runs."
                yield _hit(node, "never-awaited", "missing-await", 95, message)


def _left_open(scope: Function) -> Iterator[Hit]:
    """Yield what is opened into a local name that is used, never closed and never handed on."""
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            opens = isinstance(node.value, ast.Call) and dotted(node.value.func) in OPENERS
            if opens and not _is_closed_or_handed_on(name, scope):
                message = f"`{name}` is opened here and never closed."
                yield _hit(node, "left-open", "resource-leak", 88, message)


def _is_closed_or_handed_on(name: str, scope: Function) -> bool:
    received = {
        node.value: node.attr
        for node in ast.walk(scope)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            method = received.get(node)
            if method is None or method in {"close", "__exit__", "detach", "makefile"}:
                return True
    return False


def _hit(
    node: ast.stmt | ast.expr, rule: str, category: str, confidence: int, message: str = ""
) -> Hit:
    end = node.end_lineno if isinstance(node, ast.expr) else node.lineno
    return Hit(node.lineno, f"bugs:{rule}", category, confidence, end, message)
