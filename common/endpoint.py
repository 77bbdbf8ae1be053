"""What a process answers over HTTP: its metrics, whether it is well, and what its kind adds."""

import errno
import logging
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NoReturn, Protocol
from urllib.parse import unquote, urlsplit

from common import metrics
from common.glance import SOCKET_SECONDS, Glance
from common.metrics import UP, Gauge, Sample
from common.pulse import Pulse
from common.settings import settings
from common.store import PodFacts, Store

logger = logging.getLogger(__name__)

SILENT = 10.0
"""Seconds without a beat of its pulse after which a process does not count as well."""
PORTS = 100
"""How many ports are tried: several processes on one host may be given the same one."""
POLL = 0.2
"""Seconds after which a server notices that it is to stop."""
PATIENCE = 5.0
"""Seconds that a client may take to ask."""
TEXT, JSON = "text/plain; charset=utf-8", "application/json"


@dataclass(frozen=True)
class Answer:
    """What is sent back."""

    status: int
    body: bytes
    kind: str = TEXT


def word(status: int, said: str) -> Answer:
    """Return an answer of one line, for people."""
    return Answer(status, f"{said}\n".encode())


Route = Callable[[str], Answer]
"""Answers a request, given what stands behind its prefix in the path."""


class Gauges(Protocol):
    """Numbers that are read from Redis when they are asked for, and what else they can answer."""

    def families(self) -> Iterable[Gauge]:
        """Return what the numbers are about."""

    def samples(self) -> Iterable[Sample]:
        """Return the numbers, soon and without raising."""

    def routes(self) -> Mapping[str, Route]:
        """Return what is answered, by prefix of the path."""


class Reachable:
    """The one number that every process reads: whether Redis answers it."""

    def __init__(self, store: Store) -> None:
        self._redis = Glance(store.fleet.now)

    def families(self) -> Iterable[Gauge]:
        """Name it."""
        return (UP,)

    def samples(self) -> Iterable[Sample]:
        """Return it."""
        return (Sample(UP.name, float(self._redis.get() is not None)),)

    def routes(self) -> Mapping[str, Route]:
        """Answer nothing else."""
        return {}


class Endpoint:
    """Serves a process's metrics for as long as its worker runs, when a port is set."""

    def __init__(self, pulse: Pulse, gauges: Callable[[Store], Gauges] = Reachable) -> None:
        self._pulse = pulse
        self._gauges = gauges
        self._server: _Server | None = None

    def start(self, _facts: PodFacts) -> None:
        """Listen, and say where; a process that is to serve metrics and cannot does not start."""
        given = settings()
        if not given.metrics_port:
            return
        try:
            meters = metrics.enable()
        except ModuleNotFoundError as error:
            _give_up(
                f"CHARGEHAND_METRICS_PORT is set, but {error.name} is not installed; "
                "it comes with `pip install 'chargehand[telemetry]'`"
            )
        store = Store.open(0.0, timeout=SOCKET_SECONDS)
        gauges = self._gauges(store)
        meters.read_when_asked(gauges.families(), gauges.samples)
        health = Health(self._pulse, Glance(store.fleet.now))
        routes = {"/healthz": health.answer, **gauges.routes()}
        self._server = _listening(given.metrics_address, given.metrics_port)
        self._server.serve(meters.page, routes)
        logger.info("metrics at http://%s:%s/metrics", *self._server.server_address[:2])

    def stop(self) -> None:
        """Answer nothing any more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class Health:
    """Whether a process does its part: its pulse beats, and Redis answers."""

    def __init__(self, pulse: Pulse, redis: Glance[float]) -> None:
        self._pulse = pulse
        self._redis = redis

    def answer(self, _rest: str) -> Answer:
        """Answer a probe."""
        if self._pulse.age() > SILENT:
            return word(503, f"no pulse for {SILENT:g} s")
        if self._redis.get() is None:
            return word(503, "Redis does not answer")
        return word(200, "well")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    page: Callable[[str], tuple[bytes, str]]
    routes: Mapping[str, Route]

    def serve(self, page: Callable[[str], tuple[bytes, str]], routes: Mapping[str, Route]) -> None:
        self.page, self.routes = page, routes
        threading.Thread(
            target=self.serve_forever, args=(POLL,), name="endpoint", daemon=True
        ).start()

    def answer(self, path: str, accept: str) -> Answer:
        if path == "/metrics":
            return Answer(200, *self.page(accept))
        for prefix, route in self.routes.items():
            if path == prefix or (prefix.endswith("/") and path.startswith(prefix)):
                return route(path.removeprefix(prefix))
        return word(404, f"no such page; there are: /metrics, {', '.join(self.routes)}")

    def handle_error(self, _request: object, client_address: object) -> None:
        # Whoever asked has gone, or sent no HTTP: nothing to do about it, nor to print.
        logger.debug("no answer for %s", client_address, exc_info=True)


class _ServerOnIPv6(_Server):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = PATIENCE
    server_version, sys_version = "chargehand", ""

    def do_GET(self) -> None:
        """Answer a request; what breaks on the way is an answer, too."""
        try:
            answer = self.server.answer(
                unquote(urlsplit(self.path).path), self.headers.get("Accept", "")
            )
        except Exception:
            # The edge of the thread: a fault here must not leave whoever asks without an answer.
            logger.exception("no answer for %s", self.path[:200])
            answer = word(500, "broken; the log of this process says how")
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        """Print nothing: a scrape every few seconds is no news."""


def _listening(address: str, port: int) -> _Server:
    """Return a server on this port, or on the first free one of those after it."""
    server = _ServerOnIPv6 if ":" in address else _Server
    last = min(port + PORTS, 65_536) - 1
    for each in range(port, last + 1):
        try:
            return server((address, each), _Handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or each == last:
                why = error.strerror or type(error).__name__
                break
    return _give_up(
        f"metrics cannot be served on {address}, port {port} to {last} ({why}); "
        "set CHARGEHAND_METRICS_ADDRESS and CHARGEHAND_METRICS_PORT to others"
    )


def _give_up(why: str) -> NoReturn:
    # Celery ends a worker on this in an orderly way, and shows no traceback.
    logger.error("%s", why)
    raise SystemExit(1)
