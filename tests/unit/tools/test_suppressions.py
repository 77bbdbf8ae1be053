import pytest
from tool_desk import found

SQL = 'db.execute(f"SELECT * FROM t WHERE a = {a}")'


@pytest.mark.parametrize("tool", ["bandit", "ruff-security", "patterns-security"])
@pytest.mark.parametrize(
    "comment", ["noqa", "noqa: S608", "noqa: E501, S608", "nosec", "nosec B608"]
)
def test_a_comment_for_one_analyser_silences_its_kind_in_all(tool: str, comment: str) -> None:
    assert found(tool, f"{SQL}\n") != []
    assert found(tool, f"{SQL}  # {comment}\n") == []


@pytest.mark.parametrize("comment", ["noqa: E501", "nosec B101", "no quality"])
def test_a_comment_about_something_else_silences_nothing(comment: str) -> None:
    assert found("patterns-security", f"{SQL}  # {comment}\n") != []


def test_nosec_silences_security_only() -> None:
    assert found("shallow-bugs", "last = x[len(x)]  # nosec\n") != []
    assert found("shallow-bugs", "last = x[len(x)]  # noqa\n") == []


def test_a_comment_inside_a_long_function_does_not_silence_the_function() -> None:
    branches = "".join(f"    if a == {n}:\n        return {n}\n" for n in range(16))

    assert found("complexity", f"def f(a):\n{branches}    return 1  # noqa\n") != []
    assert found("complexity", f"def f(a):  # noqa\n{branches}    return 1\n") == []


def test_an_allowed_secret_is_silent_for_every_analyser() -> None:
    line = 'password = "kT9x2Lq81mZw"'

    for tool in ("secrets", "ruff-security", "bandit"):
        assert found(tool, f"{line}\n") != []
        assert found(tool, f"{line}  # pragma: allowlist secret\n") == []
