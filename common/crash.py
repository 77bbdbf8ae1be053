"""Points at which a process can be made to die, so that tests hit every window for sure."""

import os
import signal

from common.settings import settings


def point(name: str) -> None:
    """Die here, as by `kill -9`, when the setting `CHARGEHAND_CRASH` has this name."""
    if settings().crash == name:
        os.kill(os.getpid(), signal.SIGKILL)
