"""The pulse of a process: it announces the process and renews all its leases in one command."""

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from common.errors import ChargehandError
from common.store import PodFacts, Store

logger = logging.getLogger(__name__)

LEASE = 6.0
"""Seconds for which a lease, or the word that a process is alive, lasts without being renewed."""
INTERVAL = LEASE / 3


class Pulse:
    """Keeps a process's leases alive while its work runs, and tells the work when one is lost."""

    def __init__(self, store: Store) -> None:
        self.pod = f"{socket.gethostname()}-{os.getpid()}"
        self._store = store
        self._facts: PodFacts | None = None
        self._held: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._felt = float("-inf")
        self._thread = threading.Thread(target=self._run, name="pulse", daemon=True)

    def start(self, facts: PodFacts) -> None:
        """Announce the process, and go on doing so."""
        self._facts = facts
        self._thread.start()

    def stop(self) -> None:
        """Take the process off the list; its leases are not renewed any more."""
        self._stopped.set()
        self._thread.join(timeout=INTERVAL)
        try:
            self._store.fleet.leave(self.pod)
        except ChargehandError as error:
            logger.warning("%s leaves without a word: %s", self.pod, error)

    @contextmanager
    def held(self, member: str) -> Iterator[threading.Event]:
        """Renew a lease for the length of the block; the event is set when it has been lost."""
        lost = threading.Event()
        with self._lock:
            self._held[member] = lost
        try:
            yield lost
        finally:
            with self._lock:
                del self._held[member]

    def age(self) -> float:
        """Return the seconds since the last beat that Redis took."""
        return time.monotonic() - self._felt

    def members(self) -> list[str]:
        """Return the leases that are held at present."""
        with self._lock:
            return list(self._held)

    def drop(self, member: str) -> None:
        """Tell the work under a lease that it is lost."""
        with self._lock:
            if member in self._held:
                self._held[member].set()

    def _run(self) -> None:
        while True:
            try:
                self._beat()
            except ChargehandError as error:
                # Leases may run out meanwhile; the next beat that gets through tells.
                logger.warning("the pulse of %s was not felt: %s", self.pod, error)
            except Exception:
                # The edge of the thread: without a pulse the whole process would count as dead.
                logger.exception("the pulse of %s stumbled", self.pod)
            if self._stopped.wait(INTERVAL):
                return

    def _beat(self) -> None:
        if self._facts is not None:
            for member in self._store.fleet.pulse(self.pod, self._facts, self.members(), LEASE):
                self.drop(member)
            self._felt = time.monotonic()
