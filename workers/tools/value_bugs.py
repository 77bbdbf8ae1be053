"""Shallow bugs in what a Python program computes: near certain from the tree alone."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from workers.tools.findings import Hit
from workers.tools.source import calls, dotted, functions, own_nodes

Function = ast.FunctionDef | ast.AsyncFunctionDef
# `x != x` is how a NaN is told, and `x + x` or `x * x` are sums and squares.
SAME_COMPARED = ast.Eq | ast.Lt | ast.LtE | ast.Gt | ast.GtE
SAME_COMPUTED = ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.BitXor
TEXT_METHODS = {"strip", "lstrip", "rstrip", "upper", "lower", "title", "capitalize", "casefold"}
IN_PLACE = {"sort", "append", "extend", "insert", "reverse"}


def hits(tree: ast.Module) -> Iterator[Hit]:
    """Yield every flaw in the values of a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            yield from _compared(node)
        elif isinstance(node, ast.BinOp | ast.BoolOp):
            yield from _same_operands(node)
        elif isinstance(node, ast.For):
            yield from _range_too_long(node)
        elif isinstance(node, ast.Subscript):
            yield from _index_of_length(node)
    yield from _swapped(tree)
    for scope in functions(tree):
        yield from _result_of_in_place(scope)
        yield from _dropped_text(scope)


def _compared(node: ast.Compare) -> Iterator[Hit]:
    if len(node.ops) != 1:
        return
    left, operator, right = node.left, node.ops[0], node.comparators[0]
    if isinstance(operator, SAME_COMPARED) and _are_same(left, right):
        yield _hit(node, "same-sides", "self-comparison", 95)
    if isinstance(operator, ast.Eq | ast.NotEq) and (_is_fraction(left) or _is_fraction(right)):
        yield _hit(node, "float-equality", "float-equality", 75)
    if isinstance(left, ast.Call) and dotted(left.func) == "len" and _never_varies(operator, right):
        message = "A length is never negative, so this condition always has the same result."
        yield _hit(node, "length-sign", "constant-condition", 98, message)


def _is_fraction(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, float)
        and not node.value.is_integer()
        # Halves, quarters and eighths are exact.
        and not (node.value * 8).is_integer()
    )


def _never_varies(operator: ast.cmpop, right: ast.expr) -> bool:
    zero = isinstance(right, ast.Constant) and right.value == 0 and right.value is not False
    return zero and isinstance(operator, ast.GtE | ast.Lt)


def _same_operands(node: ast.BinOp | ast.BoolOp) -> Iterator[Hit]:
    if isinstance(node, ast.BoolOp):
        pairs = list(pairwise(node.values))
    else:
        pairs = [(node.left, node.right)] if isinstance(node.op, SAME_COMPUTED) else []
    if any(_are_same(left, right) for left, right in pairs):
        yield _hit(node, "same-operands", "self-comparison", 90)


def _are_same(left: ast.expr, right: ast.expr) -> bool:
    """Tell whether two expressions are the same name, attribute or item, without a call in them."""
    if not isinstance(left, ast.Name | ast.Attribute | ast.Subscript) or type(left) is not type(
        right
    ):
        return False
    return not any(calls(left)) and ast.dump(left) == ast.dump(right)


def _dropped_text(scope: Function) -> Iterator[Hit]:
    texts = _texts(scope)
    for node in own_nodes(scope):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            name, _, method = dotted(node.value.func).rpartition(".")
            if name in texts and method in TEXT_METHODS:
                message = f"`{method}` returns a new text; `{name}` stays as it was."
                yield _hit(node.value, "dropped-text", "discarded-value", 92, message)


def _texts(scope: Function) -> set[str]:
    """Return the names that hold texts: parameters declared so, and names given one."""
    declared = (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)
    texts = {a.arg for a in declared if a.annotation and dotted(a.annotation) == "str"}
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            text = isinstance(value, ast.JoinedStr) or (
                isinstance(value, ast.Constant) and isinstance(value.value, str)
            )
            if text or (isinstance(value, ast.Call) and dotted(value.func) in {"str", "input"}):
                texts.add(node.targets[0].id)
    return texts


