"""Routes that change or reveal something without a check of the caller."""

import ast
import re
from collections.abc import Iterator

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import source, tool
from workers.tools.findings import Hit, report
from workers.tools.source import dotted

Function = ast.FunctionDef | ast.AsyncFunctionDef

# What is in sight decides how sure we can be: a check may live in a middleware elsewhere.
ALONE = 55
UNLIKE_ITS_NEIGHBOURS = 80

SENSITIVE = re.compile(
    r"(^|[/_-])(admin|delete|remove|internal|refund|impersonate|export)([/_s-]|$)"
)
GUARD = re.compile(
    r"auth|login|logged|permission|require|role|_only\b|is_admin|staff|protected|jwt|token|signed_in|"
    r"current_user|user_passes|allowed|guard|signature|verify|restricted|owner|access",
    re.IGNORECASE,
)
VERBS = {"delete", "put", "patch", "post", "get"}
ROUTE = re.compile(r"\.(route|delete|put|patch|post|get)\.\(\)$")
EXPRESS = re.compile(
    r"\b(?:app|router)\.(?P<verb>delete|post|put|patch|get)\(\s*"
    r"[\"'`](?P<path>[^\"'`]*)[\"'`]\s*,\s*(?:async\s*)?(?:\(|function\b|\w+\s*=>)"
)
MIDDLEWARE = re.compile(r"\.use\([^)]*(auth|protect|require|guard)", re.IGNORECASE)


@tool("routes", "Web routes without a check of the caller, in Python and JavaScript.")
def run(desk: Desk) -> Result:
    """Find routes that change or reveal something and check nobody."""
    return report(desk, _hits(desk))


def _hits(desk: Desk) -> Iterator[tuple[Document, Hit]]:
    for document in desk.subjects("python"):
        tree = source.python(document)
        if tree is not None and not source.is_test(document.path):
            yield from ((document, hit) for hit in _python(tree))
    for document in desk.subjects("javascript", "typescript"):
        if not source.is_test(document.path):
            yield from ((document, hit) for hit in _express(document))


def _python(tree: ast.Module) -> Iterator[Hit]:
    if _guards_all(tree):
        return
    routes = [f for f in source.functions(tree) if _route(f) is not None]
    guarded = [f for f in routes if _is_guarded(f)]
    for function in routes:
        route = _route(function)
        if route is not None and function not in guarded and _is_sensitive(*route):
            confidence = UNLIKE_ITS_NEIGHBOURS if guarded else ALONE
            message = (
                f"`{function.name}` serves {route[1]!r} and no check of the caller is in sight."
            )
            yield Hit(
                function.lineno, "routes:python", "missing-authorization", confidence, None, message
            )


def _route(function: Function) -> tuple[set[str], str] | None:
    """Return the verbs and the path of a Flask or FastAPI route."""
    for decorator in function.decorator_list:
        if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Attribute):
            continue
        path = decorator.args[0] if decorator.args else None
        if isinstance(path, ast.Constant) and isinstance(path.value, str) and path.value[:1] == "/":
            if decorator.func.attr in VERBS:
                return {decorator.func.attr}, path.value
            if decorator.func.attr == "route":
                return _methods(decorator), path.value
    return None


def _methods(decorator: ast.Call) -> set[str]:
    for keyword in decorator.keywords:
        if keyword.arg == "methods":
            return {
                str(node.value).lower()
                for node in ast.walk(keyword.value)
                if isinstance(node, ast.Constant)
            }
    return {"get"}


def _is_sensitive(verbs: set[str], path: str) -> bool:
    return "delete" in verbs or SENSITIVE.search(path.lower()) is not None


def _is_guarded(function: Function) -> bool:
    """Tell whether a decorator, a parameter or the body looks like a check of the caller."""
    for decorator in function.decorator_list:
        if ROUTE.search(dotted(decorator)):
            if _has_dependencies(decorator):
                return True
        elif any(GUARD.search(word) for word in _words(decorator)):
            return True
    parts = (function.args, *function.body)
    return any(GUARD.search(word) for part in parts for word in _words(part))


def _has_dependencies(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and any(k.arg == "dependencies" for k in node.keywords)


def _words(part: ast.AST) -> Iterator[str]:
    for node in ast.walk(part):
        if isinstance(node, ast.Name | ast.Attribute):
            yield dotted(node)
        elif isinstance(node, ast.Constant) and node.value in {401, 403}:
            yield "auth"


def _guards_all(tree: ast.Module) -> bool:
    """Tell whether one check stands before every route of the file."""
    for node in ast.walk(tree):
        if _has_dependencies(node) and not ROUTE.search(dotted(node)):
            return True
        if isinstance(node, Function) and any(
            re.search(r"before_request|middleware", dotted(d)) for d in node.decorator_list
        ):
            return True
    return False


def _express(document: Document) -> Iterator[Hit]:
    lines = [line for _, _, line in source.statements(document)]
    if any(MIDDLEWARE.search(line) for line in lines):
        return
    for index, (number, end, line) in enumerate(source.statements(document)):
        match = EXPRESS.search(line[: source.LONGEST_LINE])
        if match and _is_sensitive({match["verb"]}, match["path"]):
            nearby = "\n".join(lines[index : index + 6])
            if not GUARD.search(nearby.replace(match["path"], "")):
                message = f"The route {match['path']!r} names no middleware that checks the caller."
                yield Hit(number, "routes:express", "missing-authorization", ALONE, end, message)
