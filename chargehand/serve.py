"""Run one process of a deployment in the foreground: a supervisor or a worker."""

import logging
import os
import socket
import warnings
from collections.abc import Sequence
from typing import Any

from celery.platforms import SecurityWarning
from celery.signals import worker_shutdown

from common import logs
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


def log() -> None:
    """Log to standard error, one line for each event, without the libraries' own chatter."""
    logs.start()
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    # While Redis is full, its warnings are a traceback each second.
    logging.getLogger("kombu.transport.redis").setLevel(logging.ERROR)


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
    codes: list[int | None] = []
    worker_shutdown.connect(lambda sender, **_: codes.append(sender.exitcode), weak=False)
    app.worker_main(["--quiet", "worker", "--pool=threads", *options])
    if any(codes):
        # Celery does not return the code of a worker that could not start, or that broke.
        raise SystemExit(1)
