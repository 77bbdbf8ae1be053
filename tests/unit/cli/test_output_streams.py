import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.text import Text

from chargehand.cli import output
from common.errors import ChargehandError


@contextmanager
def abandoned(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have a pipe that nobody reads any more in place of a stream, and close it at the end."""
    reader, writer = os.pipe()
    os.close(reader)
    with monkeypatch.context() as patch, os.fdopen(writer, "w") as stream:
        patch.setattr(sys, name, stream)
        yield


def test_a_reader_that_has_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with abandoned("stdout", monkeypatch):
        output.put("a line\n")
        output.put("another line\n")


def test_nobody_is_told_of_progress_when_the_reader_has_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with abandoned("stderr", monkeypatch):
        told = output.Told()
        told.print("a line")
        told.print("another line")


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch, Path("/dev/full").open("w") as full:
        patch.setattr(sys, "stdout", full)

        with pytest.raises(ChargehandError, match="cannot be written: No space left"):
            output.put("a line\n")


def test_a_colour_wish_does_not_make_a_log_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")

    assert not output.Told().is_interactive


def test_a_table_takes_any_text_for_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    rows = output.table("name", "about")
    output.add_row(rows, "[/red]", "\x1b[2Jgone\nhere")

    output.put_table(output.line("[bold]"), rows)

    assert capsys.readouterr().out == "[bold]\nname    about\n[/red]  \\x1b[2Jgone here\n"


def test_in_a_narrow_table_only_the_last_column_gives_way(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "WIDE", 40)
    rows = output.table("id", "request")
    output.add_row(rows, "0123456789ab", "word " * 40)

    output.put_table(rows)

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("0123456789ab  word word")
    assert lines[1].endswith("…")
    assert Text(lines[1]).cell_len == 40
