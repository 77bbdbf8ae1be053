"""The Redis that a command works on: one that answers, or one line that says why it does not."""

from collections.abc import Iterator
from contextlib import contextmanager

from chargehand.cli.output import Told
from chargehand.client import Client
from chargehand.stack import local, pools, probe
from common.contracts import Team
from common.errors import StoreUnavailable
from common.settings import settings, without_password


def client() -> Client:
    """Return a client of the running stack, or say how to have one."""
    return _client(local.require())


@contextmanager
def stack(team: Team) -> Iterator[Client]:
    """Give a client of the running stack, or of one for this context alone."""
    url = local.connect()
    if url is not None:
        yield _client(url)
        return
    # A worker looks at all teams; a fault in any of them is told here, before one starts.
    pools.known(settings().teams)
    Told().print("no stack is running: starting one for this job")
    with local.one_shot(team) as own:
        yield Client(own, settings().teams)


def _client(url: str) -> Client:
    # Asked once and at once: a client is patient with a Redis that is away.
    if fault := probe.fault(url):
        raise StoreUnavailable(
            f"no Redis answers at {without_password(url)} ({fault}); "
            "start it, or correct CHARGEHAND_REDIS_URL"
        )
    return Client(url, settings().teams)
