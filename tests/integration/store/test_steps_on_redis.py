"""The claims about steps, on a real Redis."""

from tests.unit.common.test_store_steps import *  # noqa: F403
