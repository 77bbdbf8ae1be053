"""The claims about the fleet, on a real Redis."""

from tests.unit.common.test_store_fleet import *  # noqa: F403
