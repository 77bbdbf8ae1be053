"""The claims about blobs, on a real Redis."""

from tests.unit.common.test_store_blobs import *  # noqa: F403
