"""The thread that reconciles: alive in every supervisor, at work in one at a time."""

import logging
import threading

from common.errors import ChargehandError
from supervisor.office import Office
from supervisor.reconcile import reconcile

logger = logging.getLogger(__name__)

INTERVAL = 1.0


class Reconciler:
    """Reconciles every second, when this process is the one that has the right to."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reconciler", daemon=True)

    def start(self) -> None:
        """Start reconciling."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, after what is under way."""
        self._stopped.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stopped.wait(INTERVAL):
            try:
                reconcile(self._office)
            except ChargehandError as error:
                logger.warning("reconciling is put off: %s", error)
            except Exception:
                # The edge of the thread: what one round could not do, the next one tries again.
                logger.exception("reconciling broke")
