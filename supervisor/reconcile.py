"""Bring back into motion what stands still."""

import logging
import threading

from common.errors import ChargehandError, UnknownJob
from supervisor.dispatch import dispatch
from supervisor.office import Office

logger = logging.getLogger(__name__)

INTERVAL = 1.0


def reconcile(office: Office) -> None:
    """Dispatch every step whose time to be tried again has come."""
    for job, step in office.store.steps.due():
        try:
            case = office.case(job)
        except UnknownJob:
            logger.warning("step %s of job %s was due, but the job has expired", step, job)
            continue
        if case is not None:
            dispatch(office, case, [case.graph.steps[step]])


class Reconciler:
    """Reconciles now and again, in a thread of its own."""

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
