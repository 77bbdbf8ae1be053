"""TCP ports of this machine."""

import errno
import socket

from common.errors import InputError, LocalStackError

HOST = "127.0.0.1"


def free() -> int:
    """Return a port that nothing listens on right now; another program may still take it first."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def check_free(port: int, option: str) -> None:
    """Raise unless the port can be listened on; the message names the option that changes it."""
    if not 1 <= port <= 65535:
        raise InputError(f"port {port} is out of 1..65535; choose another with {option}")
    with socket.socket() as probe:
        # A port that a stopped program left in TIME_WAIT counts as free, as it does for a server.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            used = error.errno == errno.EADDRINUSE
            why = "is in use" if used else f"cannot be used ({error.strerror})"
            raise LocalStackError(f"port {port} {why}; choose another with {option}") from None
