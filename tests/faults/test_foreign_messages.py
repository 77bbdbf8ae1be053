"""What is not for us is refused, kept and counted; the process that met it lives on."""

import base64
import io
import json
import pickle
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery

from chargehand.stack import redis_server
from chargehand.stack.log import MergedLog
from common import envelope, names
from common.store.connection import connect
from tests.eventually import eventually
from tests.fleet import Fleet, team

SECRET = "hunter2-hunter2"
QUEUES = ("tests", names.SUPERVISOR_QUEUE)
ASSIGNMENT = {
    "v": 1,
    "job": "abcdefgh1234",
    "step": "a",
    "attempt": 1,
    "team": "tests",
    "specialist": "succeed",
    "tools": ["succeed"],
    "instruction": SECRET,
    "criterion": "None of it is done.",
}
ID = names.task_id("abcdefgh1234", "a", 1)


def encoded(body: object) -> str:
    return base64.b64encode(json.dumps(body).encode()).decode()


def message(task: str = names.WORK, **changes: Any) -> dict[str, Any]:
    """Return a message that would be good, but for the changes."""
    parts: dict[str, Any] = {
        "body": encoded([[], {"assignment": ASSIGNMENT}, {}]),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"task": task, "id": ID, "lang": "py", "eta": None, "ignore_result": True},
        "properties": {
            "correlation_id": ID,
            "delivery_info": {"exchange": "", "routing_key": "tests"},
            "body_encoding": "base64",
            "delivery_tag": "tag",
        },
    }
    for name, value in changes.items():
        if isinstance(value, dict) and name in parts:
            parts[name] = {**parts[name], **value}
        else:
            parts[name.replace("_", "-")] = value
    return parts


def bomb() -> str:
    return base64.b64encode(zlib.compress(b" " * 100_000_000)).decode()


