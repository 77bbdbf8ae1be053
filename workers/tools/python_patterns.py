"""Security problems that Python's syntax tree gives away."""

import ast
import re
from collections.abc import Iterator

from workers.tools.findings import Hit
from workers.tools.source import calls, dotted, functions, names, own_nodes

SQL = re.compile(
    r"\s*(SELECT\s.+\sFROM\b|INSERT\s+INTO\s|UPDATE\s.+\sSET\s|DELETE\s+FROM\s)",
    re.IGNORECASE | re.DOTALL,
)
TABLE = re.compile(r"\b(FROM|INTO|UPDATE|JOIN)\s+[`\"]?\0", re.IGNORECASE)
HTML = re.compile(r"\s*<(!doctype|[a-z][a-z0-9]*[\s>/])", re.IGNORECASE)
PRIVATE = re.compile(r"token|secret|password|passwd|api_?key|session_?id|nonce|otp", re.IGNORECASE)
CLEANED = re.compile(r"escape|quote|sanitize|clean|bleach|int$|float$|len$|url_for|format_html")
RANDOM = re.compile(r"^random\.(random|randint|randrange|choice|choices|sample|getrandbits)$")
REQUEST = re.compile(r"(flask\.|self\.)?request\.(args|form|GET|POST|values|query_params|json)\b")
MARKUP = re.compile(r"(^|\.)(mark_safe|Markup|SafeString)$")


def hits(tree: ast.Module) -> Iterator[Hit]:
    """Yield every security problem that our own rules see in a tree."""
    yield from _sql(tree)
    yield from _routes_that_return_markup(tree)
    for call in calls(tree):
        yield from _call(call)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from _predictable_secret(node)


def _sql(tree: ast.Module) -> Iterator[Hit]:
    """Yield texts of SQL that values were put into on their way to `execute`."""
    for scope in (tree, *functions(tree)):
        given = _given(scope)
        for call in (node for node in own_nodes(scope) if isinstance(node, ast.Call)):
            query = call.args[0] if call.args and _runs_sql(call) else None
            for built in given.get(query.id, []) if isinstance(query, ast.Name) else [query]:
                if built is not None and _is_built_sql(built, given):
                    sure = 60 if _names_only_a_table(built) else 92
                    yield _at(built, "sql-built", "sql-injection", sure)


def _given(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """Return what each plain name of a scope is given."""
    given: dict[str, list[ast.expr]] = {}
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, []).append(node.value)
    return given


def _runs_sql(call: ast.Call) -> bool:
    return dotted(call.func).rpartition(".")[2] in {
        "execute", "executemany", "executescript", "raw", "text", "fetch", "fetchrow", "fetchval",
        "read_sql", "read_sql_query", "RawSQL",
    }  # fmt: skip


def _is_built_sql(node: ast.expr, given: dict[str, list[ast.expr]]) -> bool:
    """Tell whether a text that starts like SQL has values of unknown content in it."""
    pieces = _pieces(node) or []
    return SQL.match(_joined(pieces)) is not None and any(
        not _is_harmless(value)
        for piece in pieces
        if not isinstance(piece, str)
        for value in (given.get(piece.id, [piece]) if isinstance(piece, ast.Name) else [piece])
    )


def _names_only_a_table(node: ast.AST) -> bool:
    """Tell whether values stand only where SQL takes no parameters."""
    return "\0" not in TABLE.sub("", _joined(_pieces(node) or []))


def _joined(pieces: list[str | ast.expr]) -> str:
    return "".join(p if isinstance(p, str) else "\0" for p in pieces)


def _pieces(node: ast.AST) -> list[str | ast.expr] | None:
    """Return the constant and the variable pieces of a text, or None when it is no built text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return [piece for value in node.values for piece in _of_value(value)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _pieces(node.left), _pieces(node.right)
        return None if left is None else [*left, *(right or [node.right])]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        left = _pieces(node.left)
        return None if left is None else [*left, node.right]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        text = _pieces(node.func.value) if node.func.attr == "format" else None
        return None if text is None else [*text, *node.args, *(k.value for k in node.keywords)]
    return None


def _of_value(value: ast.expr) -> list[str | ast.expr]:
    if isinstance(value, ast.FormattedValue):
        return [value.value]
    return [str(value.value)] if isinstance(value, ast.Constant) else [value]


def _is_harmless(node: ast.expr) -> bool:
    """Tell whether a value is a constant by its nature or its name, or was cleaned."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name | ast.Attribute):
        return dotted(node).rpartition(".")[2].isupper()
    return isinstance(node, ast.Call) and bool(
        CLEANED.search(dotted(node.func)) or _joins_constants(node)
    )


