"""The record of a running `chargehand up`, by which other commands find it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chargehand.stack import private, probe
from common.errors import LocalStackError

FILE, LOCK = "stack.json", "stack.lock"


class StackRecord(BaseModel):
    """Where a running stack is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = 1
    pid: int
    started: int | None
    """When that process started, as the kernel counts it: another one may get the same id."""
    redis_url: str = Field(repr=False)
    """Holds the password: for connecting, never for showing."""
    flower_url: str | None = Field(repr=False)
    """Holds the password: for logging in."""
    pools: dict[str, int]


def start_time(pid: int) -> int | None:
    """Return when a running process started, in ticks since boot; None if that is not known."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field, the program's name in brackets, may itself hold spaces and brackets.
    state, *fields = stat.rpartition(")")[2].split()
    # A zombie has ended; only its parent has not asked for it yet.
    return None if state == "Z" else int(fields[18])


@contextmanager
def only_one(home: Path) -> Iterator[None]:
    """Hold the right to be the one running stack of this home; refuse if another has it."""
    descriptor = os.open(private.folder(home) / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = file.read().strip() or "unknown"
            raise LocalStackError(
                f"a stack is running already (pid {holder}); use it, or stop it first"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


@contextmanager
def recorded(home: Path, record: StackRecord) -> Iterator[None]:
    """Let other commands find the stack for the time of the context."""
    with _writing(home):
        private.write(home / FILE, record.model_dump_json())
    try:
        yield
    finally:
        (home / FILE).unlink(missing_ok=True)


def running(home: Path) -> StackRecord | None:
    """Return the running stack of this home, if there is one; a stale record is removed."""
    if not _ours(home / FILE):
        return None
    with _writing(home):
        record = _read(home / FILE)
        if record is None or not _alive(record):
            (home / FILE).unlink(missing_ok=True)
            return None
    return record if probe.fault(record.redis_url) is None else None


def _ours(file: Path) -> bool:
    """Tell whether the record exists and was written by this user: it says where jobs go."""
    try:
        return file.stat().st_uid == os.getuid()
    except OSError:
        return False


def _read(file: Path) -> StackRecord | None:
    try:
        return StackRecord.model_validate_json(file.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _alive(record: StackRecord) -> bool:
    try:
        os.kill(record.pid, 0)
    except (ProcessLookupError, PermissionError, OverflowError):
        return False
    return start_time(record.pid) == record.started


@contextmanager
def _writing(home: Path) -> Iterator[None]:
    """Keep a new record from being removed by one who has just found the old one stale."""
    descriptor = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
