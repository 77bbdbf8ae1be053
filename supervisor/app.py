"""The supervisor's Celery app: `celery -A supervisor.app worker -Q supervisor`."""

from common.broker import make_app

app = make_app("supervisor", include=["supervisor.tasks"])
