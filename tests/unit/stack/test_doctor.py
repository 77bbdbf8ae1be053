from dataclasses import replace
from pathlib import Path

import pytest

from chargehand import doctor
from chargehand.stack import port, redis_server
from chargehand.stack.probe import Facts
from common.errors import LocalStackError
from common.settings import settings

HEALTHY = Facts(version="7.2.4", policy="noeviction", persistent=True, ahead=0.1)


def _levels(facts: Facts) -> list[str]:
    return [check.level for check in doctor.redis_facts(facts)]


def test_a_healthy_redis_is_ok() -> None:
    assert _levels(HEALTHY) == ["ok", "ok", "ok", "ok"]


@pytest.mark.parametrize(
    ("facts", "levels"),
    [
        (replace(HEALTHY, version="6.0.9"), ["missing", "ok", "ok", "ok"]),
        (replace(HEALTHY, policy="allkeys-lru"), ["ok", "warning", "ok", "ok"]),
        (replace(HEALTHY, persistent=False), ["ok", "ok", "warning", "ok"]),
        (replace(HEALTHY, persistent=None), ["ok", "ok", "warning", "ok"]),
        (replace(HEALTHY, ahead=-30), ["ok", "ok", "ok", "warning"]),
    ],
)
def test_each_fault_of_a_redis_is_told_apart(facts: Facts, levels: list[str]) -> None:
    assert _levels(facts) == levels
    assert all(check.remedy for check in doctor.redis_facts(facts) if check.level != "ok")


def test_an_unreachable_redis_is_missing_and_its_password_is_not_shown() -> None:
    checks = doctor.configured_redis(f"redis://:s3cret@127.0.0.1:{port.free()}/0")

    assert [check.level for check in checks] == ["missing"]
    assert "s3cret" not in doctor.render(checks)


@pytest.mark.parametrize(
    ("url", "level"),
    [
        ("redis://10.0.0.7:6379/0", "warning"),
        ("redis://:word@10.0.0.7:6379/0", "ok"),
        ("redis://localhost:6379/0", "ok"),
        ("unix:///run/redis.sock", "ok"),
    ],
)
def test_only_a_distant_redis_needs_a_password(url: str, level: str) -> None:
    assert doctor.password(url).level == level


def test_a_python_that_is_too_old_is_missing() -> None:
    assert doctor.python((3, 10)).level == "missing"
    assert doctor.python((3, 12)).level == "ok"


def test_a_missing_analyser_comes_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.ANALYSERS, "no-such-tool", "no_such_tool")

    check = doctor.analyser("no-such-tool")

    assert (check.level, "chargehand[analysers]" in check.remedy) == ("missing", True)
    assert doctor.analyser("ruff").level == "ok"


def test_a_machine_without_a_redis_program_needs_a_configured_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none() -> Path:
        raise LocalStackError("no Redis server is on this machine")

    monkeypatch.setattr(redis_server, "program", none)

    assert doctor.redis_program(configured=False).level == "missing"
    assert doctor.redis_program(configured=True).level == "warning"


def test_a_wrong_team_is_named_and_the_others_are_still_checked(team_folder: Path) -> None:
    (team_folder.parent / "wrong").mkdir()
    (team_folder.parent / "wrong" / "team.yaml").write_text("plan: 3")

    checks = doctor.team_folders(())

    assert [check.level for check in checks] == ["ok", "missing"]
    assert "wrong/team.yaml" in checks[1].what


def test_an_open_home_is_a_warning_and_a_file_in_its_place_is_missing(home: Path) -> None:
    assert doctor.home(home).level == "ok"

    home.mkdir(mode=0o755)
    assert doctor.home(home).level == "warning"

    home.rmdir()
    home.write_text("")
    assert doctor.home(home).level == "missing"


def test_only_what_is_missing_makes_the_exit_code_1() -> None:
    warning, missing = doctor.Check("warning", "w"), doctor.Check("missing", "m", "do it")

    assert doctor.exit_code([warning]) == 0
    assert doctor.exit_code([warning, missing]) == 1
    assert doctor.render([warning, missing]) == "warning  w\nmissing  m; do it"


def test_every_check_gives_a_line(team_folder: Path) -> None:
    checks = doctor.examine(settings())

    assert {check.level for check in checks} == {"ok"}
    assert len(doctor.render(checks).splitlines()) == len(checks)
