"""Queries and network requests that run once for every turn of a loop."""

import ast
import re
from collections.abc import Iterator

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import source, tool
from workers.tools.findings import Hit, report
from workers.tools.source import dotted, names

Loop = ast.For | ast.AsyncFor | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Function = ast.FunctionDef | ast.AsyncFunctionDef

CONNECTION = re.compile(r"(^|_)(cur|cursor|conn|connection|db|database|session|engine|tx|pool)$")
EXECUTE = {
    "execute",
    "fetch",
    "fetchrow",
    "fetchval",
    "scalar",
    "scalars",
    "query",
    "get",
    "find_one",
}
ORM = re.compile(r"\.objects\.(get|filter|exclude|count|exists|create|first|get_or_create)\b")
ACTIVE = re.compile(r"\.query\.(get|filter|filter_by|get_or_404|first)\b")
CHAIN = re.compile(r"(^|\.)(session|db)\.query\.\(\)\.(filter|filter_by|get|where)$")
REQUEST = re.compile(r"^(requests|httpx)\.(get|post|put|patch|delete|head|request)$|urlopen$")

BRACED = ("javascript", "typescript", "java", "csharp", "go", "php", "kotlin")
LOOP_LINE = re.compile(
    r"^\s*(?:for|foreach)\b|\.(?:forEach|map)\(\s*(?:async\b)?|^\s*while\s*\(.*\.next\(\)"
)
QUERY_LINE = re.compile(
    r"\bawait\s+[\w.$]*\.(?:findOne|findById|findUnique|findFirst|query|execute)\("
    r"|\b(?:db|tx|conn)\.Query(?:Row)?(?:Context)?\(|\.executeQuery\(|\bmysqli_query\("
    r"|\$(?:pdo|db|conn|mysqli)->(?:query|prepare)\("
)
REQUEST_LINE = re.compile(r"\bawait\s+(?:fetch|axios(?:\.\w+)?)\(|\bhttp\.Get\(")


@tool("queries", "Database queries and network requests inside loops.")
def run(desk: Desk) -> Result:
    """Find queries and requests that run once for every turn of a loop."""
    return report(desk, _hits(desk))


def _hits(desk: Desk) -> Iterator[tuple[Document, Hit]]:
    for document in desk.subjects("python"):
        tree = source.python(document)
        if tree is not None and not source.is_test(document.path):
            yield from ((document, hit) for hit in _python(tree))
    for document in desk.subjects(*BRACED):
        if not source.is_test(document.path):
            yield from ((document, hit) for hit in _braced(document))


def _python(tree: ast.Module) -> Iterator[Hit]:
    helpers = {f.name: kind for f in source.functions(tree) if (kind := _asks(f))}
    for loop in (node for node in ast.walk(tree) if isinstance(node, Loop)):
        if _is_batch(loop):
            continue
        varying = _varying(loop)
        for call in _calls_per_turn(loop):
            kind, sure = _kind(call), 88
            if kind is None:
                kind, sure = helpers.get(dotted(call.func).removeprefix("self.")), 80
            if kind is not None and _arguments(call) & varying:
                yield _hit(call, kind, sure)


def _hit(call: ast.Call, kind: str, sure: int) -> Hit:
    what = "query" if kind == "n-plus-one" else "request"
    message = f"`{dotted(call.func)}` sends a {what} once for every turn of the loop around it."
    return Hit(call.lineno, f"queries:{what}", kind, sure, call.end_lineno, message)


def _kind(call: ast.Call) -> str | None:
    name = dotted(call.func)
    receiver, _, method = name.rpartition(".")
    if REQUEST.search(name):
        return "request-in-loop"
    if ORM.search(f".{name}") or ACTIVE.search(f".{name}"):
        return "n-plus-one"
    if CHAIN.search(name):
        return "n-plus-one"
    if method in EXECUTE and CONNECTION.search(receiver.rpartition(".")[2]):
        return "n-plus-one" if method != "get" or _names_a_class(call) else None
    return None


def _names_a_class(call: ast.Call) -> bool:
    """Tell the `get` of a database session from that of an HTTP session or a cache."""
    return len(call.args) > 1 and dotted(call.args[0]).rpartition(".")[2][:1].isupper()


def _asks(function: Function) -> str | None:
    """Return what kind of question a function sends each time that it is called."""
    if any(re.search(r"cache|memo", dotted(d)) for d in function.decorator_list):
        return None
    inner = (node for node in source.own_nodes(function) if isinstance(node, ast.Call))
    return next((kind for call in inner if (kind := _kind(call))), None)


def _is_batch(loop: ast.AST) -> bool:
    """Tell whether a loop walks over a few fixed items or over whole batches."""
    iterated = loop.iter if isinstance(loop, ast.For | ast.AsyncFor) else _first(loop)
    if isinstance(iterated, ast.Tuple | ast.List | ast.Set | ast.Constant):
        return True
    if not isinstance(iterated, ast.Call):
        return False
    name = dotted(iterated.func)
    fixed = name == "range" and (
        len(iterated.args) == 3 or all(isinstance(a, ast.Constant) for a in iterated.args)
    )
    return fixed or re.search(r"batch|chunk|page", name, re.IGNORECASE) is not None


def _first(loop: ast.AST) -> ast.expr | None:
    generators: list[ast.comprehension] = getattr(loop, "generators", [])
    return generators[0].iter if generators else None


def _calls_per_turn(loop: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that are made at every turn, not those that give the loop its items."""
    if isinstance(loop, ast.For | ast.AsyncFor):
        parts: list[ast.AST] = list(loop.body)
    else:
        once = _first(loop)
        parts = [
            part
            for child in ast.iter_child_nodes(loop)
            for part in (
                ast.iter_child_nodes(child) if isinstance(child, ast.comprehension) else (child,)
            )
            if part is not once
        ]
    for part in parts:
        if not isinstance(part, Function | ast.ClassDef):
            yield from source.calls(part)


def _varying(loop: ast.AST) -> set[str]:
    """Return the names whose values differ from turn to turn."""
    if not isinstance(loop, ast.For | ast.AsyncFor):
        return {n for g in getattr(loop, "generators", []) for n in names(g.target)}
    varying = names(loop.target)
    for statement in loop.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign) and names(node.value) & varying:
                varying |= {n for target in node.targets for n in names(target)}
    return varying


def _arguments(call: ast.Call) -> set[str]:
    return {n for a in (*call.args, *(k.value for k in call.keywords)) for n in names(a)}


def _braced(document: Document) -> Iterator[Hit]:
    """Yield questions inside loops of languages with braces, told by their depth."""
    depth, loops = 0, list[int]()
    for number, line in enumerate(source.lines(document), start=1):
        line = line[: source.LONGEST_LINE]
        if loops and (QUERY_LINE.search(line) or REQUEST_LINE.search(line)):
            asked = "n-plus-one" if QUERY_LINE.search(line) else "request-in-loop"
            yield Hit(number, "queries:text", asked, 65)
        if LOOP_LINE.search(line) and line.count("{") > line.count("}"):
            loops.append(depth)
        depth += line.count("{") - line.count("}")
        while loops and depth <= loops[-1]:
            loops.pop()
