"""The commands of docker-compose.yml, run as processes: Redis with its users, and all services."""

import json
import re
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import redis
from celery import Celery

from chargehand.cli.review import example
from chargehand.client import Client
from chargehand.stack import pools, probe
from common.contracts import Document, Job
from common.states import JobState
from tests.integration.deploy.composed import OURS, ROOT, Composed

DANGEROUS = {
    "FLUSHALL": (),
    "FLUSHDB": (),
    "KEYS": ("*",),
    "CONFIG": ("GET", "*"),
    "SHUTDOWN": ("NOSAVE",),
    "MONITOR": (),
    "ACL": ("LIST",),
    "REPLICAOF": ("NO", "ONE"),
    "SAVE": (),
    "SWAPDB": ("0", "1"),
    "MIGRATE": ("127.0.0.1", "1", "chargehand:jobs", "0", "1"),
}
FOREIGN = ("session:42", "celery", "other:security", "securityx")
"""Keys of others in the same Redis."""
TRIED = {*FOREIGN, "news", *(name.lower() for name in DANGEROUS)}
"""What tests of this file try."""
ASKED_IN_VAIN = re.compile(r"client|config|config\|get")
"""What our processes try and can do without: naming the client, and a question of the doctor."""


@pytest.fixture
def client(services: Composed) -> Client:
    """A client of the deployment, with the rights of every process."""
    return Client(services.url())


def test_a_review_runs_through_the_pools_of_the_file(services: Composed, client: Client) -> None:
    ended = client.wait(client.submit(example()), within=60)

    assert ended.state is JobState.DONE
    assert ended.report is not None
    assert len(ended.report.findings) > 5


def test_a_brief_that_a_foreign_service_sent_by_name_runs_through_them_too(
    services: Composed, client: Client
) -> None:
    url = services.url()
    text = "The outage of 14 May cost 12,400 EUR.\n"
    job = Job(
        team="brief",
        request="Which outage cost the most?",
        documents=(Document(path="a.md", text=text, lines=1),),
        idempotency_key="once",
    )

    with Celery(broker=url, backend=url) as app:
        sent = app.send_task(
            "chargehand.submit", kwargs={"job": job.model_dump(mode="json")}, queue="supervisor"
        )
        job_id = sent.get(timeout=30)

    assert client.wait(job_id, within=30).state is JobState.DONE


def test_each_process_serves_its_metrics_and_a_supervisor_those_that_scale_the_pools(
    services: Composed,
) -> None:
    asked = {name: _get(services, name, "metrics") for name in OURS if name != "flower"}
    scaling = (ROOT / "deploy" / "k8s" / "templates" / "keda.yaml").read_text(encoding="utf-8")
    needed = set(re.findall(r"\bchargehand_\w+", scaling))

    assert all("chargehand_up 1.0" in page for page in asked.values())
    assert needed
    assert {name for name in needed if f"\n{name}" not in asked["supervisor"]} == set()


@pytest.mark.parametrize("queue", pools.known(()))
def test_a_supervisor_tells_the_load_that_the_metrics_api_trigger_reads(
    services: Composed, queue: str
) -> None:
    template = ROOT / "deploy" / "k8s" / "templates" / "keda-metrics-api.yaml"
    read = re.findall(r"valueLocation: (\w+)", template.read_text(encoding="utf-8"))

    load = json.loads(_get(services, "supervisor", f"load/{queue}"))

    assert {type(load[name]) for name in read} <= {int, float}


def test_flower_asks_for_the_password(services: Composed) -> None:
    with pytest.raises(HTTPError, match="401"):
        _get(services, "flower", "workers")


@pytest.mark.parametrize("command", DANGEROUS)
def test_redis_refuses_our_processes_what_is_dangerous(services: Composed, command: str) -> None:
    with (
        redis.Redis.from_url(services.url()) as ours,
        pytest.raises(redis.exceptions.NoPermissionError),
    ):
        ours.execute_command(command, *DANGEROUS[command])


@pytest.mark.parametrize("key", FOREIGN)
def test_redis_refuses_our_processes_the_keys_of_others(services: Composed, key: str) -> None:
    with redis.Redis.from_url(services.url()) as ours:
        for ask in (ours.get, ours.lpop, ours.delete):
            with pytest.raises(redis.exceptions.NoPermissionError):
                ask(key)


def test_redis_refuses_our_processes_the_channels_of_others(services: Composed) -> None:
    with (
        redis.Redis.from_url(services.url()) as ours,
        pytest.raises(redis.exceptions.NoPermissionError),
    ):
        ours.publish("news", "none")


def test_redis_lets_nobody_in_without_a_known_name_and_its_password(services: Composed) -> None:
    place = f"127.0.0.1:{services.ports['redis']}/0"

    for who in ("", ":composed@", "chargehand:guessed@", "operator:composed@"):
        assert probe.fault(f"redis://{who}{place}") is not None


def test_redis_does_not_refuse_anything_that_our_processes_need(services: Composed) -> None:
    # Remote control, for it has keys and channels of its own that no job uses.
    with Celery(broker=services.url(), backend=services.url()) as app:
        assert len(app.control.ping(timeout=3)) == len(OURS) - 1

    with services.operator() as operator:
        refused = {
            entry["object"]
            for entry in operator.acl_log()
            if entry["client-info"]["user"] == "chargehand" and entry["object"] not in TRIED
        }

    assert {what for what in refused if not ASKED_IN_VAIN.fullmatch(what)} == set()


def test_each_service_ends_with_0_when_it_is_told_to_stop(services: Composed) -> None:
    # Last of all: after this nothing runs. Redis goes last, for the others talk to it.
    codes = services.end_all([*OURS, "redis"])

    assert codes == dict.fromkeys([*OURS, "redis"], 0)
    assert not (services.folder / "data" / "dump.rdb").exists()
    assert list((services.folder / "data").glob("appendonly*"))


def _get(services: Composed, name: str, path: str) -> str:
    with urlopen(f"http://127.0.0.1:{services.ports[name]}/{path}", timeout=10) as answer:
        text: str = answer.read().decode()
    return text
