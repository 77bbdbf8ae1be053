"""What no tool may stumble over."""

import time

import pytest
from tool_desk import document, found, result

from common.contracts import Slice, Span
from workers import tools
from workers.desk import ToolError, ToolMissing
from workers.tools import programs

LENSES = (
    "bandit", "ruff-security", "secrets", "patterns-security", "routes",
    "ruff-performance", "queries", "loops", "complexity",
    "ruff-style", "naming", "organisation",
    "ruff-logic", "shallow-bugs",
)  # fmt: skip
PROGRAMS = {
    "bandit": "bandit",
    "ruff-logic": "ruff",
    "secrets": "detect_secrets",
    "complexity": "lizard",
}


@pytest.mark.parametrize("tool", LENSES)
def test_no_tool_stumbles_over_odd_files(tool: str) -> None:
    odd = result(
        tool,
        document("empty.py", ""),
        document("broken.py", "def f(:\n"),
        document("nul.py", "a = '\0'\n"),
        document("bom.py", '\ufeff"""Ümläut."""\r\n\r\nname = "größe"\r\n'),
        document("folder with ü/naïve.py", '"""日本語."""\n\nescape = "\\d"\n'),
        document("-rf.py", '"""An option?"""\n'),
        document("json.py", '"""Hides a module that analysers import."""\n\nraise SystemExit\n'),
        document("deep.py", f'"""Deep."""\n\nx = {"-" * 5000}1\n'),
        document("wide.py", f'"""Wide."""\n\nx = {" + ".join("a" for _ in range(400))}\n'),
        document("unclosed.js", "/* " * 2000 + "\n" + '"' + "\\" * 999),
        document("unknown.xyz", "What is this?\n"),
        document("no_language", "text\n", language=None),
    )

    categories = {f.category for f in odd.findings} - {"undefined-name"}
    known = {"ruff-logic": {"syntax-error"}, "shallow-bugs": {"too-deep"}}
    assert categories == known.get(tool, set())


def test_a_file_too_deep_for_the_rules_is_named_and_does_not_hide_the_others() -> None:
    deep = document("deep.py", f"x = {'-' * 5000}1\n")
    other = document("other.py", "def f():\n    a = 1\n")

    assert [f.path for f in result("ruff-logic", deep, other).findings] == ["other.py"]
    assert [f.path for f in result("shallow-bugs", deep, other).findings] == ["deep.py"]


@pytest.mark.parametrize("tool", LENSES)
def test_no_files_are_no_findings(tool: str) -> None:
    assert result(tool).findings == ()


def test_a_reviewed_file_is_never_imported_by_its_analyser() -> None:
    evil = "import pathlib\npathlib.Path('imported').touch()\nraise SystemExit(3)\n"
    names = ("json.py", "yaml.py", "ast.py", "re.py", "lizard.py", "bandit/__init__.py")

    for tool in ("bandit", "ruff-logic", "secrets", "complexity"):
        result(tool, *(document(name, evil) for name in names))


@pytest.mark.parametrize("tool", PROGRAMS)
def test_a_missing_program_is_told_by_its_name(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(ToolMissing, match=PROGRAMS[tool]):
        found(tool, "a = 1\n")


@pytest.mark.parametrize("tool", PROGRAMS)
def test_a_python_that_is_gone_is_a_missing_tool(
    tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_PYTHON", ("no-such-python",))

    with pytest.raises(ToolMissing, match="no-such-python"):
        found(tool, "a = 1\n")


@pytest.mark.parametrize("tool", PROGRAMS)
def test_output_that_cannot_be_read_may_be_tried_again(
    tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_PYTHON", ("/bin/echo", "no", "sense"))

    with pytest.raises(ToolError) as error:
        found(tool, "a = 1\n")

    assert error.value.transient


def test_a_program_that_ends_with_an_error_may_be_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs, "_PYTHON", (*programs._PYTHON, "-c", "import sys; sys.exit(7)"))

    with pytest.raises(ToolError, match="exit code 7") as error:
        found("bandit", "a = 1\n")

    assert error.value.transient


@pytest.mark.parametrize("tool", ["ruff-logic", "shallow-bugs"])
def test_only_the_step_s_part_of_a_file_is_reported(tool: str) -> None:
    text = "try:\n    f = open\nexcept Exception:\n    pass\n"
    part = Slice(path="shop.py", span=Span(start=1, end=2))

    assert found(tool, text) != []
    assert result(tool, document("shop.py", text), slices=[part]).findings == ()


def test_a_form_feed_does_not_change_what_a_finding_is_known_by() -> None:
    plain, fed = "a = 1\nlast = x[len(x)]\n", "a = 1\f\nlast = x[len(x)]\n"

    assert found("shallow-bugs", plain) == found("shallow-bugs", fed) != []


def test_two_runs_give_the_same_findings_in_the_same_order() -> None:
    text = "def f(a, b=[]):\n    x = a\n    return undefined, a is 'x'\n"
    documents = [document(f"{name}.py", text) for name in ("b", "a", "c")]

    first = result("ruff-logic", *documents)

    assert first == result("ruff-logic", *reversed(documents))
    assert [f.path for f in first.findings] == sorted(f.path for f in first.findings)


@pytest.mark.parametrize("opening", ["/* ", '"', "'", "`", "\\`", '\\"', '"""', "<!--"])
@pytest.mark.parametrize("path", ["a.js", "a.html", "a.py"])
def test_unclosed_comments_and_strings_take_linear_time(path: str, opening: str) -> None:
    def seconds(size: int) -> float:
        text = opening * size
        start = time.process_time()
        for tool in ("patterns-security", "shallow-bugs", "naming", "comments"):
            result(tool, document(path, text))
        return time.process_time() - start

    seconds(1_000)
    # Ten times the text; the square of it would be a hundred times the work.
    assert seconds(20_000) < 40 * (seconds(2_000) + 0.005)


def test_every_tool_of_ours_has_a_description() -> None:
    assert all(len(tools.find(tool).description) > 20 for tool in LENSES)
