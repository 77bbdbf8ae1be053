"""The way in: Celery's consumer and task, made to outlive foreign messages and an absent Redis.

A message that is not for us is refused before Celery sees it: kept, counted, and told in one line
without its content. A call that a task cannot be made with is refused by the task.
"""

import logging
import time
import warnings
from collections.abc import Callable
from functools import cache, cached_property, partial
from queue import Empty
from typing import Any, Literal, cast

from billiard.einfo import ExceptionInfo
from celery import Task
from celery.backends.redis import RedisBackend
from celery.exceptions import CPendingDeprecationWarning, Ignore
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown
from kombu import compression
from kombu.transport import virtual
from pydantic import ValidationError, validate_call

from common import envelope
from common.contracts import Job
from common.errors import ChargehandError, InputError, StoreUnavailable, UnknownJob
from common.store import Store

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds for which keeping a refused message may hold up the others."""
KEPT = 4096
"""How many bytes of a refused message are kept."""
FIRST_PAUSE, LONGER, LONGEST_PAUSE = 0.5, 0.5, 2.0


class CheckedTask(Task):  # type: ignore[misc]  # Celery is untyped.
    """A task that refuses a call that is wrong, in one line and without a traceback."""

    abstract = True
    # What is said to a caller is no fault of the process: Celery logs it without a traceback.
    throws = (ChargehandError,)

    @cached_property
    def _checked(self) -> Callable[..., Any]:
        return cast(Callable[..., Any], validate_call(self.run))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task; what a caller did wrong reaches the caller as an InputError."""
        try:
            return self._checked(*args, **kwargs)
        except ValidationError as error:
            # Wrong arguments, or a wrong job in them; anything else is a fault of ours.
            if error.title not in (self.run.__name__, Job.__name__):
                raise
            why = f"wrong call of {self.name}: {envelope.faults(error)}"
        except StoreUnavailable as error:
            logger.warning("%s is put off: %s", self.name, error)
            raise
        except (InputError, UnknownJob) as error:
            why = f"{self.name}: {error}"
        self._refuse(why, args, kwargs)
        if self.request.ignore_result:
            raise Ignore
        raise InputError(why)

    def _refuse(self, why: str, args: Any, kwargs: Any) -> None:
        queue = (self.request.delivery_info or {}).get("routing_key") or ""
        refuse(queue, why, {"task": self.name, "id": self.request.id, "args": args, **kwargs})


class GuardedConsumer(Consumer):  # type: ignore[misc]  # Celery is untyped.
    """A consumer that no message ends, and that comes back when Redis does."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        refuse_compressed()
        apply = self.pool.on_apply
        self.pool.on_apply = lambda target, *a, **o: apply(partial(_finish, target), *a, **o)
        # It is about cancelling what runs when the connection is lost, and said at each loss.
        warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)

    def create_task_handler(self, *args: Any, **options: Any) -> Any:
        """Watch each channel, now that all of them are open and nothing was received yet."""
        tasks = frozenset(name for name in self.app.tasks if not name.startswith("celery."))
        for channel in self.connection.transport.channels:
            _Watch(self.app, channel, tasks)
        return super().create_task_handler(*args, **options)

    def call_soon_ack(self, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Acknowledge a message, if the connection that it came by is still there."""
        return super().call_soon_ack(partial(_settle, call), *args, **options)

    def ensure_connected(self, conn: Any) -> Any:
        """Return the connection once Redis is there; wait for it, and say so once."""
        since = time.monotonic()
        told: list[str] = []

        def away(error: Exception, _interval: float) -> None:
            why = type(error).__name__
            if why not in told:
                told.append(why)
                logger.warning("no messages: Redis is away (%s); waiting for it", why)

        pauses = {"interval_start": FIRST_PAUSE, "interval_step": LONGER}
        conn.ensure_connection(
            away, None, interval_max=LONGEST_PAUSE, callback=maybe_shutdown, **pauses
        )
        self.first_connection_attempt = False
        if told:
            gone = time.monotonic() - since
            logger.warning("Redis is back after %.1f s; messages are taken again", gone)
        return conn

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Let go of a broken connection; what came by it runs on."""
        # Giving messages back over a connection that is gone breaks the worker, or dumps them into
        # a file. Nobody needs it: what runs goes on here, and what is lost is published again.
        for channel in self.connection.transport.channels:
            channel.do_restore = False
        super().on_connection_error_after_connected(exc)


class Backend(RedisBackend):  # type: ignore[misc]  # Celery is untyped.
    """Results that a chord need not wait for: the store knows what its headers came to."""

    def on_chord_part_return(self, request: Any, state: Any, result: Any, **options: Any) -> None:
        """Tell a chord that one of its headers ended; when that fails, the reconciler will."""
        try:
            super().on_chord_part_return(request, state, result, **options)
        except (*self.connection_errors, self.redis.exceptions.ResponseError) as error:
            name = type(error).__name__
            logger.warning("the chord of task %s is not told of its end: %s", request.id, name)


class _Watch:
    """Judges what comes in by one channel, and survives what was not foreseen."""

    def __init__(self, app: Any, channel: Any, tasks: frozenset[str]) -> None:
        self._app = app
        self._channel = channel
        self._tasks = tasks
        self._queue, self._item = "", b""
        self._append = channel.qos.append
        channel.qos.append = self._keep
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
            in_memory: Any = virtual.QoS
            in_memory.append(self._channel.qos, message, tag)

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


def refuse(queue: str, why: str, message: object) -> None:
    """Keep and count what is refused, and say so without its content."""
    why = " ".join(why.split())[:500]
    logger.error("refused on queue %s: %s", queue, why)
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


def _settle(call: Callable[..., Any], *args: Any) -> None:
    try:
        call(*args)
    except Exception as error:
        # The connection that it came by is gone. It may come again, and what it asks for may be
        # done twice.
        logger.warning("a message is not acknowledged: %s", type(error).__name__)


def _finish(target: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Run a task to an end that is acknowledged, whatever breaks around it.

    Celery's thread pool drops the error of a result that cannot be stored. Its message would keep a
    slot of the process for good.
    """
    try:
        return target(*args, **options)
    except Exception as error:
        logger.error("a task ended, but that could not be noted: %s", type(error).__name__)
        return 1, ExceptionInfo(), 0.0
