"""deploy/redis and deploy/sentinel; tests/integration/deploy runs both."""

import re
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from chargehand.stack import pools

ROOT = Path(__file__).resolve().parents[3]
REDIS, SENTINEL = ROOT / "deploy" / "redis", ROOT / "deploy" / "sentinel"


def _users(**environment: str) -> dict[str, str]:
    """Return the rules of each user that `users.sh` prints."""
    printed = subprocess.run(
        ["sh", str(REDIS / "users.sh")],
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split()[1]: line.split(" ", 2)[2] for line in printed.stdout.splitlines()}


def test_our_user_may_use_every_queue_of_the_shipped_teams_with_its_priorities() -> None:
    rules = _users(REDIS_PASSWORD="one")["chargehand"].split()

    for queue in ("supervisor", *pools.known(())):
        assert {f"~{queue}", f"~{queue}???"} <= set(rules)


def test_our_user_may_not_do_what_is_dangerous_or_use_the_keys_of_others() -> None:
    rules = _users(REDIS_PASSWORD="one")["chargehand"].split()
    commands = [rule for rule in rules if rule[0] in "+-"]

    assert commands == ["+@all", "-@admin", "-@dangerous", "+info"]
    assert not {"~*", "allkeys", "&*", "allchannels", "nopass"} & set(rules)


def test_only_users_with_a_password_are_there_and_it_is_kept_as_a_hash() -> None:
    assert set(_users(REDIS_PASSWORD="one")) == {"default", "chargehand"}

    users = _users(REDIS_PASSWORD="a b$c'd", REDIS_OPERATOR_PASSWORD="two")

    assert users["default"] == "off"
    assert f"#{sha256(b'''a b$c'd''').hexdigest()}" in users["chargehand"].split()
    assert f"#{sha256(b'two').hexdigest()}" in users["operator"].split()
    assert "a b" not in str(users)


def test_without_a_password_for_our_processes_nothing_is_printed() -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        _users()

    assert "REDIS_PASSWORD" in raised.value.stderr
    assert raised.value.stdout == ""


def test_redis_keeps_jobs_over_a_restart_and_evicts_none() -> None:
    text = (REDIS / "redis.conf").read_text(encoding="utf-8")
    given = dict(line.split(" ", 1) for line in text.splitlines() if line and line[0] != "#")

    assert given["appendonly"] == "yes"
    assert given["maxmemory-policy"] == "noeviction"
    assert "requirepass" not in given


def test_the_proxy_looks_for_the_primary_as_a_user_that_there_is() -> None:
    text = (SENTINEL / "haproxy.cfg").read_text(encoding="utf-8")
    user = re.search(r'"AUTH (\w+) %\[env\((\w+)\)\]', text)
    assert user

    users = _users(REDIS_PASSWORD="one", **{user[2]: "three"})

    assert "+info" in users[user[1]].split()


def test_no_password_is_written_down() -> None:
    for file in (*REDIS.iterdir(), *SENTINEL.iterdir()):
        text = file.read_text(encoding="utf-8")
        code = "\n".join(line.split("# ")[0] for line in text.splitlines())
        for value in re.findall(
            r"(?:requirepass|masterauth|auth-pass \w+|sentinel-pass) (\S+)", code
        ):
            assert value.lstrip('"').startswith(("$", "SENTINEL_PASSWORD")), f"{file.name}: {value}"
