"""Who gets to see Flower, and what is told of the password."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from chargehand import flower
from chargehand.stack import command, local, record
from common.errors import InputError
from common.settings import settings

SECRET = "hunter2"
AUTH = f"ada:{SECRET}"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARGEHAND_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CHARGEHAND_FLOWER_AUTH", raising=False)
    settings.cache_clear()
    return tmp_path / "home"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_only_this_machine_reaches_a_loopback_address(address: str) -> None:
    assert flower.is_loopback(address)


@pytest.mark.parametrize("address", ["", "0.0.0.0", "::", "10.0.0.1", "flower.example"])  # noqa: S104
def test_others_may_reach_any_other_address(address: str) -> None:
    assert not flower.is_loopback(address)


def test_a_made_password_is_new_each_time_and_fits_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = flower.new_auth(), flower.new_auth()

    monkeypatch.setenv("CHARGEHAND_FLOWER_AUTH", first)
    given = settings().flower_auth
    assert first != second
    assert len(first.partition(":")[2]) >= 16
    assert given is not None
    assert given.get_secret_value() == first


def test_the_login_url_carries_any_password_unharmed() -> None:
    parts = urlsplit(flower.login_url("ada:a@b:c/d?#%", "::1", 5555))

    assert (parts.hostname, parts.port, parts.path) == ("::1", 5555, "")
    assert (parts.username, unquote(parts.password or "")) == ("ada", "a@b:c/d?#%")


@pytest.mark.parametrize("wrong", [SECRET, f":{SECRET}", f"{SECRET}:", f"a b:{SECRET}", "a:é"])
def test_a_login_that_no_browser_could_send_is_refused_without_being_shown(
    monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv("CHARGEHAND_FLOWER_AUTH", wrong)

    with pytest.raises(InputError, match="CHARGEHAND_FLOWER_AUTH: give user:password") as refused:
        settings()

    assert wrong not in str(refused.value)


def test_the_password_is_in_the_environment_of_flower_and_not_on_its_command_line() -> None:
    made = command.flower(5599, AUTH)

    assert made.env == {"CHARGEHAND_FLOWER_AUTH": AUTH}
    assert SECRET not in repr(made)
    assert SECRET not in " ".join(made.argv)


def test_the_stack_makes_a_password_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    made = local.layout()
    monkeypatch.setenv("CHARGEHAND_FLOWER_AUTH", AUTH)
    settings.cache_clear()
    given = local.layout()

    assert made.flower_auth.startswith("chargehand:")
    assert made.commands[0].env == {"CHARGEHAND_FLOWER_AUTH": made.flower_auth}
    assert given.flower_auth == AUTH
    assert SECRET not in repr(given)


def test_the_record_of_a_stack_does_not_show_the_password() -> None:
    url = flower.login_url(AUTH, "127.0.0.1", 5555)

    made = record.StackRecord(pid=1, started=1, redis_url="redis://", flower_url=url, pools={})

    assert made.flower_url == url
    assert SECRET not in repr(made)