FOREIGN: dict[str, object] = {
    "bytes that are no JSON": b"garbage " + SECRET.encode(),
    "bytes that are no text": bytes(range(256)),
    "a number": 1,
    "a list": [SECRET],
    "an empty object": {},
    "JSON without an end": b"[" * 100_000,
    "headers that are a list": {**message(), "headers": [SECRET]},
    "no properties": {**message(), "properties": {}},
    "an unknown task": message("somebody.elses.task"),
    "a task without a name": message(headers={"task": ["x"]}),
    "a task of Celery's own": message("celery.map"),
    "pickle": message(
        content_type="application/x-python-serialize",
        content_encoding="binary",
        body=base64.b64encode(pickle.dumps(SECRET)).decode(),
    ),
    "YAML": message(content_type="application/x-yaml"),
    "an unknown text encoding": message(content_encoding="utf-99"),
    "an unknown body encoding": message(properties={"body_encoding": "rot13"}),
    "a body that is no base64": message(body=f"!{SECRET}"),
    "a body that is no call": message(body=encoded({"a": SECRET})),
    "a body with too few parts": message(body=encoded([[], {}])),
    "a compressed body": message(body=bomb(), headers={"compression": "application/x-gzip"}),
    "a body that is too large": message(body="A" * (envelope.LARGEST + 4)),
    "a time in the far future": message(headers={"eta": "2999-01-01T00:00:00"}),
    "an id that is no text": message(headers={"id": {"a": 1}}),
    "an id of another step": message(
        headers={"id": "other.a.1"}, properties={"correlation_id": "other.a.1"}
    ),
    "two ids": message(properties={"correlation_id": "another"}),
    "a wrong time limit": message(headers={"timelimit": "x"}),
    "a wrong time of expiry": message(headers={"expires": "x"}),
}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A supervisor and one pod that all messages of this module go to."""
    folder = tmp_path_factory.mktemp("foreign")
    with redis_server.running(folder / "redis", MergedLog(io.StringIO(), ["redis"])) as server:
        made = Fleet(server.url, folder)
        made.supervisor()
        made.pod()
        made.ready()
        yield made
        made.stop()


def push(fleet: Fleet, what: object, *queues: str) -> None:
    item = what if isinstance(what, bytes) else json.dumps(what).encode()
    with connect(fleet.url) as client:
        for queue in queues:
            client.lpush(queue, item)


def refused(fleet: Fleet) -> int:
    return fleet.store.fleet.counters().get("refused", 0)


def logs(fleet: Fleet) -> str:
    return "".join(path.read_text() for path in sorted(fleet.folder.glob("*.log")))


def alive_and_working(fleet: Fleet) -> None:
    job = fleet.submit(team({"a": ("succeed", ())}))
    assert fleet.report(job).state == "complete"
    assert [process.poll() for process in fleet.processes] == [None, None]


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_message_is_refused_kept_and_counted(fleet: Fleet, what: str) -> None:
    before, told = refused(fleet), logs(fleet).count("refused on queue")

    push(fleet, FOREIGN[what], *QUEUES)

    eventually(lambda: refused(fleet) >= before + 2)
    alive_and_working(fleet)
    assert refused(fleet) == before + 2
    kept = fleet.store.fleet.refused()[:2]
    assert {entry["queue"] for entry in kept} == set(QUEUES)
    assert SECRET not in "".join(entry["why"] for entry in kept)
    assert logs(fleet).count("refused on queue") == told + 2
    assert SECRET not in logs(fleet)
    assert "Traceback" not in logs(fleet)


@pytest.mark.parametrize(
    ("assignment", "why"),
    [
        ({**ASSIGNMENT, "v": 99}, "v: Input should be 1"),
        ({k: v for k, v in ASSIGNMENT.items() if k != "criterion"}, "criterion: Field required"),
        (ASSIGNMENT, "no such job or step"),
        ("text", "assignment"),
    ],
)
def test_an_assignment_that_cannot_be_done_is_refused(
    fleet: Fleet, assignment: object, why: str
) -> None:
    before = refused(fleet)

    push(fleet, message(body=encoded([[], {"assignment": assignment}, {}])), "tests")

    eventually(lambda: refused(fleet) >= before + 1)
    assert why in fleet.store.fleet.refused()[0]["why"]
    alive_and_working(fleet)
    assert SECRET not in logs(fleet)


@pytest.mark.parametrize(
    ("task", "kwargs", "why"),
    [
        (names.PLAN, {"job": "nosuchjob"}, "no job 'nosuchjob'"),
        (names.PLAN, {"job": {"a": 1}}, "job: Input should be a valid string"),
        (names.AGGREGATE, {}, "job: Missing required argument"),
        (names.JOIN, {"job": "nosuchjob", "step": "a", "alone": True}, "no job 'nosuchjob'"),
        (names.JOIN, {"step": ["a"]}, "job: Missing required keyword only argument"),
    ],
)
def test_a_wrong_call_of_the_supervisor_is_refused(
    fleet: Fleet, task: str, kwargs: dict[str, Any], why: str
) -> None:
    before = refused(fleet)

    push(fleet, message(task, body=encoded([[], kwargs, {}])), names.SUPERVISOR_QUEUE)

    eventually(lambda: refused(fleet) == before + 1)
    assert why in fleet.store.fleet.refused()[0]["why"]
    alive_and_working(fleet)
    assert "Traceback" not in logs(fleet)


@pytest.mark.parametrize(
    ("job", "options", "why"),
    [
        ({"team": "brief", "request": ""}, {}, "request: String should have at least 1 character"),
        ({"team": "nosuch", "request": "What is it?"}, {}, "no team 'nosuch'"),
        ({"team": "brief", "request": "What is it?"}, {"countdown": 3600}, "headers.eta"),
        ({"team": "brief", "request": "x" * envelope.LARGEST}, {}, "bytes; 8,388,608 are allowed"),
        (
            {"team": "brief", "request": "What is it?"},
            {"compression": "gzip"},
            "headers.compression",
        ),
    ],
)
def test_whoever_submits_a_wrong_job_is_told_in_one_line(
    fleet: Fleet, job: dict[str, Any], options: dict[str, Any], why: str
) -> None:
    before = refused(fleet)
    app = Celery(broker=fleet.url, backend=fleet.url)

    answer = app.send_task(
        names.SUBMIT, kwargs={"job": job}, queue=names.SUPERVISOR_QUEUE, **options
    )
    with pytest.raises(Exception, match=why) as told:
        answer.get(timeout=15)

    app.close()
    assert "\n" not in str(told.value)
    assert "pydantic" not in str(told.value)
    assert refused(fleet) == before + 1


@pytest.mark.parametrize("said", ["[]", "{}", json.dumps(message(properties={"body_encoding": 1}))])
def test_a_foreign_word_on_the_control_channel_ends_no_process(fleet: Fleet, said: str) -> None:
    before = refused(fleet)

    with connect(fleet.url) as client:
        assert client.publish("/0.celery.pidbox", said) == 2

    eventually(lambda: refused(fleet) == before + 2)
    alive_and_working(fleet)
