"""A real Flower beside a real fleet: who sees it, what it shows, what it keeps, how it ends."""

import json
import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

import pytest

from chargehand.stack import pools, port, record
from common import names
from common.broker import make_app
from tests.eventually import eventually
from tests.fleet import Fleet, team
from tests.integration.cli.user import User, line_of

SECRET = "hunter2"
AUTH = f"ada:{SECRET}"


class Flower:
    """One run of `chargehand flower`, with its log in a file."""

    def __init__(self, fleet: Fleet, folder: Path, *options: str, **environment: str) -> None:
        self.port = port.free()
        self.log = folder / f"flower-{self.port}.log"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("CHARGEHAND_")}
        own = {"CHARGEHAND_REDIS_URL": fleet.url, "CHARGEHAND_HOME": str(folder / "home")}
        command = [sys.executable, "-P", "-m", "chargehand", "flower", "--port", str(self.port)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *options], cwd=folder, env={**kept, **own, **environment}, stderr=log
            )

    def listening(self) -> None:
        """Wait until it says that it listens."""
        eventually(lambda: "Visit me at" in self.told(), within=20)

    def told(self) -> str:
        """Return its log so far, or fail if it has ended."""
        text = self.log.read_text()
        assert self.process.poll() is None or "Visit me at" in text, text
        return text

    def ask(self, path: str, auth: str | None = AUTH, method: str = "GET") -> tuple[int, str]:
        """Return the status and the text of an answer."""
        request = Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        if auth:
            request.add_header("Authorization", f"Basic {b64encode(auth.encode()).decode()}")
        try:
            with urlopen(request, timeout=10) as answer:  # noqa: S310 - an address of ours
                return answer.status, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def tasks(self, job: str) -> dict[str, dict[str, Any]]:
        """Return the known tasks of a job by their ids."""
        status, text = self.ask(f"/api/tasks?search={job}")
        assert status == 200, text
        found: dict[str, dict[str, Any]] = json.loads(text)
        return found

    def end(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.terminate()
        return self.process.wait(5)


@contextmanager
def running(fleet: Fleet, folder: Path, *options: str, **environment: str) -> Iterator[Flower]:
    made = Flower(fleet, folder, *options, **{"CHARGEHAND_FLOWER_AUTH": AUTH, **environment})
    try:
        made.listening()
        yield made
    finally:
        made.process.kill()
        made.process.wait()


def listens(fleet: Fleet, flower: Flower) -> str:
    """Return a job that Flower saw from plan to end; it may have missed the first ones."""

    def seen_whole() -> str | None:
        job = fleet.submit(team({"only": ("succeed", [])}))
        fleet.ended(job)
        known = flower.tasks(job)
        whole = all(known.get(f"{job}.{task}", {}).get("kwargs") for task in ("plan", "only.1"))
        return job if whole else None

    return eventually(seen_whole, within=30, every=0.3)


@pytest.fixture(scope="module")
def flower(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flower]:
    """A Flower that everything is shown to."""
    with running(fleet, tmp_path_factory.mktemp("flower")) as made:
        fleet.ready()
        make_app("tests", url=fleet.url).control.enable_events()
        listens(fleet, made)
        yield made


@pytest.fixture(scope="module")
def job(fleet: Fleet, flower: Flower) -> str:
    """A job of two steps, the second after two tries, that Flower has seen to its end."""
    made = fleet.submit(team({"first": ("succeed", []), "then": ("flaky", ["first"])}))
    fleet.ended(made)

    def seen() -> bool:
        states = {task["name"]: task["state"] for task in flower.tasks(made).values()}
        return states.get(names.AGGREGATE) == "SUCCESS"

    eventually(seen)
    return made


def worker(flower: Flower, queue: str) -> str:
    """Return the name of the worker that takes from a queue."""

    def found() -> str:
        workers = json.loads(flower.ask("/api/workers?refresh=1")[1])
        taking = {n: [q["name"] for q in w.get("active_queues", [])] for n, w in workers.items()}
        return next((name for name, queues in taking.items() if queues == [queue]), "")

    return eventually(found)


@pytest.mark.parametrize("path", ["/", "/tasks", "/broker", "/api/tasks", "/api/workers"])
def test_pages_and_api_are_for_who_knows_the_password(flower: Flower, path: str) -> None:
    statuses = [flower.ask(path, auth)[0] for auth in (None, "ada:wrong", AUTH)]

    assert statuses == [401, 401, 200]


@pytest.mark.parametrize("path", ["/metrics", "/healthcheck"])
def test_probes_and_metrics_need_no_password(flower: Flower, path: str) -> None:
    assert flower.ask(path, None)[0] == 200


def test_the_password_is_on_no_command_line_and_in_no_log(flower: Flower) -> None:
    command = Path("/proc", str(flower.process.pid), "cmdline").read_bytes()

    assert b"flower" in command
    assert SECRET.encode() not in command
    assert SECRET not in flower.told()


def test_reading_is_all_that_it_lets_one_do(fleet: Fleet, flower: Flower) -> None:
    name = worker(flower, "tests")
    alive = [process.poll() for process in fleet.processes]

    tried = [
        f"/api/worker/shutdown/{name}",
        f"/api/worker/pool/grow/{name}?n=1",
        "/api/task/revoke/some-task",
        "/api/task/send-task/chargehand.plan",
    ]
    statuses = {path: flower.ask(path, method="POST")[0] for path in tried}

    assert set(statuses.values()) == {403}, statuses
    assert [process.poll() for process in fleet.processes] == alive


def test_a_step_is_shown_with_its_place_in_the_job(flower: Flower, job: str) -> None:
    tasks = flower.tasks(job)

    step = tasks[f"{job}.then.3"]
    assert (step["name"], step["state"], step["args"]) == (names.WORK, "SUCCESS", "")
    assert step["kwargs"] == (f"job={job} step=then try=3 team=tests specialist=flaky queue=tests")
    assert {f"{job}.first.1", f"{job}.then.1", f"{job}.then.2", f"{job}.plan"} <= set(tasks)


def test_a_label_can_be_searched_as_the_docs_say(flower: Flower, job: str) -> None:
    found = flower.tasks(quote(f"{job} try=2 specialist=flaky name:chargehand.work"))

    assert list(found) == [f"{job}.then.2"]


def test_the_tasks_of_a_job_lead_to_each_other(flower: Flower, job: str) -> None:
    tasks = flower.tasks(job)

    plan, first = tasks[f"{job}.plan"], tasks[f"{job}.first.1"]
    second = tasks[f"{job}.then.1"]
    assert {task["root_id"] for task in tasks.values()} == {f"{job}.plan"}
    assert first["parent_id"] == plan["uuid"]
    # A chord: its last step calls the join, and the join starts what became ready.
    assert tasks[second["parent_id"]]["name"] == names.JOIN
    assert tasks[second["parent_id"]]["parent_id"] == first["uuid"]


def test_supervisor_tasks_say_which_job_and_step_they_are_about(flower: Flower, job: str) -> None:
    told = {name: [] for name in (names.PLAN, names.JOIN, names.AGGREGATE)}
    for task in flower.tasks(job).values():
        if task["name"] in told:
            told[task["name"]].append((task["args"], task["kwargs"]))

    assert set(told[names.JOIN]) == {("", f"job={job} step={s}") for s in ("first", "then")}
    assert told[names.PLAN] == told[names.AGGREGATE] == [("", f"job={job}")]


def test_no_page_shows_the_password_of_redis_or_the_body_of_a_step(
    fleet: Fleet, flower: Flower, job: str
) -> None:
    password = urlsplit(fleet.url).password
    assert password
    paths = ["/", "/broker", "/api/workers?refresh=1", f"/task/{job}.then.3"]
    paths += [f"/worker/{quote(worker(flower, queue))}" for queue in ("tests", "supervisor")]

    shown = {path: flower.ask(path) for path in paths}

    assert {status for status, _ in shown.values()} == {200}
    assert [path for path, (_, text) in shown.items() if password in text] == []
    assert "Behave as the tool" not in "".join(text for _, text in shown.values())


def test_a_restart_keeps_the_tasks_and_may_allow_control(fleet: Fleet, tmp_path: Path) -> None:
    db = ("--db", str(tmp_path / "kept" / "tasks"))
    with running(fleet, tmp_path, *db) as first:
        make_app("tests", url=fleet.url).control.enable_events()
        job = listens(fleet, first)
        assert first.end() == 0

    with running(fleet, tmp_path, *db, "--writable") as second:
        kept = second.tasks(job)
        status, _ = second.ask("/api/task/revoke/some-task", method="POST")

    assert kept[f"{job}.only.1"]["kwargs"].startswith(f"job={job} step=only try=1")
    assert status == 200
    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0


def test_without_a_password_only_this_machine_is_served(fleet: Fleet, tmp_path: Path) -> None:
    refused = Flower(fleet, tmp_path, "--address", "0.0.0.0")  # noqa: S104

    assert refused.process.wait(20) == 2
    [line] = refused.log.read_text().splitlines()
    assert line.startswith("chargehand: without a password Flower does not listen on '0.0.0.0'")
    assert line.endswith("set CHARGEHAND_FLOWER_AUTH to user:password")


def test_on_this_machine_a_password_is_made_and_told_once(fleet: Fleet, tmp_path: Path) -> None:
    with running(fleet, tmp_path, CHARGEHAND_FLOWER_AUTH="") as made:
        [url] = re.findall(r"log in at (\S+)", made.told())
        parts = urlsplit(url)

        status, _ = made.ask("/", f"{parts.username}:{parts.password}")

    assert (status, parts.port) == (200, made.port)


def test_the_stack_tells_its_person_how_to_log_in(tmp_path: Path) -> None:
    user = User(tmp_path)
    none = [part for pool in pools.known(()) for part in ("--scale", f"{pool}=0")]
    log = tmp_path / "up.log"
    with log.open("w") as stream:
        up = user.start("up", *none, "--flower-port", str(port.free()), stderr=stream)
    try:
        url = line_of(log, "Flower:").rpartition(" ")[2]
        line_of(log, "Visit me at")
        recorded = record.running(user.home)
        arguments = [" ".join(process.cmdline()) for process in user.processes()]
    finally:
        up.terminate()
        code = up.wait(20)

    password = urlsplit(url).password
    assert recorded is not None
    assert (recorded.flower_url, code) == (url, 0)
    assert password
    assert any("chargehand flower" in line for line in arguments)
    assert not any(password in line for line in arguments)


def test_neither_its_folder_nor_kubernetes_changes_what_it_does(
    fleet: Fleet, tmp_path: Path
) -> None:
    """The current folder may be a repository under review; a service `flower` sets FLOWER_PORT."""
    (tmp_path / "flowerconfig.py").write_text("raise SystemExit('foreign code has run')\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(0o777)
    foreign = {"FLOWER_PORT": "tcp://10.0.0.1:5555", "FLOWER_READ_ONLY": "false"}

    with running(fleet, tmp_path, **foreign) as made:
        told = made.told()
        status, _ = made.ask("/api/task/revoke/some-task", method="POST")

    assert status == 403
    assert "tasks are forgotten at the end" in told
    assert "foreign code" not in told


def test_sigterm_ends_it_with_0_as_soon_as_it_listens(fleet: Fleet, tmp_path: Path) -> None:
    for _ in range(4):
        with running(fleet, tmp_path) as made:
            assert made.end() == 0


def test_sigterm_ends_it_with_0_while_redis_is_away(fleet: Fleet, tmp_path: Path) -> None:
    nowhere = f"redis://127.0.0.1:{port.free()}/0"

    with running(fleet, tmp_path, CHARGEHAND_REDIS_URL=nowhere) as made:
        assert made.ask("/healthcheck", None)[0] == 200
        assert made.end() == 0
