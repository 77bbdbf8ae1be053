"""One child process: started in a session of its own, read line by line, ended for certain."""

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterable
from typing import IO, cast

from chargehand.stack.command import Command
from chargehand.stack.log import MergedLog
from chargehand.stack.tether import tethered

TAIL = 20
LINE = 64 * 1024
DRAIN = 2.0


class Child:
    """A running command. Its own session keeps a terminal's Ctrl-C away from it."""

    def __init__(self, command: Command, log: MergedLog) -> None:
        self.command = command
        self.tail: deque[str] = deque(maxlen=TAIL)
        self._log = log
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            tethered(command.argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **command.env, "PYTHONUNBUFFERED": "1"},
            cwd=command.cwd,
            start_new_session=True,
        )
        self._output = cast(IO[bytes], self._process.stdout)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def lived(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def wait(self, timeout: float | None = None) -> int | None:
        """Return the exit code, or None if it still runs after `timeout` seconds."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def terminate(self) -> None:
        """Ask the process to end; its own children are left to it, for it may need them."""
        self._process.terminate()

    def kill(self) -> None:
        """End the process and everything that it started in its session."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            # Nothing is left to kill; where only a dead leader is left, macOS says EPERM.
            return

    def close(self) -> None:
        """After its end: kill what it left behind, and take in its last lines."""
        self.kill()
        self._reader.join(DRAIN)
        # A process that left the session may hold the pipe open; closing would then block.
        if not self._reader.is_alive():
            self._output.close()

    def stop(self) -> None:
        """Ask it to end, kill it after its grace, and return when it is gone."""
        self.terminate()
        if self.wait(self.command.grace) is None:
            self.kill()
            self.wait()
        self.close()

    def ending(self) -> str:
        """Say how it ended: `ended with code 1` or `was killed by SIGKILL`."""
        code = self._process.returncode
        if code is None or code >= 0:
            return f"ended with code {code}"
        return f"was killed by {signal.Signals(-code).name}"

    def _read(self) -> None:
        for raw in iter(lambda: self._output.readline(LINE), b""):
            line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
            self.tail.append(self._log.write(self.command.name, line))


def last_lines(lines: Iterable[str]) -> str:
    """Return the last lines of an output, indented below the line that speaks of them."""
    return "".join(f"\n    {line}" for line in lines) or "\n    (it printed nothing)"
