"""Commands that look at what goes on, why it does, and what would be with more of it."""

import select
import sys
import termios
import textwrap
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live

from chargehand import explain as story
from chargehand import top as view
from chargehand.cli import reach, simulating
from chargehand.cli.jobs import Id
from chargehand.cli.output import WIDE, put, put_table
from chargehand.client import PATIENCE
from chargehand.explain import Told
from chargehand.formats import safe
from chargehand.stack import local
from common.errors import StoreUnavailable
from common.store.snapshot import Snapshot, Snapshots

INTERVAL = 1.0
PRINTED = 100
"""The columns of a screen that no terminal shows."""


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (top, explain, simulating.simulate):
        app.command()(command)


def top(
    once: Annotated[bool, typer.Option("--once", help="Print it once, and end.")] = False,
) -> None:
    """Show queues, pods, breakers and jobs as they are now; q or Ctrl-C ends it."""
    reach.client()
    reader = Snapshots.open(PATIENCE, local.require())
    if once or not sys.stdout.isatty():
        _print_once(reader)
        return
    with suppress(KeyboardInterrupt):
        _watch(reader)


def _print_once(reader: Snapshots) -> None:
    before = reader.read()
    # Rates need two looks.
    time.sleep(INTERVAL)
    now = reader.read()
    width = Console().width if sys.stdout.isatty() else PRINTED
    put_table(view.screen(now, view.rates(before, now), width))


def _watch(reader: Snapshots) -> None:
    console = Console(highlight=False)
    before = now = reader.read()
    note = ""
    with _keys(), Live(console=console, screen=True, auto_refresh=False) as shown:
        while True:
            seen = view.rates(before, now)
            shown.update(view.screen(now, seen, console.width, console.height, note), refresh=True)
            if _pressed(INTERVAL) in ("q", "Q"):
                return
            before, now, note = now, *_next(reader, now)


def _next(reader: Snapshots, last: Snapshot) -> tuple[Snapshot, str]:
    """Return the next snapshot, or the last one and why there is no other."""
    try:
        return reader.read(), ""
    except StoreUnavailable as error:
        return last, str(error)


@contextmanager
def _keys() -> Iterator[None]:
    """Have single keys come in at once, and unseen, for the time of the context."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _pressed(within: float) -> str:
    """Return the key that is pressed within so many seconds, or nothing."""
    if not sys.stdin.isatty():
        time.sleep(within)
        return ""
    ready, _, _ = select.select([sys.stdin], [], [], within)
    return sys.stdin.read(1) if ready else ""


def explain(
    job: Id, step: Annotated[str, typer.Argument(metavar="STEP", help="The step's id.")]
) -> None:
    """Say why a step went where it did."""
    client = reach.client()
    record, events = client.get(job), client.trace(job)
    told = story.explain(record, step, client.steps(job).get(step), events)
    width = Console().width if sys.stdout.isatty() else WIDE
    put("".join(f"{_wrapped(each, width)}\n" for each in told))


def _wrapped(told: Told, width: int) -> str:
    """Return a sentence behind its time; what does not fit stands on lines below it."""
    at = "" if told.at is None else f"{told.at:9.2f} s  "
    below = " " * (len(at) or 2)
    text = safe.line(told.text)
    return textwrap.fill(text, max(width, 40), initial_indent=at, subsequent_indent=below)
