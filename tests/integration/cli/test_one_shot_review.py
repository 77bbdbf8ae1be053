"""Commands that start a stack for themselves, and leave nothing of it."""

import json
import re
import signal
import subprocess
from typing import Any

from chargehand.cli.review import EXAMPLE
from tests.integration.cli.user import PLANTED, User

FINDING = re.compile(r"^ +(?P<line>\d+)(-\d+)?  (?P<severity>critical|warning|info) ")


def _named(text: str) -> set[tuple[str, int, str]]:
    """Return file, line and severity of each finding in a report for people."""
    path, found = "", set()
    for line in text.splitlines():
        if match := FINDING.match(line):
            found.add((path, int(match["line"]), match["severity"]))
        elif line and not line.startswith(" "):
            path = line
    return found


def test_the_demo_names_exactly_the_planted_problems_and_leaves_nothing(user: User) -> None:
    done = user.run("demo")

    planted = json.loads((EXAMPLE / "expected.json").read_text())
    assert _named(done.stdout) == {(p["path"], p["line"], p["severity"]) for p in planted}
    assert done.returncode == 0
    assert "looks at" in done.stderr
    assert "delivered: complete" in done.stderr
    assert user.left() == ([], [])


def test_a_review_gives_pure_json_and_the_same_report_twice(user: User) -> None:
    user.plant()

    first, second = (user.run("review", "--base", "main", "--format", "json") for _ in range(2))

    reports: list[dict[str, Any]] = [json.loads(done.stdout) for done in (first, second)]
    differing = {name for name in reports[0] if reports[0][name] != reports[1][name]}
    found = [(f["path"], f["span"]["start"], f["category"]) for f in reports[0]["findings"]]
    assert (first.returncode, second.returncode) == (1, 1)
    assert found == [("accounts.py", 6, "sql-injection"), ("accounts.py", 9, "mutable-default")]
    assert differing <= {"job", "timings"}
    assert "job" in differing
    assert "security: started by" in first.stderr
    assert "\x1b" not in first.stderr
    assert user.left() == ([], [])


def test_files_that_are_no_good_are_named_and_break_nothing(user: User) -> None:
    with (user.folder / "huge.py").open("wb") as file:
        file.truncate(50_000_000)
    (user.folder / "latin.py").write_bytes(b'NAME = "\xe9t\xe9"\n\n\ndef f(x=[]):\n    return x\n')
    (user.folder / "broken.py").write_text("def f(:\n    oops = [\n")

    done = user.run("review", ".", "--format", "json")

    report = json.loads(done.stdout)
    left_out = {(e["path"], e["reason"]) for e in report["excluded"]}
    found = {(f["path"], f["category"]) for f in report["findings"]}
    assert (done.returncode, report["state"]) == (1, "complete")
    assert ("huge.py", "too large: 50.0 MB, over the limit of 1.0 MB") in left_out
    assert ("latin.py", "2 bytes that are not UTF-8 were replaced") in left_out
    assert {("latin.py", "mutable-default"), ("broken.py", "syntax-error")} <= found
    assert "Traceback" not in done.stderr


def test_ctrl_c_in_the_middle_leaves_nothing_behind(user: User) -> None:
    user.plant()
    for number in range(100):
        (user.folder / f"copy_{number}.py").write_text(PLANTED)
    process = user.start("review", "--base", "main", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert any("started by" in line for line in process.stderr)

    process.send_signal(signal.SIGINT)

    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    assert "cancelled job" in err
    assert "Traceback" not in err
    assert user.left() == ([], [])


def test_readers_that_go_away_change_neither_the_exit_code_nor_the_clean_up(user: User) -> None:
    user.plant()
    process = user.start(
        "review", "--base", "main", stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None

    first = process.stdout.readline()
    process.stdout.close()

    assert first == "no stack is running: starting one for this job\n"
    assert process.wait(20) == 1
    assert user.left() == ([], [])


def test_a_command_whose_output_is_closed_still_ends_as_it_should(user: User) -> None:
    user.plant()

    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *user.command("plan", "--base", "main")],
        cwd=user.folder,
        env=user.environment,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
