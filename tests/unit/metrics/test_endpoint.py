"""A process answers over HTTP whatever state Redis is in, and says in one line why it cannot."""

import logging
import socket
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPResponse
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from common import metrics
from common.endpoint import SILENT, Endpoint, Health
from common.errors import StoreUnavailable
from common.glance import Glance
from common.pulse import Pulse
from common.settings import settings
from common.store import PodFacts, Store
from supervisor.gauges import FleetGauges
from tests.unit.samples import FACTS


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def pulse(store: Store) -> Pulse:
    return Pulse(store)


@pytest.fixture(params=["hangs", "is gone"])
def absent_redis(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of a server that takes connections and never says a word, or of none at all."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        if request.param == "is gone":
            server.close()
            yield 1
        else:
            yield server.getsockname()[1]


@pytest.fixture
def served(
    port: int, pulse: Pulse, monkeypatch: pytest.MonkeyPatch, absent_redis: int
) -> Iterator[str]:
    """The address of a supervisor's endpoint whose Redis does not answer."""
    monkeypatch.setattr(metrics, "_meters", None)
    monkeypatch.setenv("CHARGEHAND_METRICS_PORT", str(port))
    monkeypatch.setenv("CHARGEHAND_REDIS_URL", f"redis://127.0.0.1:{absent_redis}/0")
    settings.cache_clear()
    endpoint = Endpoint(pulse, FleetGauges)
    endpoint.start(FACTS)
    yield f"http://127.0.0.1:{port}"
    endpoint.stop()


def get(url: str) -> tuple[int, str]:
    try:
        answer: HTTPResponse
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - the address is ours
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_scrape_is_answered_while_redis_is_away(served: str) -> None:
    status, page = get(f"{served}/metrics")

    assert status == 200
    assert "chargehand_up 0.0" in page
    assert "process_cpu_seconds_total" in page


def test_a_probe_and_an_autoscaler_are_told_while_redis_is_away(served: str, pulse: Pulse) -> None:
    assert get(f"{served}/healthz") == (503, "no pulse for 10 s\n")
    assert get(f"{served}/load/security") == (503, "Redis does not answer\n")


def test_an_unknown_page_names_the_known_ones(served: str) -> None:
    assert get(f"{served}/") == (404, "no such page; there are: /metrics, /healthz, /load/\n")


def test_two_processes_on_one_host_can_share_the_setting(
    served: str,
    pulse: Pulse,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(metrics, "_meters", None)
    second = Endpoint(pulse)

    with caplog.at_level(logging.INFO):
        second.start(FACTS)

    said = caplog.messages[-1].removeprefix("metrics at ")
    assert said != f"{served}/metrics"
    assert get(said)[0] == 200
    second.stop()


def test_what_is_no_http_does_not_end_the_server(served: str) -> None:
    host, _, port = served.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as wrong:
        wrong.sendall(b"\x00\x01 nonsense\r\n\r\n")
        wrong.recv(1000)

    assert get(f"{served}/metrics")[0] == 200


def test_without_a_port_nothing_is_served(pulse: Pulse) -> None:
    before = threading.active_count()

    Endpoint(pulse).start(FACTS)

    assert threading.active_count() == before


def test_without_the_library_the_process_says_what_to_install(
    pulse: Pulse,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("CHARGEHAND_METRICS_PORT", str(port))
    monkeypatch.setattr(metrics, "_meters", None)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "common.meters", raising=False)

    with caplog.at_level(logging.ERROR), pytest.raises(SystemExit):
        Endpoint(pulse).start(FACTS)

    assert [record.getMessage() for record in caplog.records] == [
        "CHARGEHAND_METRICS_PORT is set, but prometheus_client is not installed; "
        "it comes with `pip install 'chargehand[telemetry]'`"
    ]


def test_an_address_that_is_not_ours_is_said_at_once(
    pulse: Pulse,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("CHARGEHAND_METRICS_PORT", "9464")
    monkeypatch.setenv("CHARGEHAND_METRICS_ADDRESS", "192.0.2.1")

    with pytest.raises(SystemExit):
        Endpoint(pulse).start(FACTS)

    assert "set CHARGEHAND_METRICS_ADDRESS" in caplog.text


def test_a_process_is_well_when_its_pulse_beats_and_redis_answers(
    store: Store, pulse: Pulse
) -> None:
    well = Health(pulse, Glance(store.fleet.now))
    lonely = Health(pulse, Glance(_away))

    before = well.answer("").status
    pulse._facts = PodFacts(queues=(), slots=1, version="1")
    pulse._beat()

    assert (before, well.answer("").status) == (503, 200)
    assert lonely.answer("").body == b"Redis does not answer\n"


def test_a_process_whose_pulse_stopped_is_not_well(
    store: Store, pulse: Pulse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulse, "age", lambda: SILENT + 1)

    assert Health(pulse, Glance(store.fleet.now)).answer("").status == 503


def _away() -> float:
    raise StoreUnavailable("Redis does not answer")


def test_a_glance_puts_one_question_at_a_time() -> None:
    asked, go_on = [], threading.Event()

    def question() -> int:
        asked.append(1)
        go_on.wait(5)
        return 7

    glance = Glance(question)
    first, second = glance.get(), glance.get()
    go_on.set()

    assert (first, second) == (None, None)
    assert glance.get() == 7
    assert len(asked) == 1
