import pytest
from tool_desk import categories, document, found, places, result

QUERIES = """
def load(db, order):
    return db.execute("SELECT * FROM items WHERE id = ?", (order,))


def report(db, orders):
    for order in orders:
        rows = db.execute("SELECT * FROM items WHERE id = ?", (order,))
        yield rows, load(db, order)
    return [Item.objects.get(id=order) for order in orders]
"""


def test_queries_inside_loops_are_found_even_behind_a_function() -> None:
    assert places(found("queries", QUERIES)) == [
        (8, "n-plus-one"),
        (9, "n-plus-one"),
        (10, "n-plus-one"),
    ]


def test_a_query_on_an_unchanged_line_is_silent() -> None:
    assert places(found("queries", QUERIES, "shop.py", (9, 9))) == [(9, "n-plus-one")]


@pytest.mark.parametrize(
    "text",
    [
        "for row in db.execute(query, (ids,)):\n    use(row)",
        "[row for row in db.execute(query, (ids,))]",
        "for attempt in range(3):\n    db.execute(query, (attempt,))",
        "for part in batched(ids, 100):\n    db.execute(query, part)",
        "for start in range(0, n, 100):\n    db.execute(query, (start,))",
        "for name in names:\n    cache.get(name)",
        "for name in names:\n    executor.execute(name)",
        "for name in names:\n    session.get(name, timeout=3)",
    ],
)
def test_one_query_or_few_fixed_ones_are_silent(text: str) -> None:
    assert found("queries", text) == []


def test_requests_inside_loops_are_found() -> None:
    text = "for url in urls:\n    requests.get(url, timeout=3)\n"

    assert categories("queries", text) == ["request-in-loop"]


def test_queries_inside_loops_of_other_languages_are_found() -> None:
    inside = "for (const id of ids) {\n  const user = await User.findById(id);\n}\n"
    after = "for (const id of ids) {\n  use(id);\n}\nconst user = await User.findById(id);\n"

    assert places(found("queries", inside, "a.js")) == [(2, "n-plus-one")]
    assert found("queries", after, "a.js") == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(xs):\n    seen = []\n    for x in xs:\n        if x not in seen:\n"
        "            seen.append(x)",
        "def f(xs):\n    for x in xs:\n        use(xs.count(x))",
        "def f(xs):\n    q = []\n    for x in xs:\n        q.append(x)\n        q.insert(0, x)",
        "def f(xs, ys):\n    for x in xs:\n        for y in ys:\n            if x.id == y.id:\n"
        "                use(x, y)",
    ],
)
def test_loops_that_grow_with_the_square_are_found(text: str) -> None:
    assert categories("loops", text) == ["quadratic-growth"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(xs):\n    seen = set()\n    for x in xs:\n        if x not in seen:\n"
        "            seen.add(x)",
        "def f(xs):\n    for x in xs:\n        if x in ('a', 'b'):\n            use(x)",
        "def f(xs):\n    for x in xs:\n        for y in x.children:\n            if x.id == y.id:\n"
        "                use(x)",
    ],
)
def test_loops_that_grow_with_their_input_are_silent(text: str) -> None:
    assert found("loops", text) == []


def test_ruff_finds_needless_work() -> None:
    text = "async def f(xs):\n    time.sleep(1)\n    return list([x for x in xs])\n"

    assert places(found("ruff-performance", "import time\n" + text)) == [
        (3, "blocking-in-async"),
        (4, "needless-work"),
        (4, "needless-work"),
    ]
    assert found("ruff-performance", "def f(xs):\n    return [x + 1 for x in xs]\n") == []


def branches(count: int, indent: str = "    ") -> str:
    return "".join(f"{indent}if a == {n}:\n{indent}    return {n}\n" for n in range(count))


@pytest.mark.parametrize(
    ("path", "complex_text", "simple_text"),
    [
        ("a.py", f"def f(a):\n{branches(16)}", f"def f(a):\n{branches(5)}"),
        (
            "a.js",
            "function f(a) {\n" + "  if (a) { g(); }\n" * 16 + "}\n",
            "function f(a) {\n" + "  if (a) { g(); }\n" * 5 + "}\n",
        ),
    ],
)
def test_functions_with_too_many_paths_are_found(
    path: str, complex_text: str, simple_text: str
) -> None:
    assert categories("complexity", complex_text, path) == ["complex-function"]
    assert found("complexity", simple_text, path) == []


def test_blocks_nested_too_deep_are_found_and_a_chain_of_elif_is_not_deep() -> None:
    deep = "".join("    " * (n + 1) + f"if a > {n}:\n" for n in range(5))
    chain = "    if a:\n        pass\n" + "    elif b:\n        pass\n" * 6

    assert categories("complexity", f"def f(a):\n{deep}{'    ' * 6}pass\n") == ["deep-nesting"]
    assert found("complexity", f"def f(a, b):\n{chain}") == []


def test_a_function_that_was_complex_before_a_small_change_is_silent() -> None:
    text = f"def f(a):\n{branches(16)}"

    assert found("complexity", text, "a.py", (4, 5)) == []
    assert places(found("complexity", text, "a.py", (1, 20))) == [(1, "complex-function")]


def test_one_run_measures_all_files_of_a_step() -> None:
    text = f"def f(a):\n{branches(16)}"
    findings = result("complexity", document("b.py", text), document("a/b.py", text)).findings

    assert [f.path for f in findings] == ["a/b.py", "b.py"]
