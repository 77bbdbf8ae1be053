"""Run one process of a deployment in the foreground: a supervisor, a worker or Flower."""

import logging
import os
import socket
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from celery.platforms import SecurityWarning

from common.broker import make_app
from common.intake import refuse_compressed
from common.settings import settings

CHATTY = (
    "celery.worker.strategy",
    "celery.worker.control",
    "celery.app.trace",
    "kombu",
    "amqp",
    "tornado.access",
)


def supervise(slots: int) -> None:
    """Plan, join and aggregate jobs until stopped."""
    from supervisor.app import app

    _work(app, ["supervisor"], slots, "supervisor")


def work(queues: Sequence[str], slots: int) -> None:
    """Do the steps of these queues until stopped."""
    from workers.app import app

    _work(app, queues, slots, "+".join(queues[:3]))


def flower(address: str, port: int) -> None:
    """Serve Flower until stopped."""
    log()
    refuse_compressed()
    make_app("flower").start(["flower", f"--address={address}", f"--port={port}"])


def log() -> None:
    """Log to standard error, one line for each event, without the libraries' own chatter."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    # While Redis is full, its warnings are a traceback each second.
    logging.getLogger("kombu.transport.redis").setLevel(logging.ERROR)


class _OneLine(logging.Formatter):
    """Keeps a message on one line; only the traceback of a fault has more."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        """Return the message without the line feeds that Celery and Flower put in."""
        return " ".join(super().formatMessage(record).split())


def _work(app: Any, queues: Sequence[str], slots: int, name: str) -> None:
    log()
    if os.geteuid() == 0:
        # Celery says the same in nine lines, and exits where a container has no choice.
        os.environ["C_FORCE_ROOT"] = "1"
        warnings.filterwarnings("ignore", category=SecurityWarning)
        logging.getLogger(__name__).warning("running as root; a user without privileges is safer")
    # Several processes of a pool may share a host: the name tells them apart in Flower.
    node = f"{name}-{os.getpid()}@{socket.gethostname()}"
    options = [f"--concurrency={slots}", f"--queues={','.join(queues)}", f"--hostname={node}"]
    options += ["--loglevel=INFO", "--without-gossip", "--without-mingle"]
    # Celery's heartbeat is for Flower only; whether a process is alive is told by its pulse.
    options += ["--heartbeat-interval=10"]
    options += ["--task-events"] if settings().events else []
    app.worker_main(["--quiet", "worker", "--pool=threads", *options])
