"""The supervisor's Celery app: `celery -A supervisor.app worker -Q supervisor`."""

from common.broker import make_app

app = make_app("supervisor", include=["supervisor.tasks"])

# A submission that came as a message is nowhere else yet, so messages are kept until they are done.
# Every task here may run twice, and none takes long: one that was lost comes back soon.
app.conf.broker_transport_options = {
    "visibility_timeout": 300,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
}
