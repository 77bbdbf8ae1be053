"""The workers' Celery app: `celery -A workers.app worker -Q security`."""

from common.broker import make_app

app = make_app("workers", include=["workers.tasks"])

# A step is safe in the store from its dispatch on: a lost message is published again from there, and
# a running step is held by its lease. So no copy of each message is kept in Redis until its end,
# which would cost two round trips a step and deliver steps again that only take long.
app.conf.broker_transport_options = {"ack_emulation": False}
