"""The workers' Celery app: `celery -A workers.app worker -Q security`."""

from common.broker import make_app

app = make_app("workers", include=["workers.tasks"])

# A step is safe in the store once it is dispatched: from there a lost message is published again,
# and a running step has its lease. So no copy of a message is kept in Redis until it is done: that
# would cost two round trips a step, and deliver steps again that only take long.
app.conf.broker_transport_options = {"ack_emulation": False}
