"""The `chargehand` command.

Exit codes: 0 all is well, 1 findings at or above `--fail-on`, 2 wrong usage or input, 3 the job
failed or came back partial, or the stack could not be reached, 130 stopped by Ctrl-C.
"""

import logging
import os
import sys
from pathlib import Path
from typing import NoReturn

import typer

from chargehand.cli import jobs, processes, review, watching
from chargehand.formats import safe
from common.errors import ChargehandError, InputError, UnknownJob

app = typer.Typer(
    name="chargehand",
    help="Agent teams on the Celery you already run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (review, jobs, watching, processes):
    module.add_to(app)


def main() -> None:
    """Run the command; an error that a user can meet is one line and an exit code."""
    _open_streams()
    # A command tells its user itself what went wrong; the processes set up a log of their own.
    logging.lastResort = None
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], "chargehand", standalone_mode=False))
    except typer.TyperException as error:
        # The words of pydantic, which checks the options, lead with its own kind of error.
        _end(error.format_message().replace("Value error, ", ""), error.exit_code)
    except (InputError, UnknownJob) as error:
        _end(str(error), 2)
    except ChargehandError as error:
        _end(str(error), 3)
    except KeyboardInterrupt:
        sys.exit(130)


def _open_streams() -> None:
    """Give a process that was started with closed streams (`>&-`) an empty one in their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - it stays open
            setattr(sys, name, stream)


def _end(told: str, code: int) -> NoReturn:
    sys.stderr.write(f"chargehand: {safe.line(told)}\n")
    sys.exit(code)
