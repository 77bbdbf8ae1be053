"""Tie a child to its parent's life: when the parent is killed, the kernel kills the child.

Only a process itself can ask the kernel for that (Linux, `PR_SET_PDEATHSIG`). So this file is also
a program that asks and then becomes the command; it takes 8 ms. A `preexec_fn` would do the same
between fork and exec, where Python code can deadlock once there are threads, as here.

The kernel watches the *thread* that started the child: start children in one that stays.
"""

import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1


def tethered(argv: Sequence[str]) -> list[str]:
    """Return a command line that runs `argv` and dies with this process, where that is possible."""
    if sys.platform != "linux":
        return list(argv)
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *argv]


def _become(parent: int, argv: list[str]) -> None:
    try:
        import ctypes
    except ImportError:  # A Python that was built without libffi: the tether is left out.
        pass
    else:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # A parent that died before the request sends no signal any more.
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    try:
        os.execv(argv[0], argv)  # noqa: S606 - the command is given by our own process
    except OSError as error:
        sys.exit(f"{argv[0]} cannot be started: {error.strerror}")


if __name__ == "__main__":
    _become(int(sys.argv[1]), sys.argv[2:])
