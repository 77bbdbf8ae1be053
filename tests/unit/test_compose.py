"""The files of a deployment, checked without a container engine."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.testing import CliRunner

from chargehand.cli import app
from chargehand.stack import pools
from common.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: s for name, s in SERVICES.items() if "build" in s}
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
REDIS = (ROOT / "deploy" / "redis" / "redis.conf").read_text(encoding="utf-8")
REQUIRED = re.compile(r"\$\{(\w+):\?[^}]+\}")


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """The command, with nothing behind it that would start a process."""
    for name in ("serve.supervise", "serve.work", "flower.serve"):
        monkeypatch.setattr(f"chargehand.{name}", lambda *_, **__: None)
    return app


@pytest.mark.parametrize("service", OURS)
def test_every_service_runs_a_command_that_exists_with_options_that_it_takes(
    service: str, commands: typer.Typer
) -> None:
    ended = CliRunner().invoke(commands, OURS[service]["command"])

    assert ended.exit_code == 0, ended.output or ended.exception


def test_every_queue_of_the_shipped_teams_has_a_service() -> None:
    served = [
        queue
        for service in OURS.values()
        if service["command"][0] == "worker"
        for queue in pools.named((), service["command"][1:])
    ]

    assert sorted(served) == sorted(pools.known(()))


def test_every_variable_of_ours_is_a_setting() -> None:
    named = set(re.findall(r"\bCHARGEHAND_(\w+)", TEXT + DOCKERFILE))

    assert named
    assert {name.lower() for name in named} <= set(Settings.model_fields)


def test_every_process_of_ours_gets_the_url_of_the_redis_in_the_file() -> None:
    for service in OURS.values():
        url = REQUIRED.sub("secret", service["environment"]["CHARGEHAND_REDIS_URL"])
        assert Settings(redis_url=url).redis() == "redis://:secret@redis:6379/0"
        assert service["depends_on"]["redis"]["condition"] == "service_healthy"


def test_no_secret_is_written_down() -> None:
    text = "\n".join(line.split("#")[0] for line in (TEXT + DOCKERFILE + REDIS).splitlines())
    secret = r"(?i)(?:passw|secret|token|auth|requirepass)\w*[:=]?[ \t]+(\S+)|://[^/\s]*:([^@\s]+)@"

    written = [a or b for a, b in re.findall(secret, REQUIRED.sub("FROM-OUTSIDE", text))]

    assert set(written) == {"FROM-OUTSIDE"}


def test_a_missing_secret_stops_the_start() -> None:
    assert {m[1] for m in REQUIRED.finditer(TEXT)} == {"REDIS_PASSWORD", "FLOWER_BASIC_AUTH"}
    assert "${" not in REQUIRED.sub("", TEXT)


def test_flower_asks_for_a_password_and_listens_on_this_machine_only() -> None:
    flower = SERVICES["flower"]

    assert REQUIRED.fullmatch(flower["environment"]["FLOWER_BASIC_AUTH"])
    assert all(port.startswith("127.0.0.1:") for port in flower["ports"])


def test_redis_is_reached_by_the_other_services_only_and_keeps_its_data() -> None:
    redis = SERVICES["redis"]
    set_to = dict(line.split(" ", 1) for line in REDIS.splitlines() if line and line[0] != "#")

    assert "ports" not in redis
    assert redis["healthcheck"]["test"]
    assert redis["volumes"] == ["redis:/data"]
    assert set_to["dir"] == "/data"
    assert set_to["appendonly"] == "yes"
    assert set_to["maxmemory-policy"] == "noeviction"


def test_redis_reads_its_configuration_and_the_password_from_where_they_are_put() -> None:
    put = {config["target"]: config["source"] for config in SERVICES["redis"]["configs"]}

    assert put[SERVICES["redis"]["command"][1]] == "redis"
    included = re.search(r"^include (\S+)$", REDIS, re.MULTILINE)
    assert included
    assert put[included[1]] == "redis-password"
    assert (ROOT / COMPOSE["configs"]["redis"]["file"]).is_file()


def test_images_are_pinned_to_a_version() -> None:
    based = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)

    for image in [*based, *(service["image"] for service in SERVICES.values())]:
        assert re.search(r":\d+\.\d+\.\d+", image), image


def test_the_image_runs_without_root_from_hashed_packages_and_has_a_health_check() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]

    assert re.search(r"^USER 10001$", last, re.MULTILINE)
    assert re.search(r"^HEALTHCHECK ", last, re.MULTILINE)
    assert "--require-hashes -r requirements.lock" in DOCKERFILE


def test_the_image_holds_every_package_of_the_wheel() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^packages = \[(.*)\]$", project, re.MULTILINE)
    assert listed
    packages = re.findall(r'"(\w+)"', listed[1])

    copied = re.findall(r"^COPY (\w+) \./\1$", DOCKERFILE, re.MULTILINE)

    assert sorted(copied) == sorted(packages)
