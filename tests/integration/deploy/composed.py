"""The services of docker-compose.yml as processes on this machine, without a container engine."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import redis
import yaml

from chargehand.stack import port, redis_server
from tests.eventually import eventually

ROOT = Path(__file__).resolve().parents[3]
REDIS_FILES = ROOT / "deploy" / "redis"
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))[
    "services"
]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
GIVEN = {
    "REDIS_PASSWORD": "composed",
    "REDIS_OPERATOR_PASSWORD": "operating",
    "CHARGEHAND_FLOWER_AUTH": "me:seen",
}
"""What somebody has in the file .env."""
VARIABLE = re.compile(r"\$\{(\w+)(?::?[-?][^}]*)?\}")


@dataclass
class Composed:
    """Running services, the ports that they were given, and where they log."""

    folder: Path
    ports: dict[str, int] = field(default_factory=dict)
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def url(self, user: str = "chargehand", variable: str = "REDIS_PASSWORD") -> str:
        """Return the URL of Redis for one of its users."""
        return f"redis://{user}:{GIVEN[variable]}@127.0.0.1:{self.ports['redis']}/0"

    def operator(self) -> redis.Redis:
        """Return a client that may do everything."""
        url = self.url("operator", "REDIS_OPERATOR_PASSWORD")
        return redis.Redis.from_url(url, decode_responses=True)

    def start(self, name: str, argv: list[str], environment: dict[str, str]) -> None:
        """Start a process with nothing in its environment but this and a PATH."""
        scratch = self.folder / name
        scratch.mkdir(exist_ok=True)
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                argv,
                cwd=scratch,
                env={
                    "PATH": _path(self.folder),
                    "HOME": str(scratch),
                    "TMPDIR": str(scratch),
                    **environment,
                },
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def redis(self, *other: str) -> None:
        """Start Redis as the file says, on a free port and in a folder of the test's."""
        service = SERVICES["redis"]
        put = {config["target"]: config["source"] for config in service["configs"]}
        program, script, *more = service["command"]
        assert script in put
        self.ports["redis"] = port.free()
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        here = ["--port", str(self.ports["redis"]), "--bind", port.HOST, *other]
        environment = {name: resolved(value) for name, value in service["environment"].items()}
        environment["REDIS_DATA"] = str(data)
        self.start(
            "redis", [program, str(REDIS_FILES / Path(script).name), *more, *here], environment
        )
        eventually(lambda: answers(self.operator()), within=20)

    def process(self, name: str) -> None:
        """Start a service of ours as the file says."""
        service = OURS[name]
        self.ports[name] = port.free()
        argv = [*service["command"]]
        if name == "flower":
            kept = self.folder / "flower" / "kept" / "tasks"
            argv = _instead(
                argv, {"--address": port.HOST, "--port": str(self.ports[name]), "--db": str(kept)}
            )
        elif "--slots" in argv:
            argv = _instead(argv, {"--slots": "2"})
        environment = {k: resolved(v) for k, v in service["environment"].items() if v is not None}
        environment["CHARGEHAND_REDIS_URL"] = environment["CHARGEHAND_REDIS_URL"].replace(
            "@redis:6379/", f"@{port.HOST}:{self.ports['redis']}/"
        )
        environment |= {"CHARGEHAND_METRICS_PORT": str(self.ports[name]), "PYTHONPATH": str(ROOT)}
        self.start(name, [str(Path(sys.executable).with_name("chargehand")), *argv], environment)

    def healthy(self, name: str) -> bool:
        """Ask a service what its health check asks."""
        process = self.processes[name]
        assert process.poll() is None, self.said(name)
        path = "healthcheck" if name == "flower" else "healthz"
        try:
            with urlopen(f"http://{port.HOST}:{self.ports[name]}/{path}", timeout=4) as answer:
                return answer.status == 200
        except OSError as error:
            raise AssertionError(f"{name}: {error}: {self.said(name)}") from None

    def said(self, name: str) -> str:
        """Return the end of a service's log."""
        return (self.folder / f"{name}.log").read_text(errors="replace")[-1500:]

    def end_all(self, names: list[str], within: float = 30.0) -> dict[str, int]:
        """Tell services to stop, the last of them when the others have, and return exit codes."""
        for name in names[:-1]:
            self.processes[name].send_signal(signal.SIGTERM)
        codes = {name: self.processes[name].wait(within) for name in names[:-1]}
        self.processes[names[-1]].send_signal(signal.SIGTERM)
        return {**codes, names[-1]: self.processes[names[-1]].wait(within)}


@contextmanager
def composed(folder: Path) -> Iterator[Composed]:
    """Give a place for services, and let none outlive it."""
    made = Composed(folder)
    try:
        yield made
    finally:
        for process in made.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()


def resolved(value: str) -> str:
    """Return a value of the file with its variables put in."""
    return VARIABLE.sub(lambda found: GIVEN.get(found[1], ""), value)


def answers(client: redis.Redis) -> bool:
    """Tell whether Redis takes this user in."""
    try:
        with client:
            return bool(client.ping())
    except redis.RedisError as error:
        raise AssertionError(error) from None


def _instead(argv: list[str], values: dict[str, str]) -> list[str]:
    """Return a command with other values of these options, each of which it must have."""
    for option, value in values.items():
        argv = [*argv[: argv.index(option) + 1], value, *argv[argv.index(option) + 2 :]]
    return argv


def _path(folder: Path) -> str:
    """Return a PATH on which `redis-server` is, wherever it comes from."""
    programs = folder / "bin"
    if not programs.exists():
        programs.mkdir()
        (programs / "redis-server").symlink_to(redis_server.program())
    return os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
