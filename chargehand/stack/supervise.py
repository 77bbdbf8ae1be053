"""Keep children running: start again what dies, and stop all of them in order."""

import time
from collections.abc import Collection
from itertools import groupby
from math import inf
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Self

from chargehand.stack.command import Command
from chargehand.stack.log import MergedLog
from chargehand.stack.process import Child, last_lines
from chargehand.stack.restart import Streak
from common.errors import LocalStackError

KILL_LIMIT = 5.0
"""Seconds that a killed process may take to vanish."""
SLICE = 1.0
"""The longest wait in one call: Python handles a signal that came just before it only after it."""


class Supervision:
    """The children of one local stack; leaving the context stops all of them.

    Events (a child ended; a stop was asked for) come through one queue into the thread in `run`.
    """

    def __init__(self, log: MergedLog, *, give_up_after: int | None = None) -> None:
        self._log = log
        self._give_up_after = give_up_after
        self._events: SimpleQueue[Child | None] = SimpleQueue()
        self._running: set[Child] = set()
        self._due: dict[str, tuple[float, Command]] = {}
        self._streaks: dict[str, Streak] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def add(self, command: Command) -> None:
        """Let `run` start a command and keep it running."""
        self._due[command.name] = (time.monotonic(), command)

    def keep(self, child: Child) -> None:
        """Keep a child running that was started before."""
        self._running.add(child)
        Thread(target=self._announce, args=(child,), daemon=True).start()

    def request_stop(self) -> None:
        """Ask for a stop, from any thread or signal handler; the second time kills at once."""
        self._events.put(None)

    def run(self) -> None:
        """Start what was added and keep it running until a stop is asked for.

        Raises LocalStackError if a child died `give_up_after` times in a row.
        """
        while (child := self._next()) is not None:
            self._bury(child)

    def _announce(self, child: Child) -> None:
        child.wait()
        self._events.put(child)

    def _next(self) -> Child | None:
        """Return the next event; what is due is started meanwhile."""
        while True:
            try:
                return self._event(until=min((due for due, _ in self._due.values()), default=inf))
            except Empty:
                self._start_due()

    def _event(self, until: float) -> Child | None:
        """Return the next event, or raise Empty when the time is over."""
        while True:
            left = max(0.0, until - time.monotonic())
            try:
                return self._events.get(timeout=min(left, SLICE))
            except Empty:
                if left <= SLICE:
                    raise

    def _start_due(self) -> None:
        now = time.monotonic()
        for command in [command for due, command in self._due.values() if due <= now]:
            del self._due[command.name]
            self.keep(Child(command, self._log))

    def _bury(self, child: Child) -> None:
        """Plan the next start of a child that died, or give up."""
        name, lived = child.command.name, child.lived
        self._forget(child)
        streak = self._streaks.get(name, Streak()).after(lived)
        self._streaks[name] = streak
        said = f"{name} {child.ending()} after {lived:.1f} s"
        if self._give_up_after is not None and streak.deaths >= self._give_up_after:
            raise LocalStackError(f"{said}; its last lines:{last_lines(child.tail)}")
        if streak.worth_saying:
            said = f"{name} cannot stay up: it died {streak.at_once} times at once after its start"
            self._log.say(f"{said}; its last lines:{last_lines(child.tail)}")
        self._log.say(f"{said}; starting it again in {streak.delay:g} s")
        self._due[name] = (time.monotonic() + streak.delay, child.command)

    def _forget(self, child: Child) -> None:
        self._running.discard(child)
        child.close()

    def _stop(self) -> None:
        self._due.clear()
        for _, turn in groupby(sorted(self._running, key=_turn), key=_turn):
            self._stop_all(list(turn))

    def _stop_all(self, children: Collection[Child]) -> None:
        for child in children:
            child.terminate()
        limit = time.monotonic() + max(child.command.grace for child in children)
        if left := self._wait_for(children, limit):
            for child in left:
                self._log.say(f"{child.command.name} did not stop in time and is killed")
                child.kill()
            for child in self._wait_for(left, time.monotonic() + KILL_LIMIT):
                self._log.say(f"{child.command.name} (pid {child.pid}) cannot be killed")

    def _wait_for(self, children: Collection[Child], limit: float) -> list[Child]:
        """Return those that still run at the limit."""
        while left := [child for child in children if child in self._running]:
            try:
                ended = self._event(until=limit)
            except Empty:
                return left
            if ended is None:
                self._kill_all()
            else:
                self._forget(ended)
        return []

    def _kill_all(self) -> None:
        self._log.say("stopping at once")
        for child in self._running:
            child.kill()


def _turn(child: Child) -> int:
    return child.command.stops
