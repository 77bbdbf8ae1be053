"""What is missing or misconfigured on this machine, in words."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import redis

from chargehand.stack import probe, record, redis_server
from common import teams
from common.errors import LocalStackError, TeamError
from common.settings import Settings, without_password

ANALYSERS = {
    "ruff": "ruff",
    "bandit": "bandit",
    "lizard": "lizard",
    "detect-secrets": "detect_secrets",
}
CLOCK_LIMIT = 2.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and what to do about it unless it is ok."""

    level: Literal["ok", "warning", "missing"]
    what: str
    remedy: str = ""


def examine(given: Settings) -> list[Check]:
    """Return the result of every check."""
    return [
        python(sys.version_info[:2]),
        redis_program(configured=given.redis_url is not None),
        *(configured_redis(given.redis()) if given.redis_url else ()),
        running_stack(given.home),
        git(),
        *map(analyser, ANALYSERS),
        *team_folders(given.teams),
        flower(),
        home(given.home),
    ]


def render(checks: Iterable[Check]) -> str:
    """Return one plain line for each check."""
    return "\n".join(
        f"{check.level:<8} {check.what}{f'; {check.remedy}' if check.remedy else ''}"
        for check in checks
    )


def exit_code(checks: Iterable[Check]) -> int:
    """Return 1 if something is missing, else 0."""
    return int(any(check.level == "missing" for check in checks))


def python(version: tuple[int, int]) -> Check:
    """Check that this Python is one that Chargehand runs on."""
    said = f"Python {version[0]}.{version[1]}"
    if version < (3, 11):
        return Check("missing", said, "Python 3.11 or later is needed")
    return Check("ok", said)


def redis_program(*, configured: bool) -> Check:
    """Check that a Redis server can be started here; who has configured one needs none."""
    try:
        return Check("ok", f"Redis server program: {redis_server.program()}")
    except LocalStackError as error:
        return Check("warning" if configured else "missing", str(error))


def configured_redis(url: str) -> list[Check]:
    """Check the Redis that CHARGEHAND_REDIS_URL names."""
    shown = without_password(url)
    try:
        facts = probe.facts(url)
    except (redis.RedisError, OSError) as error:
        what = f"no Redis answers at {shown} ({probe.said(error)})"
        return [Check("missing", what, "start it, or correct CHARGEHAND_REDIS_URL")]
    return [Check("ok", f"Redis at {shown} answers"), *redis_facts(facts), password(url)]


def redis_facts(facts: probe.Facts) -> Iterator[Check]:
    """Judge what a Redis says of itself."""
    recent = tuple(int(part) for part in facts.version.split(".")[:2]) >= redis_server.OLDEST
    yield (
        Check("ok", f"Redis {facts.version}")
        if recent
        else Check("missing", f"Redis {facts.version} is too old", "6.2 or later is needed")
    )
    yield _policy(facts.policy)
    yield _persistence(facts.persistent)
    yield _clock(facts.ahead)


def _policy(policy: str | None) -> Check:
    if policy == "noeviction":
        return Check("ok", "Redis never evicts keys")
    said = f"Redis has maxmemory-policy {policy or 'unknown'}"
    return Check("warning", said, "set `noeviction`, or jobs can vanish when memory is short")


def _persistence(persistent: bool | None) -> Check:
    if persistent:
        return Check("ok", "Redis keeps its data over a restart")
    said = "Redis does not tell whether it keeps" if persistent is None else "Redis does not keep"
    return Check("warning", f"{said} its data over a restart", "set `appendonly yes`")


def _clock(ahead: float) -> Check:
    if abs(ahead) <= CLOCK_LIMIT:
        return Check("ok", "Redis and this machine have the same time")
    direction = "ahead of" if ahead > 0 else "behind"
    said = f"Redis's clock is {abs(ahead):.0f} s {direction} this machine's"
    return Check("warning", said, "synchronise both with NTP")


def password(url: str) -> Check:
    """Check that a Redis on another machine asks for a password."""
    parts = urlsplit(url)
    if parts.password:
        return Check("ok", "Redis asks for a password")
    if parts.scheme == "unix" or parts.hostname in _LOOPBACK:
        return Check("ok", "Redis has no password, and is on this machine only")
    return Check("warning", "Redis has no password", "set one: who reaches it can run any task")


def running_stack(folder: Path) -> Check:
    """Tell whether a local stack runs."""
    found = record.running(folder)
    if found is None:
        return Check("ok", "no local stack is running (`chargehand up` starts one)")
    return Check("ok", f"a local stack is running (pid {found.pid})")


def git() -> Check:
    """Check that git is at hand."""
    found = shutil.which("git")
    if found is None:
        return Check("missing", "git", "install it: reviews of a repository need it")
    return Check("ok", f"git: {found}")


def analyser(name: str) -> Check:
    """Check that one analyser of the shipped teams is installed."""
    beside = Path(sys.executable).with_name(name)
    if find_spec(ANALYSERS[name]) or os.access(beside, os.X_OK) or shutil.which(name):
        return Check("ok", f"analyser {name}")
    return Check("missing", f"analyser {name}", "pip install 'chargehand[analysers]'")


def team_folders(extra: tuple[Path, ...]) -> list[Check]:
    """Check each team's folder."""
    try:
        folders = teams.folders(extra)
    except TeamError as error:
        return [Check("missing", str(error))]
    return [_team(folder) for folder in folders.values()]


def _team(folder: Path) -> Check:
    try:
        team = teams.load(folder)
    except TeamError as error:
        return Check("missing", str(error))
    return Check("ok", f"team {team.name}: {', '.join(team.specialists)}")


def flower() -> Check:
    """Check that Flower is installed."""
    if find_spec("flower"):
        return Check("ok", "Flower")
    return Check("warning", "Flower is not installed", "pip install 'chargehand[flower]'")


def home(folder: Path) -> Check:
    """Check that the stack's folder can be written, by this user only."""
    said = f"home {folder}"
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return Check("missing", f"{said} cannot be written", "set CHARGEHAND_HOME to another one")
    if nearest is folder and folder.stat().st_uid != os.getuid():
        return Check("missing", f"{said} belongs to another user", "set CHARGEHAND_HOME to yours")
    if nearest is folder and folder.stat().st_mode & 0o077:
        return Check("warning", f"{said} is open to other users", "`chmod 700` it")
    return Check("ok", said)
