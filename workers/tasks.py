"""The workers' one Celery task: parse, do the step, return the reference of its outcome."""

from functools import cache
from typing import Any

from celery.exceptions import Ignore
from celery.signals import worker_shutting_down

from common import names
from common.broker import Broker
from common.endpoint import Endpoint
from common.lifecycle import accompany
from common.settings import settings
from common.store import Store
from common.telemetry import Tracing
from workers.app import app
from workers.pod import Pod

PATIENCE = 300.0
"""Seconds for which a pod waits for a Redis that is away."""


@cache
def pod() -> Pod:
    """Return this process's pod, made when first needed."""
    given = settings()
    return Pod(Store.open(PATIENCE), Broker(app), largest=given.result_limit, grace=given.grace)


@app.task(name=names.WORK)
def work(assignment: dict[str, Any]) -> str:
    """Do a step. A chord's header never raises: what went wrong is an outcome, too."""
    reference = pod().work(assignment)
    if reference is None:
        # Another pod has the step, or the message is none of ours: this delivery is no part.
        raise Ignore
    return reference


@worker_shutting_down.connect
def leave(**_: Any) -> None:
    """Begin to leave when the worker is told to stop."""
    pod().leave()


accompany(app, pod, lambda: Endpoint(pod().pulse), lambda: Tracing("chargehand-worker"))
