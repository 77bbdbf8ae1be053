"""The workers' Celery app: `celery -A workers.app worker -Q security`."""

from common.broker import make_app

app = make_app("workers", include=["workers.tasks"])
