"""Dashboard and alerts ask for what exists, by labels that it has; alerts lead to help."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from chargehand.cli import app
from common import metrics
from common.contracts import Usage
from common.meters import Meters
from common.store import Load
from common.store.breakers import Breaker
from common.store.overview import Overview
from supervisor.gauges import FAMILIES, samples
from tests.unit.samples import outcome

ROOT = Path(__file__).resolve().parents[3]
DASHBOARD = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text(encoding="utf-8"))
PROMETHEUS = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8"))
RULES = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text(encoding="utf-8"))
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
RUNBOOKS = ROOT / "docs" / "runbooks.md"
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

SELECTOR = re.compile(r"\b((?:chargehand|process)_\w+)(?:\{([^}]*)\})?")
GROUPED = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")
ADDED = {"job", "instance"}
"""Labels that Prometheus adds to everything that it scrapes."""


@pytest.fixture
def exported(meters: Meters) -> dict[str, set[str]]:
    """Every series that a supervisor and a pod serve, with its labels, once each has happened."""
    metrics.waited("security", 1.0)
    metrics.step(outcome(usage=Usage(input_tokens=1, output_tokens=1, cache_read_tokens=1, usd=1)))
    metrics.job("sample", "done", 1.0)
    metrics.reconciled("recover")
    metrics.refused()
    load = Load("security", waiting=1, running=1, slots=1, pods=1, mean=1.0, p95=1.0)
    breakers = {"sample/security": Breaker(failures=1)}
    seen = Overview({"security": load}, {"security": 1.0}, breakers, live=1, pods=1)
    meters.read_when_asked(FAMILIES, lambda: samples(seen))
    page = meters.page("")[0].decode()
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def asked() -> Iterator[tuple[str, str]]:
    for panel in PANELS:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["definition"]
    yield from ((alert["alert"], alert["expr"]) for alert in ALERTS)


@pytest.mark.parametrize(("where", "query"), list(asked()), ids=lambda value: value[:30])
def test_a_query_names_metrics_and_labels_that_exist(
    exported: dict[str, set[str]], where: str, query: str
) -> None:
    named = SELECTOR.findall(query)
    labels = set().union(*(exported[name] for name, _ in named))

    assert named
    for name, selected in named:
        used = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selected))
        assert used <= exported[name] | ADDED, (name, used)
    for group in GROUPED.findall(query):
        assert {label.strip() for label in group.split(",")} - {""} <= labels | ADDED
    assert query.count("(") == query.count(")")


def test_every_metric_of_ours_is_shown(exported: dict[str, set[str]]) -> None:
    shown = {name for _, query in asked() for name, _ in SELECTOR.findall(query)}
    # A histogram is shown by its buckets; its sum and count need no graph of their own.
    ours = {
        n for n in exported if n.startswith("chargehand_") and not n.endswith(("_count", "_sum"))
    }

    assert ours - shown == set()


def test_counters_are_asked_for_as_rates() -> None:
    for where, query in asked():
        for name, _ in SELECTOR.findall(query):
            if name.endswith(("_total", "_bucket")) and "label_values" not in query:
                assert re.search(rf"(rate|increase)\({name}", query), (where, name)


def test_the_dashboard_can_be_imported_anywhere() -> None:
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    sources = {t["datasource"]["uid"] for panel in PANELS for t in panel["targets"]}

    assert len(set(ids)) == len(ids)
    assert sources == {"${datasource}"}
    assert all(panel["title"] and panel["description"] for panel in PANELS)


def test_panels_do_not_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells


def anchors() -> set[str]:
    text = re.sub(r"^```.*?^```$", "", RUNBOOKS.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_an_alert_has_a_runbook(alert: dict[str, Any]) -> None:
    page, _, anchor = alert["annotations"]["runbook"].partition("#")

    assert page == "docs/runbooks.md"
    assert anchor in anchors()
    assert alert["annotations"]["summary"]
    assert alert["labels"]["severity"] in ("critical", "warning")


def test_every_command_of_a_runbook_exists() -> None:
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    text = RUNBOOKS.read_text(encoding="utf-8")
    used = set(re.findall(r"(?:^|`)chargehand (\w+)", text, re.MULTILINE))

    assert used
    assert used <= names


def test_prometheus_finds_every_process_of_the_compose_file() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    there = {
        (service["command"][0], name)
        for name, service in compose["services"].items()
        if service.get("command", [""])[0] in ("supervisor", "worker")
    }

    scraped = {
        (job["job_name"].removeprefix("chargehand-"), name)
        for job in PROMETHEUS["scrape_configs"]
        for found in job["dns_sd_configs"]
        for name in found["names"]
    }

    assert scraped == there
    assert PROMETHEUS["rule_files"] == ["alerts.yml"]
