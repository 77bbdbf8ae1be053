"""Pools that grow and shrink with their load, for `chargehand up --autoscale`."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from math import inf
from queue import Empty

from chargehand.stack import command, probe
from chargehand.stack.command import Command
from chargehand.stack.log import MergedLog
from chargehand.stack.process import Child
from chargehand.stack.supervise import Supervision
from common.errors import StoreUnavailable
from common.scale import Pace, Policy
from common.store import Load, Store

INTERVAL = 1.0
"""Seconds from one look at the loads to the next."""


@dataclass(frozen=True)
class Elastic:
    """Pools whose size follows their load."""

    pools: tuple[str, ...]
    slots: int
    policy: Policy

    def names(self) -> list[str]:
        """Return what their processes may be called, for the log."""
        return [f"{pool}-{self.policy.most}" for pool in self.pools]


class Autoscaled(Supervision):
    """A supervision that also starts and stops pods; all of it happens in the thread in `run`."""

    def __init__(self, log: MergedLog, elastic: Elastic) -> None:
        super().__init__(log)
        self._elastic = elastic
        now = time.monotonic()
        self._paces = {p: Pace(elastic.policy, elastic.slots, now) for p in elastic.pools}
        self._pods: dict[str, list[str]] = {pool: [] for pool in elastic.pools}
        self._leaving: set[str] = set()
        self._dress: Callable[[Command], Command] = lambda made: made
        self._store: Store | None = None
        self._look_at = inf
        self._blind = False

    def begin(self, url: str, dress: Callable[[Command], Command]) -> None:
        """Start the least number of pods, and follow the loads in this Redis from now on."""
        # Asked quickly and without retries: whoever waits here does not hear Ctrl-C.
        self._store = Store(probe.client(url), url, patience=0.0, ttl=1)
        self._dress = dress
        self._look_at = time.monotonic()
        for pool in self._pods:
            self._resize(pool, self._elastic.policy.least)

    def _next(self) -> Child | None:
        while True:
            until = min((due for due, _ in self._due.values()), default=inf)
            try:
                return self._event(until=min(until, self._look_at))
            except Empty:
                self._start_due()
                self._look()

    def _look(self) -> None:
        """Give each pool the pods that its load needs, when it is time to."""
        now = time.monotonic()
        if now < self._look_at or self._store is None:
            return
        try:
            loads = self._store.loads.read(self._elastic.pools)
        except StoreUnavailable as error:
            self._say_blind(str(error))
        else:
            self._blind = False
            for pool, load in loads.items():
                self._follow(pool, load, now)
        self._look_at = time.monotonic() + INTERVAL

    def _say_blind(self, why: str) -> None:
        if not self._blind:
            self._log.say(f"pools keep their sizes: {why}")
        self._blind = True

    def _follow(self, pool: str, load: Load, now: float) -> None:
        pods = len(self._pods[pool])
        wish = self._paces[pool].look(load, pods, now)
        if wish.pods != pods:
            self._log.say(f"{pool}: {pods} to {wish.pods} pods: {wish.why}")
            self._resize(pool, wish.pods)

    def _resize(self, pool: str, size: int) -> None:
        pods = self._pods[pool]
        while len(pods) < size:
            name = self._free_name(pool)
            pods.append(name)
            self.add(self._dress(command.worker(name, [pool], self._elastic.slots)))
        while len(pods) > size:
            self._retire(pods.pop())

    def _free_name(self, pool: str) -> str:
        """Return a name that no pod of the pool has, not even one that is about to leave."""
        taken = {*self._pods[pool], *self._leaving}
        return next(name for n in count(1) if (name := f"{pool}-{n}") not in taken)

    def _retire(self, name: str) -> None:
        """Ask a pod to finish its steps and leave; one that waits for its start never starts."""
        if self._due.pop(name, None) is not None:
            return
        for child in [child for child in self._running if child.command.name == name]:
            self._leaving.add(name)
            child.terminate()

    def _bury(self, child: Child) -> None:
        name = child.command.name
        if name not in self._leaving:
            super()._bury(child)
            return
        self._leaving.discard(name)
        with suppress(KeyError):
            del self._streaks[name]
        self._forget(child)
        self._log.say(f"{name} has left, {child.ending().replace('ended', 'it ended')}")
