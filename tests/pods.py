"""A worker app with tools that behave as a test wants: `celery -A tests.pods worker`."""

import os
import time
from pathlib import Path

from common.contracts import Result
from workers.app import app
from workers.desk import Desk, ToolError
from workers.tools import tool

__all__ = ["app"]


def _done(desk: Desk) -> Result:
    """Tell what this step was given, so that a test can see it in the report."""
    given = [f"{u.step}={u.lost or (u.result and u.result.text)}" for u in desk.assignment.upstream]
    return Result(text=f"{desk.assignment.step}({', '.join(given)})")


@tool("succeed", "Gives a result at once.")
def succeed(desk: Desk) -> Result:
    return _done(desk)


@tool("wait", "Gives a result after a while, unless it is stopped.")
def wait(desk: Desk) -> Result:
    desk.program(["sleep", "0.3"])
    return _done(desk)


@tool("linger", "Takes longer than any test waits, unless it is stopped.")
def linger(desk: Desk) -> Result:
    desk.program(["sleep", "60"])
    return _done(desk)


@tool("gate", "Waits for a file named like the job's request, then gives a result.")
def gate(desk: Desk) -> Result:
    while not Path(desk.assignment.context).exists():
        desk.left()
        time.sleep(0.02)
    return _done(desk)


@tool("flaky", "Fails at the first two tries in a way that may pass.")
def flaky(desk: Desk) -> Result:
    if desk.assignment.attempt < 3:
        raise ToolError("not yet", transient=True)
    return _done(desk)


@tool("broken", "Fails for good.")
def broken(_desk: Desk) -> Result:
    raise ToolError("it is broken")


@tool("raise", "Raises what no tool should.")
def raises(_desk: Desk) -> Result:
    raise ZeroDivisionError("a fault in the tool")


@tool("die", "Takes its whole pod down.")
def die(_desk: Desk) -> Result:
    os._exit(1)


@tool("measure", "Tells how long the documents are.")
def measure(desk: Desk) -> Result:
    return Result(text=" ".join(f"{d.path}={len(d.text or '')}" for d in desk.subjects()))
