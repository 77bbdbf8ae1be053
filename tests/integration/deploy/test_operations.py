"""docs/operations.md: what it tells an operator to run is run, and the rest is checked."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest
import redis
import typer

from chargehand.cli import app
from chargehand.stack import redis_server
from docs.blocks import blocks
from tests.eventually import eventually
from tests.integration.deploy.composed import (
    GIVEN,
    OURS,
    ROOT,
    SERVICES,
    Composed,
    answers,
    composed,
)
from tests.integration.docs.test_examples_run import Reader
from tests.unit.deploy.kustomize import build, by_name

PAGE = ROOT / "docs" / "operations.md"
BLOCKS = list(blocks(PAGE))
LINES = [line for block in BLOCKS if block.language == "sh" for line in block.lines()]
MANIFESTS = by_name(
    manifest
    for overlay in ("small", "production")
    for manifest in build(ROOT / "deploy" / "k8s" / "overlays" / overlay)
)


class Operator(Reader):
    """Somebody whose Redis listens on another port than the one in the page."""

    port = 0

    def run(self, line: str, code: int = 0) -> None:
        """Run a line on the Redis of this test."""
        super().run(line.replace("-p 6379", f"-p {self.port}"), code)


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Composed]:
    """A Redis with its users, a supervisor and the pools of the team brief."""
    folder = tmp_path / "services"
    folder.mkdir()
    with composed(folder) as made:
        made.redis()
        for name in ("supervisor", "gather", "analyse", "write"):
            made.process(name)
        yield made


@pytest.fixture
def operator(deployed: Composed, tmp_path: Path) -> Operator:
    """Somebody in a copy of what the page speaks of."""
    folder = tmp_path / "source"
    shutil.copytree(ROOT / "deploy", folder / "deploy")
    shutil.copytree(ROOT / "examples" / "brief", folder / "notes")
    programs = [Path(sys.executable).parent, redis_server.program().parent]
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    made = Operator(
        folder,
        tmp_path,
        {
            "PATH": path,
            "PYTHONPATH": str(ROOT),
            "HOME": str(tmp_path / "home"),
            "CHARGEHAND_REDIS_URL": deployed.url(),
            "REDISCLI_AUTH": GIVEN["REDIS_OPERATOR_PASSWORD"],
            "REDIS_PASSWORD": GIVEN["REDIS_PASSWORD"],
        },
    )
    made.port = deployed.ports["redis"]
    return made


def test_what_the_page_says_can_be_run(operator: Operator, subtests: pytest.Subtests) -> None:
    marked = [block for block in BLOCKS if block.purpose]

    assert {block.purpose for block in marked} == {"run", "serve", "file"}
    for block in marked:
        with subtests.test(block.place):
            operator.read(block)


def test_a_backup_that_was_restored_as_the_page_says_has_the_jobs(tmp_path: Path) -> None:
    with composed(tmp_path) as before:
        before.redis()
        with redis.Redis.from_url(before.url()) as ours, before.operator() as admin:
            ours.set("chargehand:jobs", "all of them")
            began = admin.lastsave()
            # A second must have passed for LASTSAVE to tell.
            eventually(lambda: admin.time()[0] > began.timestamp())
            admin.bgsave()
            eventually(lambda: admin.lastsave() > began)
        before.end_all(["redis"])
        kept = (tmp_path / "data" / "dump.rdb").read_bytes()

    (again := tmp_path / "again").mkdir()
    with composed(again) as after:
        (again / "data").mkdir()
        (again / "data" / "dump.rdb").write_bytes(kept)
        after.redis("--appendonly", "no")
        with after.operator() as admin:
            admin.config_set("appendonly", "yes")
            eventually(lambda: _written(admin))
        after.end_all(["redis"])

        after.redis()

        with redis.Redis.from_url(after.url()) as ours:
            assert ours.get("chargehand:jobs") == b"all of them"
            assert answers(ours)


def _written(admin: redis.Redis) -> bool:
    said = admin.info("persistence")
    assert (said["aof_enabled"], said["aof_rewrite_in_progress"]) == (1, 0), said
    assert said["aof_rewrite_scheduled"] == 0, said
    return True


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("docker compose ")])
def test_lines_for_compose_name_services_that_there_are(line: str) -> None:
    words = [word for word in shlex.split(line)[2:] if not word.startswith("-")]
    words = [word for word in words if word != "monitoring"]
    command, rest = words[0], words[1:]

    assert command in {"up", "ps", "exec", "build", "cp"}
    if command in {"exec", "cp"}:
        assert rest[0].partition(":")[0] in SERVICES


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("kubectl ")])
def test_lines_for_kubectl_name_what_the_manifests_have(line: str) -> None:
    words = shlex.split(line)

    for word in words:
        if word.startswith("deployment/"):
            assert ("Deployment", word.partition("/")[2]) in MANIFESTS
    if "--kustomize" in words:
        assert (ROOT / words[words.index("--kustomize") + 1] / "kustomization.yaml").is_file()
    if "secret" in words:
        _check_secret(words[words.index("generic") + 1], line)


def _check_secret(name: str, line: str) -> None:
    """See that what a line makes is what the manifests ask for."""
    asked = {
        source["key"]
        for manifest in MANIFESTS.values()
        for source in _references(manifest)
        if source.get("name", source.get("secretName")) == name and not source.get("optional")
        if "key" in source
    }
    given = set(re.findall(r"--from-(?:literal|file)=([\w.-]+)", line))
    assert asked <= given
    assert name in str(MANIFESTS)


def _references(value: object) -> Iterator[dict[str, str]]:
    """Yield every reference to a secret, at any depth."""
    if isinstance(value, dict):
        if "secretKeyRef" in value:
            yield value["secretKeyRef"]
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def test_every_command_of_ours_on_the_page_exists() -> None:
    group = typer.main.get_command(app)
    text = PAGE.read_text(encoding="utf-8")

    named = set(re.findall(r"`chargehand ([a-z]+)", text))
    named |= {found[1] for line in LINES if (found := re.match(r"chargehand (\w+)", line))}

    assert {"supervisor", "worker", "doctor", "top"} <= named
    assert named <= set(group.commands)  # type: ignore[attr-defined]


def test_every_file_on_the_page_is_there() -> None:
    for line in LINES:
        for name in re.findall(r"(?:^|\s)((?:deploy/|requirements)[\w./-]+)", line):
            assert (ROOT / name).exists(), name


def test_the_unit_stops_a_worker_as_it_wants_to_be_stopped() -> None:
    block = next(block for block in BLOCKS if block.argument.endswith(".service"))
    unit = ConfigParser(strict=False, interpolation=None)
    unit.read_string(block.text)
    service = unit["Service"]

    program, *command = shlex.split(service["ExecStart"].replace("%i", "security"))
    grace = float(OURS["security"]["environment"]["CHARGEHAND_GRACE"])

    assert Path(program).name == "chargehand"
    assert command == OURS["security"]["command"]
    assert int(service["TimeoutStopSec"]) >= grace + 10
