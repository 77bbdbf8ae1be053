"""Wait for a state, never for a duration."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(check: Callable[[], T], *, within: float = 10.0, every: float = 0.05) -> T:
    """Return what `check` returns once that is true; its failure shows the last state seen.

    A check that raises AssertionError is a check that is not true yet.
    """
    deadline = time.monotonic() + within
    while True:
        try:
            seen: object = (state := check())
            if state:
                return state
        except AssertionError as error:
            seen = error
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {within:g} s; last seen: {seen!r}")
        time.sleep(every)
