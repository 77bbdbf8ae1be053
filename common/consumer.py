"""Celery's consumer and result backend, made to outlive foreign messages and an absent Redis."""

import logging
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from celery.app.trace import ExceptionInfo
from celery.backends.redis import RedisBackend
from celery.exceptions import CPendingDeprecationWarning
from celery.signals import worker_shutting_down
from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown

from common import intake
from common.store.connection import hurry

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGER, LONGEST_PAUSE = 0.5, 0.5, 2.0


class PatientConsumer(Consumer):  # type: ignore[misc]  # Celery is untyped.
    """A consumer that no message ends, and that comes back when Redis does."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        intake.refuse_compressed()
        apply = self.pool.on_apply
        self.pool.on_apply = lambda target, *a, **o: apply(partial(_finish, target), *a, **o)
        # It is about cancelling what runs when the connection is lost, and said at each loss.
        warnings.filterwarnings("ignore", category=CPendingDeprecationWarning)

    def create_task_handler(self, *args: Any, **options: Any) -> Any:
        """Watch each channel, now that all of them are open and nothing was received yet."""
        for channel in self.connection.transport.channels:
            intake.watch(self.app, channel)
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

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Wait before the next try: Redis is there, but too full to be listened to, or the like."""
        name = type(exc).__name__
        logger.warning("no messages: Redis refuses (%s); trying again", name)
        time.sleep(LONGEST_PAUSE)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Let go of a broken connection; what came by it runs on."""
        # Giving messages back over a connection that is gone breaks the worker, or dumps them into
        # a file. Nobody needs it: what runs goes on here, and what is lost is published again.
        for channel in self.connection.transport.channels:
            channel.do_restore = False
        super().on_connection_error_after_connected(exc)


class PatientBackend(RedisBackend):  # type: ignore[misc]  # Celery is untyped.
    """Results that a chord need not wait for: the store knows what its headers came to."""

    def on_chord_part_return(self, request: Any, state: Any, result: Any, **options: Any) -> None:
        """Tell a chord that one of its headers ended; when that fails, the reconciler will."""
        try:
            super().on_chord_part_return(request, state, result, **options)
        except (*self.connection_errors, *self.channel_errors) as error:
            name = type(error).__name__
            logger.warning("the chord of task %s is not told of its end: %s", request.id, name)


def _settle(call: Any, _logger: Any, _errors: Any, **options: Any) -> None:
    """Do what `Message.ack_log_error` and `reject_log_error` do, in one line when it fails."""
    settle = getattr(call.__self__, call.__name__.removesuffix("_log_error"))
    try:
        settle(**options)
    except Exception as error:
        # The connection that it came by is gone. It may come again, and each task may run twice.
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


@worker_shutting_down.connect  # type: ignore[untyped-decorator]  # Celery is untyped.
def _leave(**_: Any) -> None:
    hurry()
