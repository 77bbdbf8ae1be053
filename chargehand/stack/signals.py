"""Signals of this process, handled for a while."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def handling(*signals: signal.Signals, do: Callable[[int], None]) -> Iterator[bool]:
    """Call `do` in the main thread on these signals; gives False outside the main thread.

    A signal that is ignored stays ignored, as `nohup` wants it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield False
        return

    def handle(number: int, _frame: FrameType | None) -> None:
        do(number)

    wanted = [s for s in signals if signal.getsignal(s) is not signal.SIG_IGN]
    before = {s: signal.signal(s, handle) for s in wanted}
    try:
        yield True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def held(*signals: signal.Signals) -> Iterator[None]:
    """Keep these signals back during the context, then let them through.

    Python raises KeyboardInterrupt between any two steps; what must be whole is done in here.
    """
    pending: list[int] = []
    with handling(*signals, do=pending.append):
        yield
    for number in pending:
        signal.raise_signal(number)
