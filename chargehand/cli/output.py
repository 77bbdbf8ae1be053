"""Print a report on standard output, which holds nothing else."""

import shutil
import sys
from typing import Annotated, Literal

import typer

from chargehand import formats
from chargehand.formats import as_text
from common.contracts import Report

Format = Annotated[
    Literal["text", "json", "markdown", "sarif", "rdjson"], typer.Option(help="How to print it.")
]


def write(form: str, report: Report) -> None:
    """Print a report in this form; in colour on a terminal."""
    if form == "text" and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        sys.stdout.write(as_text.render(report, colour=True, width=width))
    else:
        sys.stdout.write(formats.render(form, report))
