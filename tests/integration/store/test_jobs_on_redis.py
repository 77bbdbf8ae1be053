"""The claims about jobs, on a real Redis."""

from tests.unit.common.test_store_jobs import *  # noqa: F403
