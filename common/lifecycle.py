"""What a process does beside its tasks: it starts with the Celery worker, and stops with it."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Protocol

from celery import Celery, bootsteps
from celery.signals import setup_logging

from common import logs
from common.settings import settings
from common.store import PodFacts


class Companion(Protocol):
    """Something that lives as long as the worker does."""

    def start(self, facts: PodFacts) -> None:
        """Start, knowing what the worker serves."""

    def stop(self) -> None:
        """Stop; the worker's tasks have ended."""


def accompany(app: Celery, *makes: Callable[[], Companion]) -> None:
    """Start what these return with each worker of this app, and stop it with the worker."""

    class Step(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery is untyped.
        # What requires nothing but the pool starts after it, and so stops before it: the pool has
        # to be listed as what comes after.
        requires = ("celery.worker.components:Timer",)

        def __init__(self, worker: Any, **options: Any) -> None:
            super().__init__(worker, **options)
            self._companions = [make() for make in makes]

        def start(self, worker: Any) -> None:
            facts = PodFacts(
                queues=tuple(sorted(worker.app.amqp.queues.consume_from)),
                slots=worker.concurrency,
                version=version("chargehand"),
            )
            for companion in self._companions:
                companion.start(facts)

        def stop(self, _worker: Any) -> None:
            for companion in reversed(self._companions):
                companion.stop()

    app.steps["worker"].add(Step)
    if settings().log == "json":
        # Celery then leaves the log alone; otherwise it is as Celery's own options say.
        setup_logging.connect(_log)


def _log(loglevel: int, **_: Any) -> None:
    logs.start(loglevel)
