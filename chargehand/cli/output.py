"""What a command prints: its answer alone on standard output, all else on standard error."""

import io
import os
import shutil
import sys
from typing import Annotated, Literal, TextIO

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from chargehand import formats
from chargehand.formats import as_text, safe
from common.contracts import Report
from common.errors import ChargehandError

Format = Annotated[
    Literal["text", "json", "markdown", "sarif", "rdjson"], typer.Option(help="How to print it.")
]
WIDE = 160
"""The columns of a table that no terminal shows."""


def write(form: str, report: Report) -> None:
    """Print a report in this form; in colour on a terminal."""
    if form == "text" and sys.stdout.isatty():
        put(as_text.render(report, colour=True, width=_columns()))
    else:
        put(formats.render(form, report))


def put(text: str) -> None:
    """Print a text as it is; a reader that has gone (`| head -1`) is no error."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise ChargehandError(f"standard output cannot be written: {error.strerror}") from None


def put_table(*parts: RenderableType) -> None:
    """Print tables and lines, as wide as the terminal is."""
    shown = io.StringIO()
    terminal = sys.stdout.isatty()
    width = _columns() if terminal else WIDE
    console = Console(file=shown, width=width, force_terminal=terminal, highlight=False)
    for part in parts:
        console.print(part)
    put("".join(f"{line.rstrip()}\n" for line in shown.getvalue().splitlines()))


def table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table; where space is short, its last column gives way."""
    head = None if title is None else line(title)
    made = Table(title=head, title_justify="left", box=None, pad_edge=False)
    for name in columns:
        made.add_column(name, no_wrap=name != columns[-1])
    return made


def add_row(made: Table, *cells: str) -> None:
    """Add a row of one line."""
    texts = [line(cell) for cell in cells]
    for text in texts:
        text.no_wrap, text.overflow = True, "ellipsis"
    made.add_row(*texts)


def line(text: str) -> Text:
    """Return a text for a terminal on one line, whatever brackets or controls it holds."""
    return Text(safe.line(text))


class Told(Console):
    """Standard error, where a person is told how things go."""

    def __init__(self) -> None:
        # FORCE_COLOR makes rich take a log for a terminal; a live display is for real ones.
        live = None if sys.stderr.isatty() else False
        super().__init__(stderr=True, highlight=False, force_interactive=live)

    def on_broken_pipe(self) -> None:
        """Tell nobody any more: rich would end the command with another exit code."""
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Send what is still to come nowhere: Python flushes the stream once more at its exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _columns() -> int:
    return shutil.get_terminal_size().columns
