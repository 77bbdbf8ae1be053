"""Every wrong input is one clear line on standard error and exit code 2, and nothing is run."""

import io
import sys
from pathlib import Path

import pytest

from chargehand.collect import diffs
from tests.unit.cli.conftest import Run, Said

ESCAPE = "--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n"
SHORT = "--- a/x.py\n+++ b/x.py\n@@ -1,9 +1 @@\n-a\n+b\n"


def refused(said: Said, *words: str) -> None:
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("chargehand: ")
    assert said.err.count("\n") == 1
    for word in words:
        assert word in said.err


def test_a_folder_without_a_repository_is_refused(chargehand: Run) -> None:
    refused(chargehand("review", "--base", "main"), "not in a git repository")


def test_an_unknown_ref_is_refused_with_the_known_ones(chargehand: Run, repository: Path) -> None:
    refused(chargehand("review", "--base", "mian"), "no ref 'mian'", "main")


def test_a_ref_is_never_taken_for_an_option_of_git(chargehand: Run, repository: Path) -> None:
    refused(chargehand("review", "--base=--output=x"), "'--output=x' is no git ref")

    assert not (repository / "x").exists()


def test_a_repository_without_a_change_is_refused(chargehand: Run, repository: Path) -> None:
    refused(chargehand("review", "--base", "main"), "nothing to review: no change since main")


@pytest.mark.parametrize(
    ("diff", "word"),
    [
        ("", "the diff is empty"),
        ("\n \n", "the diff is empty"),
        ("hello\n", "does not parse"),
        (SHORT, "line 5, '+b': hunk is shorter than expected"),
        (ESCAPE, "'../../etc/passwd', which leaves the folder"),
    ],
)
def test_a_diff_that_is_no_good_is_refused(
    chargehand: Run, folder: Path, diff: str, word: str
) -> None:
    (folder / "change.diff").write_text(diff)

    refused(chargehand("review", "--diff", "change.diff"), word)


def test_a_diff_from_standard_input_is_checked_alike(
    chargehand: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ESCAPE.encode())))

    refused(chargehand("review", "--diff", "-"), "'../../etc/passwd'")


@pytest.mark.parametrize("name", ["missing.diff", "."])
def test_a_diff_that_cannot_be_read_is_refused(chargehand: Run, name: str) -> None:
    refused(chargehand("review", "--diff", name), f"--diff {name}: cannot be read")


def test_a_diff_of_50_mb_is_refused(chargehand: Run, folder: Path) -> None:
    with (folder / "huge.diff").open("wb") as file:
        file.truncate(50_000_000)

    refused(chargehand("review", "--diff", "huge.diff"), "is larger than 20.0 MB; split it")


def test_a_diff_at_the_limit_is_read_whole(chargehand: Run, folder: Path) -> None:
    (folder / "full.diff").write_bytes(b" " * diffs.LIMIT)

    refused(chargehand("review", "--diff", "full.diff"), "the diff is empty")


@pytest.mark.parametrize("wanted", [[], ["--base", "main", "a.py"], ["--base", "x", "--diff", "-"]])
def test_exactly_one_thing_is_reviewed(chargehand: Run, wanted: list[str]) -> None:
    refused(chargehand("review", *wanted), "--base REF, --diff FILE, or paths; one of them")


def test_a_path_that_is_not_there_is_refused(chargehand: Run) -> None:
    refused(chargehand("review", "missing.py"), "no path 'missing.py'")


def test_an_unknown_lens_is_refused_with_the_known_ones(chargehand: Run, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")

    refused(chargehand("review", "--lens", "secruity", "a.py"), "'secruity'", "logic, performance")


@pytest.mark.parametrize("lens", ["", ",", " , "])
def test_a_lens_without_a_name_does_not_mean_all_of_them(
    chargehand: Run, folder: Path, lens: str
) -> None:
    (folder / "a.py").write_text("x = 1\n")

    refused(chargehand("review", "--lens", lens, "a.py"), "--lens names no specialist")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nosuch"], ["No such command 'nosuch'"]),
        (["show"], ["Missing argument 'ID'"]),
        (["review", "--nosuch"], ["No such option: --nosuch"]),
        (["review", "--format", "xml", "a.py"], ["'xml' is not one of 'text', 'json'"]),
        (["report", "x", "--format", "xml"], ["'xml' is not one of 'text', 'json'"]),
        (["trace", "x", "--format", "xml"], ["'xml' is not one of 'json', 'chrome'"]),
        (["review", "--fail-on", "high", "a.py"], ["'high' is not one of 'critical'"]),
        (["review", "--min-confidence", "101", "a.py"], ["--min-confidence", "100"]),
        (["up", "--slots", "0"], ["--slots", "greater than or equal to 1"]),
        (["worker", "security", "--slots", "0"], ["--slots", "greater than or equal to 1"]),
        (["supervisor", "--slots", "0"], ["--slots", "greater than or equal to 1"]),
        (["up", "--scale", "x=1"], ["--scale x=1: no pool 'x'", "security, style"]),
        (["up", "--scale", "security=lots"], ["--scale security=lots", "0..64"]),
        (["up", "--flower-port", "99999"], ["port 99999 is out of 1..65535"]),
        (["flower", "--port", "99999"], ["port 99999 is out of 1..65535"]),
        (["worker", "secruity"], ["no specialist 'secruity'", "security, style"]),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_value(
    chargehand: Run, arguments: list[str], words: list[str]
) -> None:
    refused(chargehand(*arguments), *words)


@pytest.mark.parametrize(
    "arguments", [["review", "a.py"], ["plan", "a.py"], ["up"], ["worker", "security"]]
)
def test_a_teams_folder_that_is_not_there_is_refused(
    chargehand: Run, folder: Path, arguments: list[str]
) -> None:
    (folder / "a.py").write_text("x = 1\n")

    refused(chargehand(*arguments, CHARGEHAND_TEAMS="/nowhere"), "CHARGEHAND_TEAMS", "/nowhere")


@pytest.mark.parametrize("arguments", [["review", "a.py"], ["up"], ["worker", "security"]])
def test_a_typo_in_any_team_is_told_with_file_and_field(
    chargehand: Run, folder: Path, arguments: list[str]
) -> None:
    (folder / "a.py").write_text("x = 1\n")
    team = folder / "teams" / "mine"
    team.mkdir(parents=True)
    (team / "team.yaml").write_text("description: d\nfinal_instructoin: f\n")

    said = chargehand(*arguments, CHARGEHAND_TEAMS=str(team.parent))

    refused(said, str(team / "team.yaml"), "final_instructoin: is no known field")


def test_what_steers_a_terminal_does_not_reach_it_through_an_error(chargehand: Run) -> None:
    refused(chargehand("review", "--diff", "\x1b]0;owned\x07\nx"), r"\x1b]0;owned\x07 x")


def test_a_command_without_arguments_says_what_there_is(chargehand: Run) -> None:
    said = chargehand()

    assert (said.code, said.err) == (0, "")
    assert "Usage: chargehand [OPTIONS] COMMAND" in said.out


def test_a_plan_is_printed_and_nothing_is_run(chargehand: Run, folder: Path) -> None:
    (folder / "a.py").write_text("def f(x=[]):\n    return x\n")

    said = chargehand("plan", "a.py", "--lens", "security,style", "--lens", "logic")

    assert (said.code, said.err) == (0, "")
    assert '"planner": "rules"' in said.out
    assert [s in said.out for s in ('"security"', '"style"', '"logic"')] == [True] * 3
    assert '"performance"' not in said.out
