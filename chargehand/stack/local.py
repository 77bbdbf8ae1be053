"""The local stack: composed from the known teams, run as `up` or for one command."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO
from urllib.parse import unquote, urlsplit

from chargehand import flower
from chargehand.stack import command, pools, port, private, probe, record, redis_server
from chargehand.stack.autoscale import Autoscaled, Elastic
from chargehand.stack.background import supervised
from chargehand.stack.command import Command
from chargehand.stack.log import MergedLog
from chargehand.stack.signals import STOPS, handling, held
from chargehand.stack.supervise import Supervision
from common.contracts import Team
from common.errors import LocalStackError
from common.scale import Policy
from common.settings import settings, without_password

FLOWER_PORT = 5555
SLOTS = 20
ONE_SHOT_GRACE = 2.0
SHOWN = {"CHARGEHAND_EVENTS": "1"}
"""Flower is there from the start, and is to see the first tasks, too."""
NO_STACK = "no stack is running; start one with `chargehand up` or set CHARGEHAND_REDIS_URL"


@dataclass(frozen=True)
class Layout:
    """What `up` starts besides Redis."""

    commands: tuple[Command, ...]
    pools: dict[str, int]
    flower_port: int | None
    elastic: Elastic | None = None
    flower_auth: str = field(default_factory=flower.new_auth, repr=False)
    """Who may see Flower, as user:password."""


def layout(
    scale: Iterable[str] = (),
    flower_port: int | None = FLOWER_PORT,
    slots: int = SLOTS,
    policy: Policy | None = None,
) -> Layout:
    """Return one supervisor, the pools of all known teams, and Flower if it is installed.

    With a policy, the pools start with the least number of processes, and follow their load.
    """
    known = pools.known(settings().teams)
    shown = flower_port if find_spec("flower") else None
    given = settings().flower_auth
    auth = given.get_secret_value() if given else flower.new_auth()
    shows = () if shown is None else (command.flower(shown, auth),)
    always = (*shows, command.supervisor())
    if policy is not None:
        sizes = dict.fromkeys(known, policy.least)
        return Layout(always, sizes, shown, Elastic(known, slots, policy), auth)
    sizes = pools.scaled(known, scale)
    return Layout((*always, *_workers(sizes, slots)), sizes, shown, None, auth)


def up(what: Layout, stream: TextIO) -> None:
    """Run the stack until SIGINT or SIGTERM, restarting what dies; its merged log goes to `stream`.

    Returns after a clean stop. A second stack of the same home is refused.
    """
    home = private.folder(settings().home)
    elastic = what.elastic
    names = [c.name for c in what.commands] + (elastic.names() if elastic else [])
    log = MergedLog(stream, ["redis", *names])
    supervision = Autoscaled(log, elastic) if elastic else Supervision(log)
    with ExitStack() as stack:
        stack.enter_context(record.only_one(home))
        if what.flower_port is not None:
            port.check_free(what.flower_port, "--flower-port")
        stack.enter_context(handling(*STOPS, do=lambda _: supervision.request_stop()))
        stack.enter_context(supervision)
        url = _redis(home, log, supervision)
        environment = {**_environment(url), **SHOWN}
        for each in what.commands:
            supervision.add(each.within(home, environment))
        if isinstance(supervision, Autoscaled):
            supervision.begin(url, lambda pod: pod.within(home, environment))
        # The record goes first: nobody is to find a stack that is stopping.
        stack.enter_context(record.recorded(home, _record(what, url)))
        _greet(log, what, url)
        supervision.run()
        log.say("stopping; a second Ctrl-C stops at once")


@contextmanager
def one_shot(
    team: Team, compose: Callable[[Team], Sequence[Command]] | None = None
) -> Iterator[str]:
    """Give the Redis URL of a stack for one command; nothing of it is left afterwards.

    A child that dies ends the context with a LocalStackError that shows its last lines.
    """
    commands = (compose or one_shot_commands)(team)
    with ExitStack() as stack:
        # SIGTERM would end Python without a clean-up; so it unwinds like an exit.
        stack.enter_context(handling(signal.SIGTERM, signal.SIGHUP, do=_exit))
        folder = Path(stack.enter_context(_temporary()))
        stream = stack.enter_context((folder / "log.txt").open("w", encoding="utf-8"))
        log = MergedLog(stream, ["redis", *(c.name for c in commands)])
        supervision = stack.enter_context(Supervision(log, give_up_after=1))
        with held(*STOPS):
            server = redis_server.start(folder / "redis", log, persistent=False)
            supervision.keep(server.child)
        # The scratch folders of the tools go with the rest, even when a child is killed.
        environment = {**_environment(server.url), "TMPDIR": str(folder)}
        for each in commands:
            supervision.add(replace(each.within(folder, environment), grace=ONE_SHOT_GRACE))
        stack.enter_context(supervised(supervision))
        yield server.url


def one_shot_commands(team: Team) -> tuple[Command, ...]:
    """Return a supervisor and one worker process for all queues: the least that starts a team."""
    slots = max(4, 2 * (os.cpu_count() or 1))
    return command.supervisor(), command.worker("worker", pools.of(team), slots)


def connect() -> str | None:
    """Return where commands go: the configured Redis, else a running `up`, else None."""
    if settings().redis_url is not None:
        return settings().redis()
    found = record.running(settings().home)
    return found.redis_url if found else None


def require() -> str:
    """Return where commands go, or say how to have a stack."""
    if url := connect():
        return url
    raise LocalStackError(NO_STACK)


def _workers(sizes: dict[str, int], slots: int) -> Iterator[Command]:
    for pool, size in sizes.items():
        for number in range(1, size + 1):
            yield command.worker(pool if size == 1 else f"{pool}-{number}", [pool], slots)


def _redis(home: Path, log: MergedLog, supervision: Supervision) -> str:
    """Return the URL of the configured Redis, or of one that is started and kept."""
    if settings().redis_url is not None:
        url = settings().redis()
        if password := urlsplit(url).password:
            log.hide(password)
            log.hide(unquote(password))
        if fault := probe.fault(url):
            raise LocalStackError(
                f"CHARGEHAND_REDIS_URL: no Redis answers at {without_password(url)} ({fault}); "
                "start it, correct the URL, or unset it to have one started"
            )
        return url
    server = redis_server.start(home / "redis", log, persistent=True)
    supervision.keep(server.child)
    return server.url


def _environment(url: str) -> dict[str, str]:
    """Return what every child needs; paths are absolute, for its folder is another one."""
    given = settings()
    return {
        "CHARGEHAND_REDIS_URL": url,
        "CHARGEHAND_HOME": str(given.home.resolve()),
        "CHARGEHAND_TEAMS": os.pathsep.join(str(path.resolve()) for path in given.teams),
    }


def _record(what: Layout, url: str) -> record.StackRecord:
    pid = os.getpid()
    return record.StackRecord(
        pid=pid,
        started=record.start_time(pid),
        redis_url=url,
        flower_url=_flower_url(what),
        pools=what.pools,
    )


def _flower_url(what: Layout) -> str | None:
    """Return where Flower is, password included."""
    if what.flower_port is None:
        return None
    return flower.login_url(what.flower_auth, port.HOST, what.flower_port)


def _shown(flower_url: str | None) -> str:
    """Return what is said about Flower; a password that the person gave is known to them."""
    if flower_url is None:
        return "not started; it comes with chargehand[flower]"
    return without_password(flower_url) if settings().flower_auth else flower_url


def _greet(log: MergedLog, what: Layout, url: str) -> None:
    log.say(f"Redis: {without_password(url)}")
    log.say(f"Flower: {_shown(_flower_url(what))}")
    sizes = ", ".join(f"{name} x {size}" for name, size in what.pools.items())
    most = f"; each grows to {what.elastic.policy.most} with its load" if what.elastic else ""
    log.say(f"pools: {sizes}{most}")
    log.say("stop with Ctrl-C")


def _temporary() -> "TemporaryDirectory[str]":
    return TemporaryDirectory(prefix="chargehand-", ignore_cleanup_errors=True)


def _exit(number: int) -> None:
    sys.exit(128 + number)
