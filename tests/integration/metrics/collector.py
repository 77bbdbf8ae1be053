"""A collector of OpenTelemetry traces, as small as can be: it keeps what it is sent."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Span:
    """One span, with the process that sent it."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    facts: dict[str, str]


@dataclass
class Collector:
    """What was received."""

    url: str = ""
    spans: list[Span] = field(default_factory=list)

    def of(self, job: str) -> list[Span]:
        """Return the spans of a job."""
        return [span for span in list(self.spans) if span.facts.get("chargehand.job") == job]

    def take(self, body: bytes) -> None:
        """Keep the spans of a request."""
        sent = ExportTraceServiceRequest.FromString(body)
        for resource in sent.resource_spans:
            facts = {a.key: a.value.string_value for a in resource.resource.attributes}
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                self.spans.append(
                    Span(
                        facts["service.name"],
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        {a.key: a.value.string_value for a in span.attributes},
                    )
                )


@contextmanager
def collecting() -> Iterator[Collector]:
    """Give a collector that listens for the time of the context."""
    kept = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            zipped = self.headers.get("Content-Encoding") == "gzip"
            assert self.path == "/v1/traces"
            kept.take(gzip.decompress(body) if zipped else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield kept
        server.shutdown()
