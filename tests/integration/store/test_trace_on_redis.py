"""The claims about trace, on a real Redis."""

from tests.unit.common.test_store_trace import *  # noqa: F403
