"""TLS before a Redis that has none: what a managed service or a proxy does, with its own CA."""

import selectors
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chargehand.stack import port


def certified(folder: Path) -> tuple[Path, Path, Path]:
    """Return a CA's certificate, and the certificate and the key of `127.0.0.1` that it signed."""
    ca, ca_key, key, asked, signed = (
        folder / name for name in ("ca.crt", "ca.key", "redis.key", "redis.csr", "redis.crt")
    )
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    constraints = ["-addext", "keyUsage=critical,keyCertSign"]
    _openssl("req", "-x509", *new, *constraints, "-keyout", ca_key, "-out", ca, "-subj", "/CN=ca")
    _openssl("req", *new, "-keyout", key, "-out", asked, "-subj", "/CN=redis")
    names = folder / "names.cnf"
    names.write_text(f"subjectAltName=IP:{port.HOST}\nauthorityKeyIdentifier=keyid\n")
    by = ["-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-extfile", names]
    _openssl("x509", "-req", "-in", asked, *by, "-out", signed)
    return ca, signed, key


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@contextmanager
def encrypted(behind: int, certificate: Path, key: Path) -> Iterator[int]:
    """Give a port on which this certificate is shown, and what is sent is passed on in clear."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server((port.HOST, 0)) as listening:
        threading.Thread(target=_accept, args=(listening, context, behind), daemon=True).start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            # Closing alone does not wake up who waits in `accept`.
            listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, context: ssl.SSLContext, behind: int) -> None:
    with suppress(OSError):
        while True:
            raw, _ = listening.accept()
            threading.Thread(target=_serve, args=(raw, context, behind), daemon=True).start()


def _serve(raw: socket.socket, context: ssl.SSLContext, behind: int) -> None:
    """Pass on both ways; an `SSLSocket` is not to be read and written by two threads at once."""
    with (
        suppress(OSError),
        raw,
        socket.create_connection((port.HOST, behind)) as clear,
        context.wrap_socket(raw, server_side=True) as secret,
    ):
        secret.setblocking(False)
        clear.setblocking(False)
        _pump(secret, clear)


def _pump(secret: ssl.SSLSocket, clear: socket.socket) -> None:
    with selectors.DefaultSelector() as watch:
        watch.register(secret, selectors.EVENT_READ, (secret, clear))
        watch.register(clear, selectors.EVENT_READ, (clear, secret))
        while True:
            for key, _ in watch.select():
                source, target = key.data
                while (data := _read(source)) is not None:
                    if not data:
                        return
                    _write(target, data)


def _read(source: socket.socket) -> bytes | None:
    """Return what is there, nothing at the end, and None when there may be more later."""
    try:
        return source.recv(65_536)
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
        return None


def _write(target: socket.socket, data: bytes) -> None:
    target.setblocking(True)
    try:
        target.sendall(data)
    finally:
        target.setblocking(False)
