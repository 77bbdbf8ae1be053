"""The `chargehand` command.

Exit codes: 0 all is well, 1 findings at or above `--fail-on`, 2 wrong usage or input, 3 the job
failed or came back partial, or the stack could not be reached.
"""

import sys

import typer

from chargehand.cli import jobs, processes, review
from common.errors import ChargehandError, InputError, UnknownJob

app = typer.Typer(
    name="chargehand",
    help="Agent teams on the Celery you already run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (review, jobs, processes):
    module.add_to(app)


def main() -> None:
    """Run the command; an error that a user can meet is one line and an exit code."""
    try:
        app()
    except (InputError, UnknownJob) as error:
        _end(error, 2)
    except ChargehandError as error:
        _end(error, 3)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody left to tell.
        sys.stderr.close()
        sys.exit(141)


def _end(error: ChargehandError, code: int) -> None:
    sys.stderr.write(f"chargehand: {' '.join(str(error).split())}\n")
    sys.exit(code)
