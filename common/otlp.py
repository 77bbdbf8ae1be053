"""The tracer behind `common.telemetry`: the one module that imports OpenTelemetry."""

import hashlib
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision

Value = str | int | float | bool

LAST_MOMENT = 3.0
"""Seconds that a process which ends gives what it has not sent yet."""
PREFIX = "chargehand."


def ids(job: str) -> tuple[int, int]:
    """Return the ids of a job's trace and of its root span, the same in every process."""
    digest = hashlib.sha256(f"chargehand:{job}".encode()).digest()
    return int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])


class Tracer:
    """Writes spans to the traces of jobs."""

    def __init__(self, service: str) -> None:
        ours = Resource(
            {
                "service.namespace": "chargehand",
                "service.name": service,
                "service.version": version("chargehand"),
                "service.instance.id": f"{socket.gethostname()}-{os.getpid()}",
            }
        )
        self._ids = _Ids()
        # What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes last, and so counts.
        self._provider = TracerProvider(
            resource=ours.merge(OTELResourceDetector().detect()),
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        # It tells of each try, at length. That a batch is lost is an error, and still said.
        logging.getLogger(OTLPSpanExporter.__module__).setLevel(logging.ERROR)
        self._tracer = self._provider.get_tracer("chargehand", version("chargehand"))

    def stop(self) -> None:
        """Send what is left. A collector that does not answer must not hold up the process."""
        sending = threading.Thread(target=self._provider.shutdown, daemon=True)
        sending.start()
        sending.join(LAST_MOMENT)

    @contextmanager
    def span(self, name: str, job: str, facts: Mapping[str, Value]) -> Iterator[None]:
        """Trace what happens inside, below the span that is open or else below the job."""
        with self._tracer.start_as_current_span(
            name,
            context=self._parent(job),
            attributes=_attributes(job, facts),
            # What an error says may be long, or secret; its type is neither.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except Exception as error:
                span.set_status(trace.StatusCode.ERROR, type(error).__name__)
                raise

    def tell(self, facts: Mapping[str, Value]) -> None:
        """Add facts to the span that is open."""
        trace.get_current_span().set_attributes({PREFIX + k: v for k, v in facts.items()})

    def failed(self, why: str) -> None:
        """Mark the span that is open as failed."""
        trace.get_current_span().set_status(trace.StatusCode.ERROR, why)

    def tools(self, job: str, events: Sequence[tuple[str, str]], seconds: float) -> None:
        """Trace each tool below the span that is open; an event has its end and its length."""
        began = time.time() - seconds
        for event, data in events:
            if event != "tool":
                continue
            told = json.loads(data)
            ended = began + told["at"]
            span = self._tracer.start_span(
                f"tool {told['tool']}",
                attributes=_attributes(job, {"tool": told["tool"], "findings": told["findings"]}),
                start_time=_nanoseconds(ended - told["seconds"]),
            )
            span.end(_nanoseconds(ended))

    def job(self, job: str, created: float, facts: Mapping[str, Value]) -> None:
        """Write the root span of a job's trace."""
        with self._ids.chosen(*ids(job)):
            span = self._tracer.start_span(
                "job",
                context=Context(),
                attributes=_attributes(job, facts),
                start_time=_nanoseconds(created),
            )
        span.end()

    def _parent(self, job: str) -> Context | None:
        """Return nothing when a span of this job is open here, else the job's root from afar."""
        trace_id, root = ids(job)
        if trace.get_current_span().get_span_context().trace_id == trace_id:
            return None
        # Every process comes to the same answer, since it hangs on the trace's id alone.
        chosen = self._provider.sampler.should_sample(None, trace_id, "job").decision
        sampled = chosen is Decision.RECORD_AND_SAMPLE
        flags = trace.TraceFlags(trace.TraceFlags.SAMPLED if sampled else trace.TraceFlags.DEFAULT)
        afar = trace.SpanContext(trace_id, root, is_remote=True, trace_flags=flags)
        return trace.set_span_in_context(trace.NonRecordingSpan(afar), Context())


class _Ids(RandomIdGenerator):
    """Random ids, except where they are chosen."""

    def __init__(self) -> None:
        self._local = threading.local()

    @contextmanager
    def chosen(self, trace_id: int, span_id: int) -> Iterator[None]:
        """Give these ids to the span that is started inside."""
        self._local.ids = (trace_id, span_id)
        try:
            yield
        finally:
            del self._local.ids

    def generate_trace_id(self) -> int:
        """Return the id of a new trace."""
        ids = getattr(self._local, "ids", None)
        return ids[0] if ids else super().generate_trace_id()

    def generate_span_id(self) -> int:
        """Return the id of a new span."""
        ids = getattr(self._local, "ids", None)
        return ids[1] if ids else super().generate_span_id()


def _attributes(job: str, facts: Mapping[str, Value]) -> dict[str, Value]:
    return {f"{PREFIX}job": job} | {PREFIX + name: value for name, value in facts.items()}


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1e9)