def _range_too_long(loop: ast.For) -> Iterator[Hit]:
    """Yield `for i in range(len(x) + 1)` when the body reads `x[i]`."""
    call = loop.iter
    if not isinstance(call, ast.Call) or dotted(call.func) != "range" or not call.args:
        return
    stop = call.args[0] if len(call.args) == 1 else call.args[1]
    walked = _length_plus_one(stop)
    if walked is not None and isinstance(loop.target, ast.Name):
        for node in (n for statement in loop.body for n in ast.walk(statement)):
            if _reads(node, walked, loop.target.id):
                message = f"The last turn reads `{walked}` one beyond its end."
                suggestion = f"Stop at `len({walked})`, or walk over `{walked}` itself."
                yield Hit(
                    loop.lineno, "bugs:range", "off-by-one", 92, loop.lineno, message, suggestion
                )
                return


def _length_plus_one(stop: ast.expr) -> str | None:
    if (
        isinstance(stop, ast.BinOp)
        and isinstance(stop.op, ast.Add)
        and isinstance(stop.right, ast.Constant)
        and stop.right.value == 1
    ):
        return _measured(stop.left)
    return None


def _measured(node: ast.expr) -> str | None:
    """Return what `len(...)` is called on."""
    if isinstance(node, ast.Call) and dotted(node.func) == "len" and len(node.args) == 1:
        return dotted(node.args[0]) or None
    return None


def _reads(node: ast.AST, walked: str, index: str) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Name)
        and node.slice.id == index
        and dotted(node.value) == walked
    )


def _index_of_length(node: ast.Subscript) -> Iterator[Hit]:
    measured = _measured(node.slice)
    if measured is not None and measured == dotted(node.value):
        message = f"`{measured}[len({measured})]` lies one beyond the end."
        yield _hit(node, "index-of-length", "off-by-one", 95, message)


def _swapped(tree: ast.Module) -> Iterator[Hit]:
    """Yield calls of the module's own functions with two arguments in each other's place."""
    known = [f for f in tree.body if isinstance(f, Function)]
    parameters = {f.name: [a.arg for a in (*f.args.posonlyargs, *f.args.args)] for f in known}
    for call in calls(tree):
        expected = parameters.get(call.func.id, []) if isinstance(call.func, ast.Name) else []
        given = [a.id if isinstance(a, ast.Name) else None for a in call.args]
        pair = _crossed(given, expected)
        if pair is not None:
            message = f"`{pair[0]}` and `{pair[1]}` are passed in each other's place."
            yield _hit(call, "swapped", "swapped-arguments", 85, message)


def _crossed(given: list[str | None], expected: list[str]) -> tuple[str, str] | None:
    together = list(zip(given, expected, strict=False))
    for index, (one, place) in enumerate(together):
        if one is not None and one != place and (place, one) in together[index + 1 :]:
            return one, place
    return None


def _result_of_in_place(scope: Function) -> Iterator[Hit]:
    assigned = [n for n in own_nodes(scope) if isinstance(n, ast.Assign)]
    lists = {
        target.id
        for node in assigned
        if isinstance(node.value, ast.List | ast.ListComp) or _makes_list(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in assigned:
        value = node.value
        if isinstance(value, ast.Call):
            receiver, _, method = dotted(value.func).rpartition(".")
            if receiver in lists and method in IN_PLACE:
                message = f"`{method}` changes `{receiver}` in place and returns None."
                yield _hit(value, "in-place", "in-place-result", 95, message)


def _makes_list(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and dotted(value.func) in {"list", "sorted"}


def _hit(node: ast.expr, rule: str, category: str, confidence: int, message: str = "") -> Hit:
    return Hit(node.lineno, f"bugs:{rule}", category, confidence, node.end_lineno, message)
