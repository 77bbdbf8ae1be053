"""One running `chargehand up`, used by every other command."""

import json
import os
import pty
import re
import subprocess
import termios
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from chargehand.stack import pools, port
from tests.eventually import eventually
from tests.integration.cli.user import User, line_of

IDLE = ("analyse", "gather", "write")
"""Pools of the brief team; without a process of theirs its jobs wait until they are cancelled."""
BOTH = ["sql-injection", "mutable-default"]
FLOWER_AUTH = "ada:hunter2"
FORMATS = ("text", "json", "markdown", "sarif", "rdjson")


class Stack(User):
    """A person who has started `up`."""

    flower: int
    log: Path
    process: "subprocess.Popen[str]"

    def reviewed(self, *options: str) -> "subprocess.CompletedProcess[str]":
        """Review the planted problems."""
        return self.run("review", "--base", "main", *options)

    def job(self) -> str:
        """Return the id of a new review that has ended."""
        done = self.reviewed("--lens", "security", "--format", "json")
        return str(json.loads(done.stdout)["job"])

    def waiting_job(self) -> str:
        """Return the id of a job that nobody works on."""
        done = self.run("submit", "brief", "--request", "What is it?", "--input", "accounts.py")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def workers(self, pool: str) -> list[psutil.Process]:
        """Return the processes of a pool."""
        children = psutil.Process(self.process.pid).children()
        return [
            child for child in children if child.cmdline()[3:6] == ["chargehand", "worker", pool]
        ]

    def ask_flower(self, path: str) -> Any:
        """Return what Flower's API answers."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.flower}{path}")
        request.add_header("Authorization", f"Basic {b64encode(FLOWER_AUTH.encode()).decode()}")
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - ours
            return json.load(answer)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    made = Stack(tmp_path_factory.mktemp("up"), CHARGEHAND_FLOWER_AUTH=FLOWER_AUTH)
    made.plant()
    made.log, made.flower = made.folder.parent / "up.log", port.free()
    sizes = {pool: 0 if pool in IDLE else 1 for pool in pools.known(())} | {"security": 2}
    scale = [part for pool, size in sizes.items() for part in ("--scale", f"{pool}={size}")]
    with made.log.open("w") as log:
        options = (*scale, "--slots", "4", "--flower-port", str(made.flower))
        made.process = made.start("up", *options, stdout=log, stderr=log)
    ready = sum(sizes.values()) + 1
    eventually(lambda: made.log.read_text().count(" ready.") >= ready, within=60)
    line_of(made.log, "flower", "Visit me at")
    yield made
    made.process.terminate()
    made.process.wait(30)


def test_a_review_uses_the_running_stack(stack: Stack) -> None:
    before = {process.pid for process in stack.processes()}

    done = stack.reviewed()

    assert done.returncode == 1
    assert "starting one for this job" not in done.stderr
    assert {process.pid for process in stack.processes()} == before


@pytest.mark.parametrize(
    ("options", "code", "found"),
    [
        (["--lens", "security"], 1, ["sql-injection"]),
        (["--lens", "logic"], 0, ["mutable-default"]),
        (["--lens", "logic", "--fail-on", "warning"], 1, ["mutable-default"]),
        (["--lens", "security,logic", "--fail-on", "never"], 0, BOTH),
        (["--lens", "logic", "--min-confidence", "96", "--fail-on", "info"], 0, []),
    ],
)
def test_lenses_and_thresholds_decide_the_report_and_the_exit_code(
    stack: Stack, options: list[str], code: int, found: list[str]
) -> None:
    done = stack.reviewed("--format", "json", *options)

    assert done.returncode == code
    assert [f["category"] for f in json.loads(done.stdout)["findings"]] == found


def test_a_diff_from_a_pipe_and_from_a_file_give_the_same_findings(stack: Stack) -> None:
    diff = subprocess.run(
        ["git", "diff", "main"], cwd=stack.folder, check=True, capture_output=True, text=True
    ).stdout
    (stack.temporary / "change.diff").write_text(diff)
    common = ("--lens", "security", "--format", "json")

    piped = stack.run("review", "--diff", "-", *common, input=diff)
    read = stack.run("review", "--diff", str(stack.temporary / "change.diff"), *common)

    findings = [json.loads(done.stdout)["findings"] for done in (piped, read)]
    assert findings[0] == findings[1]
    assert [f["category"] for f in findings[0]] == ["sql-injection"]


def test_a_report_is_given_in_every_format(stack: Stack) -> None:
    job = stack.job()

    done = {form: stack.run("report", job, "--format", form) for form in FORMATS}

    assert {d.returncode for d in done.values()} == {0}
    assert {d.stderr for d in done.values()} == {""}
    assert "critical  The SQL text" in done["text"].stdout
    assert "**critical**, line 6: The SQL text" in done["markdown"].stdout
    assert json.loads(done["json"].stdout)["job"] == job
    assert json.loads(done["sarif"].stdout)["version"] == "2.1.0"
    [found] = json.loads(done["rdjson"].stdout)["diagnostics"]
    assert found["location"]["path"] == "accounts.py"


def test_a_submitted_job_is_listed_shown_and_watched_to_its_end(stack: Stack) -> None:
    request = ("--request", "Look for bugs.", "--input", "accounts.py")
    job = stack.run("submit", "code_review", *request).stdout.strip()

    watched = stack.run("watch", job)
    listed = stack.run("jobs").stdout.splitlines()
    shown = stack.run("show", job).stdout

    assert re.fullmatch(r"[0-9a-f]{12}", job)
    assert (watched.returncode, watched.stdout) == (0, f"{job} done\n")
    assert "delivered: complete" in watched.stderr
    assert re.search(rf"{job}  code_review  done .*Look for bugs\.$", "\n".join(listed), re.M)
    assert re.search(r"^security +succeeded +1 +security ", shown, re.M)
    assert "request: Look for bugs." in shown


def test_submitting_can_wait_for_the_report(stack: Stack) -> None:
    request = ("--request", "Look for bugs.", "--input", "accounts.py")

    done = stack.run("submit", "code_review", *request, "--wait")

    assert done.returncode == 0
    assert "The SQL text is put together from values" in done.stdout


def test_the_same_key_gives_the_same_job(stack: Stack) -> None:
    request = ("--request", "Look for bugs.", "--input", "accounts.py", "--key", "once")

    first, second = (stack.run("submit", "code_review", *request).stdout for _ in range(2))

    assert first == second != ""


def test_a_cancelled_job_reports_what_is_missing_with_exit_code_3(stack: Stack) -> None:
    job = stack.waiting_job()
    early = stack.run("report", job)

    cancelled = stack.run("cancel", job)

    watched, reported = stack.run("watch", job), stack.run("report", job)
    assert (early.returncode, early.stdout, early.stderr.count("\n")) == (2, "", 1)
    assert f"wait for it with `chargehand watch {job}`" in early.stderr
    assert cancelled.returncode == 0
    assert (watched.returncode, watched.stdout) == (3, f"{job} cancelled (partial)\n")
    assert reported.returncode == 3
    assert "stopped: cancelled" in reported.stdout


@pytest.mark.parametrize("command", ["show", "watch", "trace", "report", "cancel"])
def test_an_unknown_job_is_one_line(stack: Stack, command: str) -> None:
    done = stack.run(command, "nosuchjob")

    told = "chargehand: no job 'nosuchjob'; `chargehand jobs` lists the known ones\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_an_unknown_team_is_one_line_with_the_known_ones(stack: Stack) -> None:
    done = stack.run("submit", "nosuch", "--request", "Do it.")

    told = "chargehand: no team 'nosuch'; known are: brief, code_review\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_a_trace_tells_all_that_happened_in_order(stack: Stack) -> None:
    rows = json.loads(stack.run("trace", stack.job()).stdout)

    told = [row["event"] for row in rows if row["event"] not in ("began", "tool")]
    tools = [row for row in rows if row["event"] == "tool"]
    assert told == [
        "submitted", "planned", "dispatched", "started", "outcome", "joined", "delivered",
    ]  # fmt: skip
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    assert {"bandit", "secrets"} <= {row["tool"] for row in tools}
    assert all(row["pod"] and row["seconds"] >= 0 for row in tools)


def test_a_trace_opens_as_a_timeline_with_tool_calls_inside_their_steps(stack: Stack) -> None:
    timeline = json.loads(stack.run("trace", stack.job(), "--format", "chrome").stdout)

    slices = [e for e in timeline["traceEvents"] if e["ph"] == "X"]
    [step] = [e for e in slices if e["cat"] == "outcome"]
    tools = [e for e in slices if e["cat"] == "tool"]
    named = {e["args"]["name"] for e in timeline["traceEvents"] if e["ph"] == "M"}
    assert {"supervisor", "security", step["args"]["pod"]} <= named
    assert tools
    for call in tools:
        assert (call["pid"], call["tid"]) == (step["pid"], step["tid"])
        assert step["ts"] <= call["ts"]
        assert call["ts"] + call["dur"] <= step["ts"] + step["dur"]


def test_flower_shows_each_task_with_its_label_on_the_worker_of_its_queue(stack: Stack) -> None:
    job = stack.job()

    def shown() -> dict[str, Any]:
        tasks = stack.ask_flower("/api/tasks?taskname=chargehand.work")
        assert f"{job}.security.1" in tasks, list(tasks)
        task: dict[str, Any] = tasks[f"{job}.security.1"]
        assert task["state"] == "SUCCESS"
        return task

    task = eventually(shown, within=20)
    assert (task["name"], task["args"]) == ("chargehand.work", "")
    assert f"job={job} step=security try=1" in task["kwargs"]
    queues = stack.ask_flower(f"/api/workers?refresh=1&workername={task['worker']}")
    assert [q["name"] for q in queues[task["worker"]]["active_queues"]] == ["security"]


def test_each_pool_has_the_number_of_processes_that_was_asked_for(stack: Stack) -> None:
    sizes = [len(stack.workers(pool)) for pool in ("security", "style", *IDLE)]

    assert sizes == [2, 1, 0, 0, 0]


def test_on_a_terminal_progress_is_a_live_table(stack: Stack) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))

    with stack.start("review", "accounts.py", stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = _read_terminal(ours)

    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.rpartition("\x1b[2K")[2])
    assert process.returncode == 1
    assert re.search(r"^job [0-9a-f]{12}: delivered: complete\r?$", last, re.M)
    assert re.search(r"^security +· +· +1 +[0-9]+ *\r?$", last, re.M)
    assert "started by" not in shown


def _read_terminal(descriptor: int) -> str:
    """Return all that is written to a terminal until the last writer closes it."""
    parts = []
    with open(descriptor, "rb", buffering=0) as terminal, suppress(OSError):
        while part := terminal.read(4096):
            parts.append(part)
    return b"".join(parts).decode()


def test_a_second_stack_is_refused_in_one_line(stack: Stack) -> None:
    done = stack.run("up", "--flower-port", str(port.free()))

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert f"a stack is running already (pid {stack.process.pid})" in done.stderr


@pytest.mark.parametrize("command", [["up", "--flower-port"], ["flower", "--port"]])
def test_a_port_in_use_is_one_line(stack: Stack, tmp_path: Path, command: list[str]) -> None:
    done = User(tmp_path).run(*command, str(stack.flower))

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert f"port {stack.flower} is in use; choose another with {command[1]}" in done.stderr


def test_a_killed_worker_is_started_again_and_works(stack: Stack) -> None:
    [killed] = stack.workers("style")

    killed.kill()

    line_of(stack.log, "style was killed by SIGKILL", "starting it again")
    eventually(lambda: stack.workers("style") not in ([], [killed]), within=20)
    assert stack.reviewed("--lens", "style", "--fail-on", "never").returncode == 0
