import socket
import sys
from pathlib import Path

import pytest

from chargehand.stack import local, pools, port
from common import teams
from common.errors import InputError, LocalStackError


def test_each_queue_of_the_known_teams_gets_one_process(team_folder: Path) -> None:
    what = local.layout(flower_port=5599)

    assert what.pools == {"heavy": 1, "security": 1}
    assert [c.name for c in what.commands] == ["flower", "supervisor", "heavy", "security"]
    assert what.commands[0].argv[-3:] == ("flower", "--port", "5599")
    assert what.commands[3].argv[-4:] == ("worker", "security", "--slots", "20")


def test_no_child_imports_from_the_folder_it_was_started_in(team_folder: Path) -> None:
    starts = {c.argv[:4] for c in local.layout().commands}

    assert starts == {(sys.executable, "-P", "-m", "chargehand")}


def test_a_scaled_pool_has_that_many_processes(team_folder: Path) -> None:
    what = local.layout(["security=3", "heavy=0"], flower_port=None)

    names = ["supervisor", "security-1", "security-2", "security-3"]
    assert [c.name for c in what.commands] == names
    assert what.pools == {"heavy": 0, "security": 3}


def test_redis_stops_last_and_flower_after_the_others(team_folder: Path) -> None:
    flower, supervisor, worker, _ = local.layout().commands
    redis = local.command.redis(Path("redis-server"), Path("redis.conf"))

    assert supervisor.stops == worker.stops < flower.stops < redis.stops


def test_without_flower_the_rest_is_started(
    team_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "find_spec", lambda name: None)

    assert "flower" not in [c.name for c in local.layout().commands]


def test_an_unknown_pool_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="no pool 'secruity'; known are: heavy, security"):
        pools.scaled(("heavy", "security"), ["secruity=3"])


@pytest.mark.parametrize("wish", ["heavy", "heavy=", "heavy=-1", "heavy=65", "heavy=x", "heavy=²"])
def test_a_number_of_processes_out_of_range_is_refused(wish: str) -> None:
    with pytest.raises(InputError, match=r"must be 0\.\.64, as in heavy=3"):
        pools.scaled(("heavy",), [wish])


def test_one_worker_serves_all_queues_of_a_one_shot(team_folder: Path) -> None:
    supervisor, worker = local.one_shot_commands(teams.load(team_folder))

    assert supervisor.argv[-1] == "supervisor"
    assert worker.argv[4:8] == ("worker", "heavy", "security", "--slots")


def test_a_port_in_use_is_refused_with_the_option_that_changes_it() -> None:
    with socket.socket() as taken:
        taken.bind((port.HOST, 0))
        taken.listen()
        number = taken.getsockname()[1]

        with pytest.raises(LocalStackError) as refused:
            port.check_free(number, "--flower-port")

    assert str(refused.value) == f"port {number} is in use; choose another with --flower-port"


@pytest.mark.parametrize("number", [0, 65536, -1])
def test_an_impossible_port_is_refused(number: int) -> None:
    with pytest.raises(InputError, match="choose another with --flower-port"):
        port.check_free(number, "--flower-port")


def test_without_a_stack_a_command_says_how_to_have_one() -> None:
    with pytest.raises(LocalStackError, match="`chargehand up` or set CHARGEHAND_REDIS_URL"):
        local.require()


def test_a_configured_redis_is_used_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARGEHAND_REDIS_URL", "redis://somewhere:6379/1")
    local.settings.cache_clear()

    assert local.connect() == "redis://somewhere:6379/1"
