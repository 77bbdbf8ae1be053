"""Traces for OpenTelemetry, one for each job; off, and free, until an endpoint is configured.

The ids of a trace and of its root span are made from the job's id. So supervisors and workers write
to one trace without telling each other anything, and messages stay as they are.
"""

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from common.settings import tracing_wanted
from common.store import PodFacts

if TYPE_CHECKING:
    from common.otlp import Tracer

logger = logging.getLogger(__name__)

Value = str | int | float | bool
_tracer: "Tracer | None" = None


class Tracing:
    """Sends spans for as long as the worker runs, when an endpoint is set."""

    def __init__(self, service: str) -> None:
        self._service = service

    def start(self, _facts: PodFacts) -> None:
        """Begin to send; without the libraries that is said once, and the work goes on untraced."""
        global _tracer
        if not tracing_wanted():
            return
        try:
            # Only a process that sends traces pays for the libraries.
            from common.otlp import Tracer
        except ModuleNotFoundError as error:
            logger.error(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, but %s is not installed, so no traces are "
                "sent; it comes with `pip install 'chargehand[telemetry]'`",
                error.name,
            )
            return
        _tracer = Tracer(self._service)

    def stop(self) -> None:
        """Send what is left, within a moment."""
        global _tracer
        tracer, _tracer = _tracer, None
        if tracer is not None:
            tracer.stop()


def span(name: str, job: str, **facts: Value) -> AbstractContextManager[None]:
    """Trace what happens inside as a part of a job."""
    return nullcontext() if _tracer is None else _tracer.span(name, job, facts)


def tell(**facts: Value) -> None:
    """Add facts to the span that is open."""
    if _tracer is not None:
        _tracer.tell(facts)


def failed(why: str) -> None:
    """Mark the span that is open as failed, with a word and not a text."""
    if _tracer is not None:
        _tracer.failed(why)


def tools(job: str, events: Sequence[tuple[str, str]], seconds: float) -> None:
    """Trace the tools of an attempt that took so many seconds and ends now, from its events."""
    if _tracer is not None:
        _tracer.tools(job, events, seconds)


def job(job_id: str, created: float, **facts: Value) -> None:
    """Trace a job that ends now, as the root of all its spans."""
    if _tracer is not None:
        _tracer.job(job_id, created, facts)
