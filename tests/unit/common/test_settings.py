import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from common.errors import InputError
from common.settings import DEFAULT_REDIS_URL, Settings, settings, without_password

SECRET = "hunter2"
URL = f"redis://user:{SECRET}@redis.example:6380/1"


def test_the_environment_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARGEHAND_JOB_TTL", "600")
    first = settings()
    monkeypatch.setenv("CHARGEHAND_JOB_TTL", "700")

    second = settings()

    assert (first.job_ttl, second.job_ttl) == (600, 600)


def test_without_any_setting_redis_is_the_local_one() -> None:
    assert settings().redis() == DEFAULT_REDIS_URL


def test_the_password_is_for_connecting_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARGEHAND_REDIS_URL", URL)

    given = settings()

    assert given.redis() == URL
    for shown in (repr(given), str(given), given.model_dump_json(), repr(given.model_dump())):
        assert SECRET not in shown


WRONG_URLS = [
    f"http://:{SECRET}@redis.example",
    f"redis.example/{SECRET}",
    f"redis://:{SECRET}@[::1",
    # Python's own message about this host repeats the whole of it.
    f"redis://:{SECRET}@redis\u2100example",
]


@pytest.mark.parametrize("url", WRONG_URLS)
def test_the_password_is_in_no_error(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("CHARGEHAND_REDIS_URL", url)

    with pytest.raises(InputError) as refused:
        settings()
    with pytest.raises(ValidationError) as raw:
        Settings()

    assert "CHARGEHAND_REDIS_URL" in str(refused.value)
    assert SECRET not in str(refused.value)
    assert SECRET not in str(raw.value)


def test_a_wrong_scheme_is_named_with_those_that_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARGEHAND_REDIS_URL", f"http://:{SECRET}@redis.example")

    with pytest.raises(InputError) as refused:
        settings()

    assert "scheme 'http'; give redis://, rediss:// or unix://" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("url", ["redis://h", "rediss://h:1/2", "unix:///run/redis.sock"])
def test_the_known_schemes_are_taken(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("CHARGEHAND_REDIS_URL", url)

    assert settings().redis() == url


def test_every_wrong_setting_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARGEHAND_JOB_TTL", "59")
    monkeypatch.setenv("CHARGEHAND_RESULT_LIMIT", "many")

    with pytest.raises(InputError) as refused:
        settings()

    assert "CHARGEHAND_JOB_TTL: " in str(refused.value)
    assert "CHARGEHAND_RESULT_LIMIT: " in str(refused.value)


def test_team_folders_are_separated_like_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARGEHAND_TEAMS", f"/one{os.pathsep}{os.pathsep}/two")

    assert settings().teams == (Path("/one"), Path("/two"))


def test_home_is_below_the_users_state_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")

    assert settings().home == Path("/state/chargehand")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, "redis://user:***@redis.example:6380/1"),
        (f"redis://:{SECRET}@h/0", "redis://:***@h/0"),
        (f"redis://:p@{SECRET}@h/0", "redis://:***@h/0"),
        ("redis://h:6379/0", "redis://h:6379/0"),
        ("redis://user@h/0", "redis://user@h/0"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock?db=1"),
        # The way in which redis-py takes a password for a Unix socket.
        (
            f"unix:///run/redis.sock?db=1&password={SECRET}",
            "unix:///run/redis.sock?db=1&password=***",
        ),
        (f"redis://:{SECRET}@h/0?password={SECRET}", "redis://:***@h/0?password=***"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_password(url) == shown
    assert SECRET not in without_password(url)
