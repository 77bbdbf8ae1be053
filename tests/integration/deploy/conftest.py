from collections.abc import Iterator

import pytest

from tests.eventually import eventually
from tests.integration.deploy.composed import OURS, Composed, composed


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """All services that Compose starts without a profile, each of them healthy."""
    with composed(tmp_path_factory.mktemp("composed")) as made:
        made.redis()
        for name in OURS:
            made.process(name)
        for name in OURS:
            eventually(lambda name=name: made.healthy(name), within=60)
        yield made
