"""What the README and the guide tell a reader to run is run, on one real stack."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen
from uuid import uuid4

import pytest

from chargehand.stack import pools, port
from docs.blocks import Block, blocks
from tests.eventually import eventually

ROOT = Path(__file__).resolve().parents[3]
README, GUIDE = ROOT / "README.md", ROOT / "docs" / "guide.md"
BLOCKS = [*blocks(README), *blocks(GUIDE)]
READY = re.compile(r" ready\.$|Visit me at", re.MULTILINE)
BESIDES = 3
"""What the stack starts beyond one process for each pool: supervisor, Flower, more `security`."""


@dataclass
class Reader:
    """Somebody who follows the docs in a folder, and remembers the last job's id."""

    folder: Path
    logs: Path
    environment: dict[str, str]
    job: str = ""
    printed: str = ""

    def read(self, block: Block) -> None:
        """Do what a block is for."""
        match block.purpose:
            case "file":
                self.save(block.argument, block.text)
            case "append":
                before = (self.folder / block.argument).read_text(encoding="utf-8")
                self.save(block.argument, before + block.text)
            case "run" if block.language == "python":
                self.type([sys.executable, "-c", block.text])
            case "run":
                for line in block.lines():
                    self.run(line, code=int(block.argument.removeprefix("exit ") or 0))
            case "serve":
                for line in block.lines():
                    with self.served(line):
                        if block.argument:
                            self.run(block.argument)
            case "shown":
                self.compare(block)

    def save(self, name: str, text: str) -> None:
        """Write a file below the folder."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run(self, line: str, code: int = 0) -> None:
        """Run a line of a shell block, without a shell."""
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            self.environment[name] = value.replace("$PWD", str(self.folder))
            return
        given = ""
        *sources, last = line.split(" | ")
        for source in sources:
            given = self.type(shlex.split(source), given)
        self.printed = self.type(shlex.split(re.sub(r"\bID\b", self.job, last)), given, code)
        if last.startswith("chargehand submit") and "--wait" not in last:
            self.job = self.printed.strip()

    def type(self, argv: list[str], given: str = "", code: int = 0) -> str:
        """Run a program and return its output, or fail with all that it said."""
        ended = subprocess.run(
            argv,
            input=given,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        said = f"{argv} gave {ended.returncode}, not {code}: {ended.stderr[-2000:]}"
        assert ended.returncode == code, said
        assert "Traceback" not in ended.stderr, said
        return ended.stdout

    @contextmanager
    def served(self, line: str, *more: str, ready: int = 1) -> Iterator[None]:
        """Run a long-running command for the time of the context, and see it stop cleanly."""
        argv = [*shlex.split(line), *more]
        if argv[0] == "celery":
            # By itself Celery does not say that it is ready.
            argv.append("--loglevel=INFO")
        log = self.logs / f"{uuid4().hex}.log"
        with log.open("w") as stream:
            process = subprocess.Popen(
                argv,
                cwd=self.folder,
                env=self.environment,
                stdout=stream,
                stderr=stream,
            )
        try:
            eventually(lambda: _ready(process, log, ready), within=60)
            if argv[1] == "flower":
                eventually(lambda: _answers(f"http://127.0.0.1:{argv[-1]}/healthcheck"))
            yield
            process.terminate()
            assert process.wait(30) == 0, _last(log)
        finally:
            process.kill()
            process.wait()

    def compare(self, block: Block) -> None:
        """Look for every line of an excerpt in what the command prints, or has just printed."""
        if block.argument:
            self.run(block.argument)
        printed = self.printed.splitlines()
        missing = [line for line in block.lines() if line != "..." and line not in printed]
        assert not missing, self.printed


def _ready(process: "subprocess.Popen[bytes]", log: Path, count: int) -> bool:
    assert process.poll() is None, _last(log)
    assert len(READY.findall(log.read_text())) >= count, _last(log)
    return True


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - a URL of our own
            return answer.status == 200
    except OSError as error:
        raise AssertionError(error) from None


def _last(log: Path) -> str:
    return log.read_text()[-2000:]


@pytest.fixture
def reader(tmp_path: Path, redis_url: str) -> Reader:
    """Somebody with an empty home, in a repository with a change and a folder of notes."""
    home, folder = tmp_path / "home", tmp_path / "repository"
    home.mkdir()
    made = Reader(
        folder,
        home,
        {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "CHARGEHAND_HOME": str(home / "chargehand"),
            "CHARGEHAND_REDIS_URL": redis_url,
            "GIT_CONFIG_GLOBAL": os.devnull,
        },
    )
    example = ROOT / "examples" / "pull_request"
    shutil.copytree(example / "before", folder)
    who = ["-c", "user.name=reader", "-c", "user.email=reader@example.org"]
    made.type(["git", "init", "--quiet", "--initial-branch=main"])
    made.type(["git", "add", "."])
    made.type(["git", *who, "commit", "--quiet", "--message=Sell things"])
    shutil.copytree(example / "after", folder, dirs_exist_ok=True)
    made.save("shop/todo.py", "# TODO: remove this file\n")
    shutil.copytree(ROOT / "examples" / "brief", folder / "notes")
    return made


# Several dozen commands in a row; each has a limit of its own.
@pytest.mark.timeout(300)
def test_what_the_readme_and_the_guide_say_can_be_run(
    reader: Reader, subtests: pytest.Subtests
) -> None:
    up = next(b for b in BLOCKS if b.text.startswith("chargehand up"))
    known = reader.folder / "my-teams"
    # Pools are made for the teams that are known when the stack starts.
    for block in (b for b in BLOCKS if b.purpose == "file"):
        reader.read(block)
    reader.environment["CHARGEHAND_TEAMS"] = str(known)
    more = ("--flower-port", str(port.free()), "--slots", "4")

    with reader.served(up.text, *more, ready=len(pools.known((known,))) + BESIDES):
        for block in (b for b in BLOCKS if b.purpose not in ("", "file") and b is not up):
            with subtests.test(block.place):
                reader.read(block)