def _joins_constants(call: ast.Call) -> bool:
    """Tell whether a call makes a row of placeholders, such as `", ".join("?" for _ in ids)`."""
    items = call.args[0] if dotted(call.func) == "join" and call.args else None
    if isinstance(items, ast.GeneratorExp | ast.ListComp):
        return isinstance(items.elt, ast.Constant)
    return isinstance(items, ast.BinOp) and isinstance(items.op, ast.Mult)


def _call(call: ast.Call) -> Iterator[Hit]:
    name = dotted(call.func)
    last = name.rpartition(".")[2]
    first = call.args[0] if call.args else None
    if first is not None and MARKUP.search(name) and _is_open(first):
        yield _at(call, "markup", "cross-site-scripting", 80)
    if first is not None and last == "render_template_string" and _is_open(first):
        yield _at(call, "template-built", "template-injection", 85)
    if first is not None and _comes_from_request(first):
        yield from _request_reaches(call, name, last)
    yield from _switched_off(call, last)


def _request_reaches(call: ast.Call, name: str, last: str) -> Iterator[Hit]:
    if name == "open" or last in {"send_file", "FileResponse"}:
        yield _at(call, "path-from-request", "path-traversal", 85)
    if last in {"redirect", "HttpResponseRedirect", "RedirectResponse"}:
        yield _at(call, "redirect-from-request", "open-redirect", 80)
    if re.match(
        r"(requests|httpx)\.(get|post|put|request|head)$|(urllib\.request\.)?urlopen$", name
    ):
        yield _at(call, "url-from-request", "request-forgery", 85)


def _switched_off(call: ast.Call, last: str) -> Iterator[Hit]:
    for keyword in call.keywords:
        off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        if off and keyword.arg in {"verify_ssl", "ssl_verify", "verify_certs"}:
            yield _at(call, "tls-off", "tls-not-verified", 92)
        if last == "decode" and "jwt" in dotted(call.func) and _skips_signature(keyword, off):
            yield _at(call, "jwt-not-verified", "auth-bypass", 92)


def _skips_signature(keyword: ast.keyword, off: bool) -> bool:
    if keyword.arg == "options" and isinstance(keyword.value, ast.Dict):
        pairs = zip(keyword.value.keys, keyword.value.values, strict=True)
        return any(
            isinstance(k, ast.Constant) and k.value == "verify_signature"
            and isinstance(v, ast.Constant) and v.value is False
            for k, v in pairs
        )  # fmt: skip
    return keyword.arg == "verify" and off


def _comes_from_request(node: ast.expr) -> bool:
    """Tell whether a value is read from the request right here."""
    return REQUEST.match(_root(node)) is not None


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return dotted(node)


def _is_open(node: ast.expr) -> bool:
    """Tell whether a text holds a value of unknown content."""
    pieces = _pieces(node)
    if pieces is None:
        return not _is_harmless(node)
    return any(not isinstance(p, str) and not _is_harmless(p) for p in pieces)


def _routes_that_return_markup(tree: ast.Module) -> Iterator[Hit]:
    for function in functions(tree):
        if any(
            re.search(r"\.(route|get|post)(\.\(\))?$", dotted(d)) for d in function.decorator_list
        ):
            for node in own_nodes(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    pieces = _pieces(node.value) or [""]
                    if (
                        isinstance(pieces[0], str)
                        and HTML.match(pieces[0])
                        and _is_open(node.value)
                    ):
                        yield _at(node, "markup-from-route", "cross-site-scripting", 85)


def _predictable_secret(node: ast.Assign) -> Iterator[Hit]:
    target = " ".join(
        sorted({dotted(t) for t in node.targets} | names(ast.Tuple(elts=node.targets)))
    )
    if PRIVATE.search(target) and any(RANDOM.match(dotted(c.func)) for c in calls(node.value)):
        yield _at(node, "predictable-secret", "weak-randomness", 85)


def _at(node: ast.expr | ast.stmt, rule: str, category: str, confidence: int) -> Hit:
    return Hit(node.lineno, f"pattern:{rule}", category, confidence, node.end_lineno)
