"""The HTTP shell around the API: a thread for each connection, and a clean end."""

import socket
import socketserver
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from tests.messages_api.ledger import Recorded
from tests.messages_api.scenario import Scenario
from tests.messages_api.service import Answer, Service


class _Handler(BaseHTTPRequestHandler):
    """Reads a request, hands it to the service, and writes the answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Listener"

    def do_GET(self) -> None:
        service = self.server.service
        self._send(service.stats() if self.path == "/_/stats" else service.unknown(self.path))

    def do_POST(self) -> None:
        raw = self._body()
        if self.path.partition("?")[0] != "/v1/messages":
            self._send(self.server.service.unknown(self.path))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.service.messages(headers, raw))

    def _body(self) -> bytes | None:
        """Read the body, and drop one that is too large so that its sender hears of it."""
        left = int(self.headers.get("content-length") or 0)
        if left <= self.server.service.scenario.max_body:
            return self.rfile.read(left)
        while left > 0:
            left -= len(self.rfile.read(min(left, 1 << 20))) or left
        return None

    def _send(self, answer: Answer) -> None:
        if answer.disconnect == "before":
            self._hang_up()
            return
        self.send_response(answer.status)
        self.send_header("content-type", answer.content_type)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.chunks is None:
            self._send_body(answer)
        else:
            self._send_chunks(answer, answer.chunks)

    def _send_body(self, answer: Answer) -> None:
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        middle = len(answer.body) // 2
        self.wfile.write(answer.body[:middle])
        if self._goes_on(answer):
            self.wfile.write(answer.body[middle:])

    def _send_chunks(self, answer: Answer, chunks: list[bytes]) -> None:
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, chunk in enumerate(chunks):
            if number == len(chunks) // 2 and not self._goes_on(answer):
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def _goes_on(self, answer: Answer) -> bool:
        """Pause in the middle of an answer, or break the connection there."""
        stopped = answer.pause > 0 and self.server.service.stopping.wait(answer.pause)
        if stopped or answer.disconnect == "during":
            self._hang_up()
            return False
        return True

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it is given
        """Say nothing; the ledger knows."""


class _Listener(ThreadingHTTPServer):
    """Takes connections, and knows the open ones so that it can end them."""

    daemon_threads = False  # they are waited for at the end
    request_queue_size = 1024

    def __init__(self, address: tuple[str, int], service: Service) -> None:
        self.service = service
        self._lock = Lock()
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # The base class looks its own name up, which takes seconds where names are slow.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End every open connection, idle ones included."""
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # The other side was quicker.
                    continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that gave up is no fault of ours.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Server:
    """A running scripted API."""

    def __init__(self, scenario: Scenario, host: str = "127.0.0.1", port: int = 0) -> None:
        self._service = Service(scenario)
        self._listener = _Listener((host, port), self._service)
        self._thread = Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.key = scenario.key
        self.url = f"http://{host}:{self._listener.server_port}"

    @property
    def requests(self) -> list[Recorded]:
        """What it was asked, in the order in which it came."""
        return self._service.ledger.requests

    @property
    def stats(self) -> dict[str, Any]:
        """The counts by model and status, of tokens and cache hits, and the most in flight."""
        return self._service.ledger.stats()

    def stop(self) -> None:
        """End all connections and wait for all threads."""
        self._service.stopping.set()
        self._listener.shutdown()
        self._listener.hang_up()
        self._listener.server_close()
        self._thread.join()
