"""A supervisor and a pod as an operator sees them: scraped, probed, traced, and read in a log."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from chargehand.stack import port, redis_server
from chargehand.stack.log import MergedLog
from common.store.connection import connect
from tests.eventually import eventually
from tests.fleet import Fleet, team
from tests.integration.metrics.collector import Collector, collecting

GRAPH = {"a": ("succeed", ()), "b": ("raise", ()), "c": ("succeed", ("a",))}


@dataclass(frozen=True)
class Watched:
    """Processes, where they answer, and what they sent."""

    fleet: Fleet
    supervisor: str
    pod: str
    traces: Collector
    job: str
    """A job that has ended: two results and one failure."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    log = MergedLog(io.StringIO(), ["redis"])
    with collecting() as traces, redis_server.running(folder / "redis", log) as server:
        fleet, ports = Fleet(server.url, folder), (port.free(), port.free())
        shared = {
            "CHARGEHAND_LOG": "json",
            "OTEL_EXPORTER_OTLP_ENDPOINT": traces.url,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            # Celery warns whoever runs it as root before there is a log.
            "PYTHONWARNINGS": "ignore",
        }
        fleet.supervisor(CHARGEHAND_METRICS_PORT=str(ports[0]), **shared)
        fleet.pod(CHARGEHAND_METRICS_PORT=str(ports[1]), **shared)
        fleet.ready()
        job = fleet.submit(team(GRAPH))
        fleet.ended(job)
        addresses = [f"http://127.0.0.1:{number}" for number in ports]
        yield Watched(fleet, *addresses, traces, job)
        fleet.stop()


def get(url: str) -> tuple[int, str]:
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - the address is ours
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def scraped(url: str) -> dict[tuple[str, ...], float]:
    """Return every number of ours, by its name and the values of its labels in order."""
    status, page = get(f"{url}/metrics")
    assert status == 200
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name.startswith("chargehand_")
    }


def test_a_pod_counts_its_steps(watched: Watched) -> None:
    seen = scraped(watched.pod)

    steps = {name[1:]: n for name, n in seen.items() if name[0] == "chargehand_steps_total"}
    assert steps == {
        ("rules", "result", "succeed", "tests"): 2,
        ("rules", "failure", "raise", "tests"): 1,
    }
    assert seen["chargehand_queue_wait_seconds_count", "tests"] == 3
    assert seen["chargehand_step_seconds_count", "succeed"] == 2
    assert seen["chargehand_up",] == 1
    assert ("chargehand_jobs_live",) not in seen


def test_a_supervisor_tells_of_jobs_and_of_the_whole_fleet(watched: Watched) -> None:
    ended = ("chargehand_jobs_total", "partial", "tests")
    # It is counted a moment after those who wait for the job are told.
    eventually(lambda: scraped(watched.supervisor).get(ended) == 1)

    seen = scraped(watched.supervisor)
    assert seen["chargehand_job_seconds_count", "tests"] == 1
    assert seen["chargehand_up",] == 1
    assert seen["chargehand_jobs_live",] == 0
    assert seen["chargehand_pods",] == 2
    assert seen["chargehand_queue_slots", "tests"] == 8
    assert seen["chargehand_queue_pods", "supervisor"] == 1
    assert seen["chargehand_queue_expected_wait_seconds", "tests"] == 0
    assert seen["chargehand_queue_step_seconds_mean", "tests"] >= 0
    assert seen["chargehand_breaker_open", "raise", "tests"] == 0


def test_both_are_well_and_an_autoscaler_reads_a_queue(watched: Watched) -> None:
    assert get(f"{watched.supervisor}/healthz") == (200, "well\n")
    assert get(f"{watched.pod}/healthz") == (200, "well\n")
    status, load = get(f"{watched.supervisor}/load/tests")
    assert (status, json.loads(load)["slots"]) == (200, 8)
    assert get(f"{watched.pod}/load/tests")[0] == 404


def test_a_job_is_one_trace_of_supervisor_and_worker(watched: Watched) -> None:
    def whole() -> bool:
        names = [span.name for span in watched.traces.of(watched.job)]
        # The other phases may be called more than once; each call is a span, and one has effect.
        expected = {"job": 1, "work": 3, "tool succeed": 2}
        assert {name: names.count(name) for name in expected} == expected
        assert {"plan", "dispatch", "join", "aggregate"} <= set(names)
        return True

    eventually(whole)

    spans = watched.traces.of(watched.job)
    ids = {span.id: span for span in spans}
    roots = [span.name for span in spans if not span.parent]
    assert len({span.trace for span in spans}) == 1
    assert roots == ["job"]
    assert all(span.parent in ids for span in spans if span.parent)
    assert {span.service for span in spans} == {"chargehand-supervisor", "chargehand-worker"}
    tools = [span for span in spans if span.name == "tool succeed"]
    assert {ids[span.parent].name for span in tools} == {"work"}


def test_every_line_of_the_log_is_json_and_names_its_job(watched: Watched) -> None:
    files = sorted(Path(watched.fleet.folder).glob("*.log"))
    lines: list[dict[str, Any]] = [
        json.loads(line) for file in files for line in file.read_text().splitlines()
    ]

    broke = [line for line in lines if "broke" in line["message"]]
    assert [(line["job"], line["step"]) for line in broke] == [(watched.job, "b")]
    assert "ZeroDivisionError" in broke[0]["error"]
    assert all({"time", "level", "logger", "message", "pod"} <= set(line) for line in lines)
    password = watched.fleet.url.split(":")[2].split("@")[0]
    assert not any(password in file.read_text() for file in files)


def test_a_scrape_is_answered_while_redis_hangs(watched: Watched) -> None:
    with connect(watched.fleet.url) as client:
        client.client_pause(4500)

    def away() -> bool:
        told = [scraped(url)["chargehand_up",] for url in (watched.supervisor, watched.pod)]
        assert told == [0, 0]
        assert get(f"{watched.pod}/healthz")[0] == 503
        return True

    eventually(away)
    assert ("chargehand_queue_slots", "tests") not in scraped(watched.supervisor)
    eventually(lambda: scraped(watched.supervisor)["chargehand_up",] == 1)


def test_a_process_that_cannot_serve_its_metrics_says_so_and_ends(watched: Watched) -> None:
    environment = {
        "CHARGEHAND_REDIS_URL": watched.fleet.url,
        "CHARGEHAND_METRICS_PORT": "9464",
        "CHARGEHAND_METRICS_ADDRESS": "192.0.2.1",
    }

    ended = subprocess.run(
        [sys.executable, "-m", "chargehand", "worker", "security"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert ended.returncode == 1
    assert ended.stderr.count("metrics cannot be served on 192.0.2.1") == 1
    assert "Traceback" not in ended.stderr


def test_a_collector_that_is_away_holds_nothing_up(watched: Watched) -> None:
    away = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_BSP_SCHEDULE_DELAY": "100"}
    watched.fleet.pod(queue="elsewhere", **away)
    watched.fleet.ready()
    made = team({"a": ("succeed", ())})
    there = made.specialists["succeed"].model_copy(update={"queue": "elsewhere"})
    moved = made.model_copy(update={"specialists": made.specialists | {"succeed": there}})

    report = watched.fleet.report(watched.fleet.submit(moved))

    assert report.state == "complete"


def test_what_was_not_sent_yet_is_sent_at_the_end(watched: Watched) -> None:
    job = watched.fleet.submit(team({"last": ("succeed", ())}))
    watched.fleet.ended(job)

    watched.fleet.stop()

    assert {"job", "plan", "work"} <= {span.name for span in watched.traces.of(job)}
