"""Flower in this process: behind a password, read-only unless asked, and with a memory.

It is started without Flower's own command, for two reasons. That command runs the file
`flowerconfig.py` of the current folder, which may be a repository under review. And it ends by an
exception raised wherever SIGTERM finds it: in the midst of starting a thread of a pool, that leaves
a thread that nobody tells to end, and the process waits for it for ever.
"""

import asyncio
import ipaddress
import logging
import os
import secrets
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chargehand.serve import log
from chargehand.stack import private
from common.broker import make_app
from common.errors import InputError, LocalStackError
from common.intake import refuse_compressed
from common.settings import settings, unset

logger = logging.getLogger(__name__)

USER = "chargehand"
STOPS = (signal.SIGTERM, signal.SIGINT)
PREFERRED: Mapping[str, object] = {
    # These take 100 MB, and a fifth of a second to save, in which Flower answers nobody. Its own
    # default is ten times as many.
    "max_tasks": 10_000,
    "state_save_interval": 60_000,
    # A process has its id in its name; those of last week would fill the page.
    "purge_offline_workers": 3_600,
}
"""Options of Flower that its own variables (`FLOWER_MAX_TASKS`) may set otherwise."""


def serve(address: str, port: int, *, db: Path | None = None, writable: bool = False) -> None:
    """Serve Flower until SIGTERM or SIGINT; its tasks are kept in `db` or below the home."""
    log()
    # A worker that does not answer is seen on Flower's first page.
    logging.getLogger("flower.inspector").setLevel(logging.ERROR)
    refuse_compressed()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Before anything else: a signal that comes early stops the loop when it starts.
    for number in STOPS:
        loop.add_signal_handler(number, loop.stop)
    fixed = {"address": address, "port": port, "unix_socket": "", "read_only": not writable}
    web = _application({**fixed, **_memory(db, port)})
    _listen(web, address, port)
    web.start()
    _leave(web)


def new_auth() -> str:
    """Return a `user:password` that nobody knows yet."""
    return f"{USER}:{secrets.token_urlsafe(12)}"


def login_url(credentials: str, address: str, port: int) -> str:
    """Return a URL that logs in when it is opened; it holds the password."""
    user, _, password = credentials.partition(":")
    return f"http://{quote(user, safe='')}:{quote(password, safe='')}@{_host(address)}:{port}"


def is_loopback(address: str) -> bool:
    """Tell whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _memory(db: Path | None, port: int) -> dict[str, object]:
    """Return where tasks are kept; a Flower that was not told where may go without."""
    # The file is a pickle, which may hold any program: nobody else may write in its folder.
    try:
        own = db.absolute().parent if db else private.folder(settings().home) / "flower"
        folder = private.folder(own)
    except LocalStackError as error:
        if db:
            raise
        logger.warning("tasks are forgotten at the end: %s", error)
        return {"persistent": False, "db": ""}
    # Two processes never share a port, and so never a file.
    return {"persistent": True, "db": str(folder / (db.name if db else f"tasks-{port}"))}


def _application(fixed: Mapping[str, object]) -> Any:
    """Return Flower with these options, those of its own variables, and what we prefer."""
    from flower import command  # type: ignore[import-untyped]  # Flower ships no types.
    from flower.app import Flower  # type: ignore[import-untyped]  # Flower ships no types.
    from tornado.options import Error, options

    for name, value in PREFERRED.items():
        setattr(options, name, value)
    # Kubernetes sets one of these, too: for a service named `flower`, FLOWER_PORT is a URL.
    unset(*(f"FLOWER_{name.upper()}" for name in fixed))
    try:
        command.apply_env_options()
    except (ValueError, TypeError, Error) as error:
        raise InputError(f"a variable FLOWER_... in the environment is wrong: {error}") from None
    for name, value in fixed.items():
        setattr(options, name, value)
    _protect(options)
    command.extract_settings()
    return Flower(capp=make_app("flower"), options=options, **command.settings)


def _protect(options: Any) -> None:
    """Have Flower ask for a password; refuse to be reached from elsewhere without one."""
    if given := settings().flower_auth:
        options.basic_auth = [given.get_secret_value()]
    elif options.basic_auth or options.auth:
        return
    elif is_loopback(options.address):
        made = new_auth()
        options.basic_auth = [made]
        # Not logged, for a log holds no password; said to the person who started it.
        sys.stderr.write(f"log in at {login_url(made, options.address, options.port)}\n")
    else:
        raise InputError(
            f"without a password Flower does not listen on {options.address!r}, which others "
            "can reach; set CHARGEHAND_FLOWER_AUTH to user:password"
        )


def _listen(web: Any, address: str, port: int) -> None:
    try:
        web.start_http_server()
    except OSError as error:
        why = error.strerror or error
        raise LocalStackError(f"Flower cannot listen on {address}:{port}: {why}") from None
    scheme = "https" if web.ssl_options else "http"
    logger.info("Visit me at %s://%s:%s", scheme, _host(address), port)


def _leave(web: Any) -> None:
    """Keep the tasks, and end at once: threads that still ask workers are not waited for."""
    try:
        web.stop()
    except Exception as error:
        logger.error("tasks are not kept: %s", error)
    logging.shutdown()
    os._exit(0)
