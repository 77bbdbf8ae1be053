"""deploy/Dockerfile and the locks that it installs from."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from common.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
LAST = DOCKERFILE.rpartition("\nFROM ")[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = {
    name: (ROOT / f"{name}.lock").read_text(encoding="utf-8")
    for name in ("requirements", "requirements-run", "requirements-build")
}


def _pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([^\s;]+)", LOCKS[name], re.MULTILINE))


def _named(requirements: list[str]) -> set[str]:
    found = {re.split(r"[\s<>=;\[]", each, maxsplit=1)[0].lower() for each in requirements}
    return found - {"chargehand"}


def test_the_image_installs_hashed_packages_and_nothing_to_work_with() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    run = _pins("requirements-run")

    assert "--require-hashes -r requirements-run.lock" in DOCKERFILE
    assert "--require-hashes -r requirements-build.lock" in DOCKERFILE
    assert _named(extras["dev"]) & set(run) == set()
    assert _named(extras["local"]) & set(run) == set()


def test_the_image_has_every_extra_but_the_redis_for_a_persons_machine() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    [all_of] = extras["all"]
    listed = set(re.findall(r"\w+", all_of.partition("[")[2])) - {"local"}
    wanted = _named([r for extra in listed for r in extras[extra]])

    assert wanted | _named(PROJECT["project"]["dependencies"]) <= set(_pins("requirements-run"))


def test_what_is_tested_is_what_the_image_runs() -> None:
    tested = _pins("requirements")

    for name in ("requirements-run", "requirements-build"):
        pins = _pins(name)
        assert pins
        assert {n: v for n, v in pins.items() if tested.get(n, v) != v} == {}
    assert set(_pins("requirements-run")) <= set(tested)


def test_locks_are_hashed_and_name_no_host() -> None:
    for text in LOCKS.values():
        packages = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
        assert all("--hash=sha256:" in package for package in packages)
        assert "://" not in text


def test_the_image_runs_without_root_and_writes_to_tmp_only() -> None:
    assert re.search(r"^USER 10001$", LAST, re.MULTILINE)
    assert re.search(r"^WORKDIR /tmp$", LAST, re.MULTILINE)
    assert {"HOME=/tmp", "CHARGEHAND_HOME=/tmp/chargehand"} <= set(LAST.split())


def test_the_health_check_asks_where_the_process_answers() -> None:
    given = dict(re.findall(r"\bCHARGEHAND_(\w+)=(\S+)", LAST))
    made = Settings(**{name.lower(): value for name, value in given.items()})
    check = re.search(r"^HEALTHCHECK .*?\n +CMD (.*)$", LAST, re.MULTILINE | re.DOTALL)

    assert made.metrics_port
    assert check
    assert "CHARGEHAND_METRICS_PORT" in check[1]
    assert "/healthz" in check[1]


def test_base_images_are_pinned_and_the_same() -> None:
    based = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)

    assert len(based) == 2
    assert len(set(based)) == 1
    assert re.search(r":\d+\.\d+\.\d+-slim", based[0])


def test_the_image_holds_every_package_of_the_wheel() -> None:
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]

    copied = re.findall(r"^COPY (\w+) \./\1$", DOCKERFILE, re.MULTILINE)

    assert sorted(copied) == sorted(packages)


def test_no_process_imports_a_package_that_the_image_lacks() -> None:
    """The tests run with more packages than the image has; here the others cannot be imported."""
    allowed = {_canonical(name) for name in _pins("requirements-run")} | {"chargehand"}
    code = f"""
import sys
from importlib.abc import MetaPathFinder
from importlib.metadata import packages_distributions

allowed = {allowed!r}
missing = {{
    module
    for module, owners in packages_distributions().items()
    if not allowed & {{owner.lower().replace("_", "-").replace(".", "-") for owner in owners}}
}}

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
assert "pytest" in missing
import bandit, chargehand.cli, chargehand.flower, common.endpoint, common.meters, common.otlp
import common.model, detect_secrets, flower.command, lizard, supervisor.app, supervisor.tasks
import kombu.transport.redis, workers.app, workers.tasks, workers.tools, workers.engines.claude
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 0, ended.stderr[-1500:]


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
