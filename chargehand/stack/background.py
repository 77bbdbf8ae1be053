"""Supervise in a thread while the caller works; a failure there reaches the caller at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chargehand.stack.signals import STOPS, handling, held
from chargehand.stack.supervise import SLICE, Supervision

SETTLE = 0.3
"""Seconds from an error of the caller until a child's death that caused it must have shown."""


@contextmanager
def supervised(supervision: Supervision) -> Iterator[None]:
    """Keep the children running during the context, then stop them.

    A child that is given up ends what the main thread is doing with a LocalStackError: whoever
    waits for a job must not wait for one that no process works on any more. It comes as a signal,
    and Python handles a signal between two steps: so wait in slices, not in one call without end.
    """
    failures: list[Exception] = []
    working = True

    def raise_failure(_signal: int) -> None:
        if failures and working:
            raise failures[0]

    with handling(signal.SIGUSR1, do=raise_failure) as handled:
        stopped = threading.Event()
        thread = threading.Thread(target=_run, args=(supervision, failures, handled, stopped))
        try:
            with held(*STOPS):
                thread.start()
            yield
        except BaseException as error:
            working = False
            if isinstance(error, Exception):
                # It may come of a child that is just dying: then that is what to tell.
                stopped.wait(SETTLE)
            _finish(supervision, stopped)
            if failures and error is not failures[0]:
                raise failures[0] from error
            raise
        working = False
        _finish(supervision, stopped)


def _run(
    supervision: Supervision,
    failures: list[Exception],
    handled: bool,
    stopped: threading.Event,
) -> None:
    try:
        with supervision:
            supervision.run()
    except Exception as error:  # This thread's edge: the main thread raises it.
        failures.append(error)
        if handled:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
    finally:
        stopped.set()


def _finish(supervision: Supervision, stopped: threading.Event) -> None:
    """Stop all children and wait for it; who cannot wait (a second Ctrl-C) has them killed."""
    supervision.request_stop()
    while not stopped.is_set():
        try:
            # Not a join of the thread: CPython 3.11 takes a thread for ended when Ctrl-C
            # interrupts its join.
            stopped.wait(SLICE)
        except (KeyboardInterrupt, SystemExit):
            supervision.request_stop()
