"""A pod's claims on what it runs, renewed together from one thread."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from common.errors import StoreUnavailable
from common.store import Store

logger = logging.getLogger(__name__)

SECONDS = 6.0
"""How long a claim lasts without being renewed."""
RENEWALS = 3
"""How many times a claim is renewed in the time that it lasts."""


class Leases:
    """Keeps claims alive while their work runs, and tells the work when a claim is lost."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[str, threading.Event] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, member: str) -> Iterator[threading.Event]:
        """Renew a claim for the length of the block; the event is set when it has been lost."""
        lost = threading.Event()
        with self._changed:
            self._held[member] = lost
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew, name="leases", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            yield lost
        finally:
            with self._changed:
                del self._held[member]

    def _renew(self) -> None:
        """Renew all claims now and again; sleep while there are none."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._held)
            # Work that is over before its first renewal costs no command at all.
            threading.Event().wait(SECONDS / RENEWALS)
            with self._changed:
                members = list(self._held)
            if members:
                self._tell_lost(self._lost(members))

    def _lost(self, members: list[str]) -> list[str]:
        try:
            return self._store.steps.renew(members, SECONDS)
        except StoreUnavailable as error:
            # The claims may run out meanwhile; the next renewal that gets through tells.
            logger.warning("leases could not be renewed: %s", error)
            return []

    def _tell_lost(self, members: list[str]) -> None:
        with self._changed:
            for member in members:
                if member in self._held:
                    self._held[member].set()
