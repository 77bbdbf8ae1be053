"""docker-compose.yml, checked without a container engine; tests/integration/deploy runs it."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from chargehand.stack import pools
from common.settings import Settings
from tests.unit.deploy.conftest import commands
from tests.unit.deploy.shapes import Compose

__all__ = ["commands"]

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: s for name, s in SERVICES.items() if "build" in s}
WORKERS = {name: s for name, s in OURS.items() if s["command"][0] == "worker"}
REQUIRED = re.compile(r"\$\{(\w+):\?[^}]+\}")
OPTIONAL = re.compile(r"\$\{(\w+)-\}")


def test_the_file_has_the_shape_that_compose_expects() -> None:
    Compose.model_validate(COMPOSE)


@pytest.mark.parametrize("service", OURS)
def test_every_service_runs_a_command_that_exists_with_options_that_it_takes(
    service: str, commands: typer.Typer
) -> None:
    ended = CliRunner().invoke(commands, OURS[service]["command"])

    assert ended.exit_code == 0, ended.output or ended.exception


def test_every_queue_of_the_shipped_teams_has_a_service_of_its_name() -> None:
    served = {name: pools.named((), [s["command"][1]]) for name, s in WORKERS.items()}

    assert served == {queue: [queue] for queue in pools.known(())}


def test_every_variable_of_ours_is_a_setting_with_a_value_that_is_allowed() -> None:
    known = {f"CHARGEHAND_{name.upper()}" for name in Settings.model_fields}
    known |= {str(f.validation_alias) for f in Settings.model_fields.values() if f.validation_alias}

    for service in OURS.values():
        assert set(service["environment"]) <= known
        given = {
            name.removeprefix("CHARGEHAND_").lower(): REQUIRED.sub("a:b", value)
            for name, value in service["environment"].items()
            if value is not None and name != "CHARGEHAND_REDIS_URL"
        }
        Settings(**given)


def test_every_process_of_ours_gets_the_url_of_the_redis_in_the_file() -> None:
    for service in OURS.values():
        url = REQUIRED.sub("secret", service["environment"]["CHARGEHAND_REDIS_URL"])
        assert Settings(redis_url=url).redis() == "redis://chargehand:secret@redis:6379/0"
        assert service["depends_on"]["redis"]["condition"] == "service_healthy"


def test_no_secret_is_written_down() -> None:
    secret = re.compile(r"PASSWORD|SECRET|TOKEN|_KEY$|FLOWER_AUTH")
    values = [
        value
        for service in SERVICES.values()
        for name, value in service.get("environment", {}).items()
        if secret.search(name) and value is not None
    ]

    assert values
    assert all(REQUIRED.fullmatch(value) or OPTIONAL.fullmatch(value) for value in values)
    named = REQUIRED.sub("FROM-OUTSIDE", TEXT)
    assert set(re.findall(r"://[^/\s:]*:([^@\s]+)@", named)) == {"FROM-OUTSIDE"}


def test_a_missing_secret_stops_the_start() -> None:
    assert {m[1] for m in REQUIRED.finditer(TEXT)} == {"REDIS_PASSWORD", "CHARGEHAND_FLOWER_AUTH"}
    assert {m[1] for m in OPTIONAL.finditer(TEXT)} == {"REDIS_OPERATOR_PASSWORD"}
    assert "${" not in OPTIONAL.sub("", REQUIRED.sub("", TEXT))


def test_the_key_of_the_model_is_passed_on_when_there_is_one_and_never_empty() -> None:
    # An empty key would count as a key. Without a value Compose passes on what is set, or nothing.
    has_key = {name for name, s in OURS.items() if "ANTHROPIC_API_KEY" in s["environment"]}

    assert has_key == {*WORKERS, "supervisor"}
    assert all(OURS[name]["environment"]["ANTHROPIC_API_KEY"] is None for name in has_key)


def test_nothing_listens_beyond_this_machine() -> None:
    published = {name: s["ports"] for name, s in SERVICES.items() if "ports" in s}

    assert set(published) == {"flower", "prometheus", "grafana"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_flower_asks_for_a_password_and_only_looks() -> None:
    assert REQUIRED.fullmatch(SERVICES["flower"]["environment"]["CHARGEHAND_FLOWER_AUTH"])
    assert "--writable" not in SERVICES["flower"]["command"]


def test_a_process_is_killed_only_after_its_own_grace_has_passed() -> None:
    for service in OURS.values():
        grace = float(service["environment"]["CHARGEHAND_GRACE"])
        assert int(service["stop_grace_period"].removesuffix("s")) >= grace + 10


def test_every_file_that_a_service_is_given_is_there() -> None:
    for config in COMPOSE["configs"].values():
        assert (ROOT / config["file"]).is_file()
    for service in SERVICES.values():
        for volume in service.get("volumes", ()):
            source, _, _ = volume.partition(":")
            assert source in COMPOSE["volumes"] or (ROOT / source).exists(), source
        for config in service.get("configs", ()):
            assert config["source"] in COMPOSE["configs"]


def test_redis_finds_its_files_beside_the_script_that_starts_it() -> None:
    redis = SERVICES["redis"]
    put = {
        config["target"]: Path(COMPOSE["configs"][config["source"]]["file"]).name
        for config in redis["configs"]
    }

    assert redis["command"] == ["sh", "/etc/redis/start.sh"]
    assert put == {
        f"/etc/redis/{name}": name for name in ("redis.conf", "start.sh", "users.acl", "users.sh")
    }
    assert redis["volumes"] == ["redis:/data"]


def test_prometheus_asks_every_process_where_it_answers() -> None:
    file = ROOT / "deploy" / "prometheus" / "prometheus.yml"
    scraped = yaml.safe_load(file.read_text(encoding="utf-8"))["scrape_configs"]
    image = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")

    asked = [found for job in scraped for found in job["dns_sd_configs"]]

    assert {name for found in asked for name in found["names"]} == {*WORKERS, "supervisor"}
    assert {f"CHARGEHAND_METRICS_PORT={found['port']}" for found in asked} <= set(image.split())


def test_watching_is_a_profile() -> None:
    assert {n for n, s in SERVICES.items() if s.get("profiles") == ["monitoring"]} == {
        "prometheus",
        "grafana",
    }


def test_images_are_pinned_to_a_version() -> None:
    for service in SERVICES.values():
        assert re.search(r":v?\d+\.\d+\.\d+", service["image"]), service["image"]
