"""Worker pods for the measurements: ours, with tools that do nothing or only wait."""

import time

from common.contracts import Result
from workers.app import app
from workers.desk import Desk
from workers.tools import tool

__all__ = ["app"]
WAIT = 0.2
SLOW = 2.0


@tool("noop", "Does nothing.")
def noop(_desk: Desk) -> Result:
    return Result()


@tool("wait", "Waits for a fifth of a second.")
def wait(_desk: Desk) -> Result:
    time.sleep(WAIT)
    return Result()


@tool("slow", "Waits for two seconds.")
def slow(_desk: Desk) -> Result:
    time.sleep(SLOW)
    return Result()
