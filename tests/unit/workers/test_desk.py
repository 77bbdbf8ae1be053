import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from common.contracts import Document, Slice, Span, fingerprint
from tests.eventually import eventually
from tests.unit.samples import assignment, document
from workers import desk as desks
from workers.desk import Desk, OutOfTime, Stopped, ToolError, ToolMissing, laid_out

CODE = document("a.py", 4, text="one\ntwo\n\n  three = 3\n")


def span(start: int, end: int | None = None) -> Span:
    return Span(start=start, end=end or start)


@pytest.fixture
def desk() -> Iterator[Desk]:
    with laid_out(assignment(documents=[CODE]), lambda: False) as made:
        yield made


def python(desk: Desk, code: str, *args: str, stdin: str = "") -> tuple[int, str, str]:
    return desk.program([sys.executable, "-c", code, *args], stdin=stdin)


def test_the_scratch_folder_goes_with_the_desk() -> None:
    with laid_out(assignment(), lambda: False) as desk:
        folder = desk.scratch
        desk.write(document("deep/er/a.py"))
        there = folder.is_dir()

    assert there
    assert not folder.exists()


def test_the_scratch_folder_goes_with_the_desk_when_a_tool_breaks() -> None:
    folders: list[Path] = []

    def broken() -> None:
        with laid_out(assignment(), lambda: False) as desk:
            folders.append(desk.scratch)
            raise KeyError

    with pytest.raises(KeyError):
        broken()

    assert [folder.exists() for folder in folders] == [False]


def test_two_desks_share_no_folder(desk: Desk) -> None:
    with laid_out(assignment(), lambda: False) as other:
        assert other.scratch != desk.scratch


def test_a_document_is_written_as_it_is_below_the_scratch_folder(desk: Desk) -> None:
    path = desk.write(document("deep/er/a.py", text="x = 'é'\r\n"))

    assert path == desk.scratch / "deep" / "er" / "a.py"
    assert path.read_bytes() == "x = 'é'\r\n".encode()


@pytest.mark.parametrize("path", ["../x.py", "{outside}/x.py", "a/../../x.py"])
def test_a_path_that_got_past_the_contract_cannot_leave_the_scratch_folder(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fields = CODE.model_dump() | {"path": path.format(outside=tmp_path)}
    forged = Document.model_construct(**fields)

    with pytest.raises(ToolError, match="leaves the scratch folder"):
        desk.write(forged)

    assert list(tmp_path.iterdir()) == [desk.scratch]


def test_a_link_in_the_scratch_folder_is_no_way_out(desk: Desk, tmp_path: Path) -> None:
    (desk.scratch / "link").symlink_to(tmp_path)

    with pytest.raises(ToolError, match="leaves the scratch folder"):
        desk.write(document("link/x.py"))

    assert list(tmp_path.iterdir()) == []


def test_a_program_runs_in_the_scratch_folder_and_tells_its_end(desk: Desk) -> None:
    code = "import os,sys; print(os.getcwd()); print(sys.stdin.read(), file=sys.stderr); exit(3)"

    returned, out, err = python(desk, code, stdin="given")

    assert (returned, out, err) == (3, f"{desk.scratch}\n", "given\n")


def test_a_program_gets_no_shell(desk: Desk) -> None:
    argument = "; touch hacked $(touch hacked) `touch hacked` && touch hacked"

    _, out, _ = python(desk, "import sys; print(sys.argv[1])", argument)

    assert out == argument + "\n"
    assert list(desk.scratch.iterdir()) == []


def test_a_program_sees_a_clean_environment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "CHARGEHAND_REDIS_URL",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "PYTHONPATH",
    ):
        monkeypatch.setenv(name, "secret")

    _, out, _ = python(desk, "import json, os; print(json.dumps(dict(os.environ)))")

    seen = json.loads(out)
    allowed = {*desks.PROGRAM_ENVIRONMENT, "HOME", "PYTHONUTF8", "LC_CTYPE"}
    assert set(seen) <= allowed
    assert seen["HOME"] == str(desk.scratch)
    assert seen["PATH"] == os.environ["PATH"]
    assert "secret" not in out


def test_what_a_program_says_is_cut_at_a_limit(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks, "OUTPUT_LIMIT", 10)

    _, out, err = python(desk, "import sys; print('o' * 99); print('e' * 99, file=sys.stderr)")

    assert (out, err) == ("o" * 10, "e" * 10)


def test_output_that_is_not_utf_8_is_still_told(desk: Desk) -> None:
    _, out, _ = python(desk, r"import sys; sys.stdout.buffer.write(b'a\xffb')")

    assert out == "a\ufffdb"


def test_a_program_that_is_not_there_is_a_missing_tool(desk: Desk) -> None:
    with pytest.raises(ToolMissing) as missing:
        desk.program(["no-such-program", "--version"])

    assert "program 'no-such-program' cannot be run: No such file" in str(missing.value)
    assert "install it on this pod" in str(missing.value)


