"""What is started, as data: each child process of the local stack is a command."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

# `-P` keeps the current folder off the import path: it may be a repository under review, and
# nothing in it may stand in for one of our modules.
_CHARGEHAND = (sys.executable, "-P", "-m", "chargehand")


@dataclass(frozen=True)
class Command:
    """A named child process; those with a lower `stops` are stopped before the others."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    stops: int = 0
    grace: float = 15.0
    """Seconds from SIGTERM to SIGKILL."""

    def within(self, cwd: Path, env: Mapping[str, str]) -> "Command":
        """Return the same command in this folder, with these variables added."""
        return replace(self, cwd=cwd, env={**self.env, **env})


def supervisor() -> Command:
    """Return the command of a supervisor."""
    return Command("supervisor", (*_CHARGEHAND, "supervisor"))


def worker(name: str, queues: Sequence[str], slots: int) -> Command:
    """Return the command of a worker process that serves these queues."""
    return Command(name, (*_CHARGEHAND, "worker", *queues, "--slots", str(slots)))


def flower(port: int, auth: str) -> Command:
    """Return the command of Flower on this port, for who knows this `user:password`."""
    argv = (*_CHARGEHAND, "flower", "--port", str(port))
    # Everybody on the machine can read a command line; an environment only its owner can.
    return Command("flower", argv, {"CHARGEHAND_FLOWER_AUTH": auth}, stops=1, grace=5.0)


def redis(program: Path, configuration: Path) -> Command:
    """Return the command of a Redis server; it stops last, for all others talk to it."""
    return Command("redis", (str(program), str(configuration)), stops=2, grace=10.0)
