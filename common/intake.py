"""Refuse what is not for us: kept, counted, and told in one line without its content.

A message is judged before Celery sees it, since most of what is wrong with one would end the
worker, go back to the queue, and end the next worker.
"""

import logging
from collections.abc import Callable
from functools import cache, partial
from queue import Empty
from typing import Any, Literal

from kombu import compression
from kombu.transport import virtual

from common import envelope, metrics
from common.errors import ChargehandError, InputError
from common.store import Store

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds for which keeping a refused message may hold up the others."""
KEPT = 4096
"""How many bytes of a refused message are kept."""
IN_MEMORY: Any = virtual.QoS
"""How kombu keeps count of messages where the broker does not."""


def watch(app: Any, channel: Any) -> None:
    """Let nothing through a channel but calls of the app's own tasks."""
    _Watch(app, channel, frozenset(name for name in app.tasks if not name.startswith("celery.")))


def refuse(queue: str, why: str, message: object) -> None:
    """Keep and count what is refused, and say so without its content."""
    why = " ".join(why.split())[:500]
    logger.error("refused on queue %s: %s", queue, why)
    metrics.refused()
    try:
        _store().fleet.refuse(queue, why, message)
    except ChargehandError as error:
        logger.error("what was refused could not be kept: %s", error)


@cache
def _store() -> Store:
    return Store.open(PATIENCE)


def refuse_compressed() -> None:
    """Have this process inflate no message: a small one may be a gigabyte inside."""
    methods: Any = compression
    for kind in methods.encoders():
        methods.register(methods.get_encoder(kind)[0], _inflate, kind)


def _inflate(_body: bytes) -> bytes:
    raise ValueError("compressed messages are refused")


class _Watch:
    """Judges what comes in by one channel, and survives what was not foreseen."""

    def __init__(self, app: Any, channel: Any, tasks: frozenset[str]) -> None:
        self._app = app
        self._channel = channel
        self._tasks = tasks
        self._queue, self._item = "", b""
        self._append, self._ack = channel.qos.append, channel.qos.ack
        channel.qos.append, channel.qos.ack = self._keep, self._release
        channel.client.set_response_callback("BRPOP", self._judge)
        channel.handlers = {
            "BRPOP": partial(self._survive, channel.handlers["BRPOP"], "queue"),
            "LISTEN": partial(self._survive, channel.handlers["LISTEN"], "control"),
        }

    def _judge(self, answer: Any, **_: Any) -> Any:
        """Return what was popped, or None, as if nothing had come, when it is refused."""
        if not answer:
            return None
        key, self._item = answer
        self._queue = key.decode(errors="replace").rsplit(self._channel.sep, 1)[0]
        if why := envelope.fault(self._item, self._tasks):
            self._refuse(why)
            return None
        return answer

    def _keep(self, message: Any, tag: str) -> None:
        """Have a message come back if this process dies, unless Redis is too full for that."""
        try:
            self._append(message, tag)
        except self._channel.ResponseError:
            IN_MEMORY.append(self._channel.qos, message, tag)

    def _release(self, tag: str) -> None:
        """Have a message not come back; one that does all the same takes no slot until then."""
        try:
            self._ack(tag)
        except self._channel.ResponseError:
            IN_MEMORY.ack(self._channel.qos, tag)

    def _survive(self, handler: Callable[[], Any], kind: Literal["queue", "control"]) -> Any:
        self._queue, self._item = kind, b""
        try:
            return handler()
        except Exception as error:
            if self._is_connections(error, kind):
                raise
            self._refuse(f"Celery cannot take it ({type(error).__name__})")
            if self._item:
                self._channel.basic_ack(envelope.tag(self._item))
        return None

    def _is_connections(self, error: Exception, kind: str) -> bool:
        """Tell whether an error is about the connection, and not about what came by it."""
        if kind == "queue" and not self._item:
            return True
        # Kombu counts a KeyError, which a message may cause, as a lost connection.
        lost = (Empty, self._channel.ResponseError, *self._channel.connection_errors)
        return isinstance(error, lost) and not isinstance(error, KeyError)

    def _refuse(self, why: str) -> None:
        refuse(self._queue, why, self._item[:KEPT].decode(errors="replace"))
        if caller := envelope.waiting(self._item):
            try:
                error = InputError(f"the message is refused: {why}")
                self._app.backend.mark_as_failure(caller, error)
            except Exception:
                # A courtesy to a caller who may not even wait; the next message matters more.
                logger.warning("whoever waits for task %s could not be told", caller)
