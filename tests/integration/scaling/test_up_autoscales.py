"""`chargehand up --autoscale` grows and shrinks a pool, and loses no step over it."""

import re
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from chargehand.stack import port
from docs.blocks import blocks
from tests.eventually import eventually
from tests.integration.cli.user import User, line_of

FILES = 36
TEAM = """\
description: Looks for what can be attacked, file by file.
final_instruction: Merge what was found.
plan: {by: files, batch_lines: 1}
specialists:
  elastic:
    description: Looks for what can be attacked.
    prompt: prompt.md
    instruction: Examine these lines.
    criterion: Every line was examined.
    tools: [bandit]
"""
PAGE = Path(__file__).resolve().parents[3] / "docs" / "scaling.md"
BOUNDS = ("--max", "3", "--target-wait", "0.5", "--cool-down", "1", "--slots", "1")


@pytest.fixture
def user(tmp_path: Path) -> User:
    """A person with a team whose steps take a while, and files for it."""
    folder = tmp_path / "teams" / "slow"
    folder.mkdir(parents=True)
    (folder / "team.yaml").write_text(TEAM)
    (folder / "prompt.md").write_text("You look for what can be attacked.\n")
    made = User(tmp_path, CHARGEHAND_TEAMS=str(folder))
    for number in range(FILES):
        (made.folder / f"f{number}.py").write_text(f"x = {number}\n")
    return made


@pytest.fixture
def log(user: User) -> Iterator[Path]:
    """The log of a stack whose pools follow their load."""
    file = user.folder.parent / "up.log"
    told = next(b.text for b in blocks(PAGE) if b.text.startswith("chargehand up --autoscale"))
    # What is given last holds.
    options = (*shlex.split(told)[1:], *BOUNDS, "--flower-port", str(port.free()))
    with file.open("w") as stream:
        process = user.start(*options, stdout=stream, stderr=stream)
    try:
        line_of(file, "supervisor", " ready.")
        yield file
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, file.read_text()[-2000:]
        assert user.processes() == []
    finally:
        process.kill()
        process.wait()


def changes(log: Path) -> list[tuple[int, int]]:
    found = re.findall(r"chargehand *\| elastic: (\d+) to (\d+) pods: \S+", log.read_text())
    return [(int(before), int(after)) for before, after in found]


def test_a_pool_follows_its_load_from_nothing_and_back(user: User, log: Path) -> None:
    assert " elastic-" not in log.read_text()

    done = user.run("submit", "slow", "--request", "Look.", "--input", ".", "--wait")

    assert done.returncode == 0, done.stderr
    assert max(after for _, after in changes(log)) == 3
    eventually(lambda: changes(log)[-1][1] == 0 and changes(log), within=15)
    assert sum(after - before for before, after in changes(log)) == 0
    line_of(log, "elastic-1 has left")
    [job] = _jobs(user)
    shown = user.run("show", job).stdout
    # Each at its first try: no pod that left took a step with it.
    assert len(re.findall(r" succeeded +1 ", shown)) == FILES
    pods = set(re.findall(r"elastic +(\S+)", shown))
    assert len(pods) > 1


def _jobs(user: User) -> list[str]:
    listed = user.run("jobs").stdout.splitlines()
    return [line.split()[0] for line in listed[1:]]


def test_bounds_that_make_no_sense_are_refused(user: User) -> None:
    def refused(*options: str) -> str:
        said = user.run("up", *options)
        assert (said.returncode, said.stdout) == (2, "")
        return said.stderr

    assert "--max bounds what --autoscale does" in refused("--max", "3")
    assert "--min 9 is above --max 8" in refused("--autoscale", "--min", "9")
    assert "--max 99 is above 64" in refused("--autoscale", "--max", "99")
    assert "exclude each other" in refused("--autoscale", "--scale", "elastic=2")
