"""`chargehand up` ends when it is told to, and takes everything with it."""

import signal

import pytest

from chargehand.stack import pools, port
from tests.integration.cli.user import User, line_of


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stack_that_is_stopped_leaves_no_process(user: User, number: signal.Signals) -> None:
    log = user.folder / "up.log"
    none = [part for pool in pools.known(()) for part in ("--scale", f"{pool}=0")]
    options = (*none, "--scale", "style=1", "--flower-port", str(port.free()))
    with log.open("w") as file:
        process = user.start("up", *options, stdout=file, stderr=file)
    for name in ("style", "supervisor"):
        line_of(log, f"{name} ", " ready.")

    process.send_signal(number)

    assert process.wait(20) == 0
    assert user.left() == ([], [])
    assert user.run("jobs").returncode == 3
    said = log.read_text()
    assert "stopping; a second Ctrl-C stops at once" in said
    assert "did not stop in time" not in said
    assert "Traceback" not in said
