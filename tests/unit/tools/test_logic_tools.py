import pytest
from tool_desk import categories, document, found, places, result


def test_ruff_finds_likely_bugs() -> None:
    text = "def f(a, b=[]):\n    c = a\n    if a is 'x':\n        return undefined\n    return b\n"

    assert places(found("ruff-logic", text)) == [
        (1, "mutable-default"),
        (2, "unused-variable"),
        (3, "identity-with-literal"),
        (4, "undefined-name"),
    ]
    assert places(found("ruff-logic", text, "shop.py", (2, 2))) == [(2, "unused-variable")]


def test_sound_code_is_silent() -> None:
    text = "def f(a, b=None):\n    if a == 'x':\n        return b\n    return [a]\n"

    assert found("ruff-logic", text) == []
    assert found("shallow-bugs", text) == []


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("for i in range(len(x) + 1):\n    use(x[i])", "off-by-one"),
        ("last = x[len(x)]", "off-by-one"),
        ("if price == 0.1:\n    pass", "float-equality"),
        ("def f():\n    return 1\n    g()", "unreachable-code"),
        ("def f():\n    file = open('a')\n    file.write('b')", "resource-leak"),
        ("def f(width, height): ...\nf(height, width)", "swapped-arguments"),
        ("if a.b == a.b:\n    pass", "self-comparison"),
        ("x = a - a", "self-comparison"),
        ("if len(x) >= 0:\n    pass", "constant-condition"),
        ("if a == 1:\n    f()\nelif a == 1:\n    g()", "duplicate-condition"),
        ("if a:\n    f()\nelse:\n    f()", "identical-branches"),
        ("for x in xs:\n    if bad(x):\n        xs.remove(x)", "mutated-while-iterated"),
        ("def f(name: str):\n    name.strip()", "discarded-value"),
        ("def f():\n    x = [2, 1]\n    y = x.sort()", "in-place-result"),
        ("async def g(): ...\nasync def f():\n    g()", "missing-await"),
        ("try:\n    f()\nexcept Exception:\n    x = None", "swallowed-exception"),
        ("try:\n    f()\nexcept:\n    pass", "swallowed-exception"),
        ("<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> main", "merge-conflict"),
    ],
)
def test_a_shallow_bug_is_found(text: str, category: str) -> None:
    assert categories("shallow-bugs", text) == [category]


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(len(x) + 1):\n    use(i)",
        "for i in range(len(x)):\n    use(x[i])",
        "if price == 0.5 or count == 1.0:\n    pass",
        "def f():\n    return\n    yield",
        "def f():\n    file = open('a')\n    return file",
        "def f():\n    file = open('a')\n    file.write('b')\n    file.close()",
        "def f():\n    with open('a') as file:\n        file.read()",
        "def f(width, height): ...\nf(width, height)",
        "if a != a:\n    pass",
        "x = a + a",
        "if next(a) == next(a):\n    pass",
        "if a == 1:\n    f()\nelif a == 2:\n    g()",
        "for x in list(xs):\n    xs.remove(x)",
        "for x in xs:\n    if bad(x):\n        xs.remove(x)\n        break",
        "for x in xs:\n    xs.append(x.parent)",
        "def f(name):\n    name.strip()",
        "async def g(): ...\nasync def f():\n    await g()",
        "try:\n    f()\nexcept Exception as error:\n    log.error(error)",
        "try:\n    f()\nexcept KeyError:\n    pass",
        "f = lambda: 1",
        "title\n=======\n",
    ],
)
def test_sound_code_is_no_shallow_bug(text: str) -> None:
    assert found("shallow-bugs", text) == []


def test_a_shallow_bug_on_an_unchanged_line_is_silent() -> None:
    text = "a = 1\nlast = x[len(x)]\n"

    assert found("shallow-bugs", text, "shop.py", (1, 1)) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.js", "if (a = b) {", ["assignment-in-condition"]),
        ("a.js", "if (a === NaN) {", ["constant-condition"]),
        ("a.js", "if (user.id === user.id) {", ["self-comparison"]),
        ("a.js", "try { f(); } catch (e) {}", ["swallowed-exception"]),
        ("A.java", "try { f(); } catch (IOException e) { }", ["swallowed-exception"]),
        ("a.js", "if (a === b) {\n  c = a => a;\n}", []),
        ("a.js", "if (a.id === a.identity || x.a === y.a) {", []),
        ("a.js", "try { f(); } catch (e) { /* f may be missing */ }", []),
        ("a.js", 'log("if (a = b) {");', []),
    ],
)
def test_shallow_bugs_of_other_languages(path: str, text: str, expected: list[str]) -> None:
    assert categories("shallow-bugs", text, path) == expected


def test_a_file_that_does_not_parse_is_one_critical_finding_and_the_others_are_still_read() -> None:
    findings = result(
        "ruff-logic",
        document("broken.py", "def f(:\n    return\n\n\ndef g(]\n"),
        document("sound.py", "def f():\n    a = 1\n"),
    ).findings

    assert [(f.path, f.category, f.severity, f.confidence) for f in findings] == [
        ("broken.py", "syntax-error", "critical", 100),
        ("sound.py", "unused-variable", "warning", 90),
    ]


def test_a_syntax_error_is_told_at_the_changed_line_before_it() -> None:
    text = "a = 1\nb = (\nc = 2\n\n\ndef f():\n    pass\n"

    assert places(found("ruff-logic", text, "shop.py", (2, 2))) == [(2, "syntax-error")]


def test_grammar_of_a_newer_python_is_no_syntax_error() -> None:
    text = (
        "type Pair[T] = tuple[T, T]\n\n\ntry:\n    pass\nexcept ValueError, KeyError:\n    raise\n"
    )

    assert "syntax-error" not in categories("ruff-logic", text)