def test_a_program_that_may_not_be_run_is_a_missing_tool(desk: Desk) -> None:
    desk.write(document("tool", text="#!/bin/sh\n"))

    with pytest.raises(ToolMissing, match="Permission denied"):
        desk.program([str(desk.scratch / "tool")])


FAMILY = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("pids.tmp").write_text(f"{child.pid}")
pathlib.Path("pids.tmp").rename("pids")
time.sleep(600)
"""


def ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_program_is_ended_with_its_children_when_the_time_is_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = desk.scratch / "pids"
    children: list[int] = []

    def clock() -> float:
        """Runs as ever until the program's child runs; then the time is up."""
        if not pids.exists():
            return time.monotonic()
        children[:] = [int(pids.read_text())]
        return desk.ends

    monkeypatch.setattr(desks, "time", SimpleNamespace(monotonic=clock))

    with pytest.raises(OutOfTime, match="the step's 120 s are used up"):
        python(desk, FAMILY)

    assert len(children) == 1
    eventually(lambda: ended(children[0]))


def test_a_program_is_ended_with_its_children_when_the_job_is_cancelled() -> None:
    children: list[int] = []

    def cancelled() -> bool:
        pids = desk.scratch / "pids"
        children[:] = [int(pids.read_text())] if pids.exists() else []
        return bool(children)

    with laid_out(assignment(), cancelled) as desk:
        with pytest.raises(Stopped, match="the job was cancelled"):
            python(desk, FAMILY)

        assert len(children) == 1
        eventually(lambda: ended(children[0]))


def test_a_step_has_no_more_time_than_its_job() -> None:
    with laid_out(assignment(), lambda: False, 0.0) as desk, pytest.raises(OutOfTime):
        desk.left()


def test_a_program_is_not_begun_for_long_when_the_job_was_cancelled_before() -> None:
    with laid_out(assignment(), lambda: True) as desk, pytest.raises(Stopped):
        python(desk, "import time; time.sleep(600)")


def test_subjects_are_the_documents_to_look_at_by_language() -> None:
    several = [
        document("a.py"),
        document("b.js", language="javascript"),
        document("G.md", role="guideline"),
    ]

    with laid_out(assignment(documents=several), lambda: False) as desk:
        assert [d.path for d in desk.subjects()] == ["a.py", "b.js"]
        assert [d.path for d in desk.subjects("javascript", "go")] == ["b.js"]


@pytest.mark.parametrize(
    ("slices", "changed", "where", "counts"),
    [
        ([], None, span(1), True),
        ([Slice(path="a.py")], None, span(9), True),
        ([Slice(path="a.py", span=span(1, 5))], None, span(5, 9), True),
        ([Slice(path="a.py", span=span(1, 5))], None, span(6, 9), False),
        ([Slice(path="b.py", span=span(1, 5))], None, span(6, 9), True),
        ([Slice(path="a.py")], [span(3), span(8, 9)], span(4, 7), False),
        ([Slice(path="a.py")], [span(3), span(8, 9)], span(4, 8), True),
        ([Slice(path="a.py", span=span(1, 5))], [span(8, 9)], span(4, 8), True),
        ([Slice(path="a.py")], [], span(1, 99), False),
    ],
)
def test_a_span_counts_on_changed_lines_of_the_steps_own_part(
    slices: list[Slice], changed: list[Span] | None, where: Span, counts: bool
) -> None:
    one = document("a.py", 10, changed=changed)

    with laid_out(assignment(documents=[one], slices=slices), lambda: False) as desk:
        assert desk.counts(one, where) is counts


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (4, None, span(4)),
        (1, 3, span(1, 3)),
        (0, None, span(1)),
        (3, 99, span(3, 4)),
        (99, 1, span(4)),
    ],
)
def test_a_finding_lies_inside_its_document(
    desk: Desk, start: int, end: int | None, expected: Span
) -> None:
    found = desk.finding(
        CODE,
        start,
        end,
        rule="ruff:E1",
        category="naming",
        severity="info",
        message="Odd.",
        confidence=50,
    )

    assert found is not None
    assert (found.span, found.specialist, found.path) == (expected, "security", "a.py")


def test_a_finding_keeps_its_fingerprint_when_its_line_moves(desk: Desk) -> None:
    moved = CODE.model_copy(update={"text": "new\nlines\n\n\n" + "\tthree  =  3\n"})

    prints = [
        found.fingerprint
        for where, line in ((CODE, 4), (moved, 5))
        if (
            found := desk.finding(
                where,
                line,
                rule="ruff:E1",
                category="naming",
                severity="info",
                message="Odd.",
                confidence=50,
            )
        )
    ]

    assert prints == [fingerprint("a.py", "naming", "three = 3")] * 2


def test_a_finding_on_lines_that_did_not_change_is_none(desk: Desk) -> None:
    untouched = CODE.model_copy(update={"changed": (span(1),)})

    found = desk.finding(
        untouched, 4, rule="r", category="naming", severity="info", message="m", confidence=1
    )

    assert found is None
