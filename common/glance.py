"""A question to Redis whose asker cannot wait: it is answered soon, or not at all."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import Generic, TypeVar

from common.errors import ChargehandError

SOON = 0.7
"""Seconds that an asker waits at the most."""
FRESH = 1.0
"""Seconds for which an answer is given again."""
SOCKET_SECONDS = 0.5
"""Seconds after which a connection that is used for such questions counts as broken."""

Answer = TypeVar("Answer")


class Glance(Generic[Answer]):
    """Puts a question, one at a time, in a thread of its own: looking up a host cannot be ended."""

    def __init__(self, question: Callable[[], Answer]) -> None:
        self._question = question
        self._lock = threading.Lock()
        self._asked = float("-inf")
        self._answer: Future[Answer] | None = None

    def get(self) -> Answer | None:
        """Return an answer that is at most a second old; None when there is none in time."""
        try:
            return self._current().result(timeout=SOON)
        except (Late, ChargehandError):
            return None

    def _current(self) -> "Future[Answer]":
        with self._lock:
            stale = time.monotonic() - self._asked > FRESH
            if self._answer is None or (stale and self._answer.done()):
                self._asked = time.monotonic()
                self._answer = Future()
                asking = threading.Thread(target=self._ask, args=(self._answer,), daemon=True)
                asking.start()
            return self._answer

    def _ask(self, answer: "Future[Answer]") -> None:
        try:
            answer.set_result(self._question())
        except BaseException as error:
            # The edge of the thread: whoever waits gets it.
            answer.set_exception(error)
