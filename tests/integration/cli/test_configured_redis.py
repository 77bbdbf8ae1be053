"""Commands and processes on a Redis of one's own, as in a deployment."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from chargehand.stack import port
from tests.integration.cli.user import ROOT, User, line_of

Start = Callable[..., Path]


@pytest.fixture
def started(user: User) -> Iterator[Start]:
    """Start processes of a deployment; each call returns the log of one."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(*command: str, name: str, url: str) -> Path:
        log = user.folder.parent / f"{name}.log"
        environment = {**user.environment, "CHARGEHAND_REDIS_URL": url}
        with log.open("w") as file:
            processes.append(
                subprocess.Popen(command, cwd=ROOT, env=environment, stdout=file, stderr=file)
            )
        return log

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_plain_celery_workers_do_a_job(
    user: User, started: Start, redis_url: str, real_redis: redis.Redis
) -> None:
    user.plant()
    celery = (sys.executable, "-m", "celery", "-A")
    logs = [
        started(*celery, f"{app}.app", "worker", "-Q", queue, "-n", name, name=queue, url=redis_url)
        for app, queue, name in (
            ("supervisor", "supervisor", "boss@%h"),
            ("workers", "security", "guard@%h"),
        )
    ]
    user.environment["CHARGEHAND_REDIS_URL"] = redis_url

    done = user.run("review", "--base", "main", "--lens", "security", "--format", "json")

    assert done.returncode == 1, "\n".join(log.read_text() for log in logs)
    assert [f["category"] for f in json.loads(done.stdout)["findings"]] == ["sql-injection"]


@pytest.mark.parametrize("command", [["jobs"], ["review", "."], ["up"], ["doctor"]])
def test_a_wrong_password_is_told_and_not_shown(
    user: User, redis_url: str, command: list[str]
) -> None:
    (user.folder / "a.py").write_text("x = 1\n")
    right = urlsplit(redis_url).password or ""
    user.environment["CHARGEHAND_REDIS_URL"] = redis_url.replace(right, "wr0ng")

    done = user.run(*command)

    said = done.stdout + done.stderr
    assert done.returncode == (1 if command == ["doctor"] else 3)
    assert "it asks for a password, or for another one" in said
    assert "wr0ng" not in said
    assert right not in said
    assert done.stderr.count("\n") <= 1


@pytest.mark.parametrize("command", [["worker", "style"], ["supervisor"]])
def test_a_process_keeps_trying_for_a_redis_that_is_away_and_says_so(
    started: Start, command: list[str]
) -> None:
    url = f"redis://:s3cret@127.0.0.1:{port.free()}/0"

    log = started(sys.executable, "-P", "-m", "chargehand", *command, name="process", url=url)

    line_of(log, "Redis", "is away", "waiting for it")
    assert "s3cret" not in log.read_text()
    assert "Traceback" not in log.read_text()
