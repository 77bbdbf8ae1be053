"""Every window in which a process can die is hit for sure, and the job goes on."""

import os
import signal
import subprocess
import sys

import pytest

from common.contracts import Document, Job
from common.states import StepState
from tests.fleet import Fleet, team

GRAPH = {
    "a": ("succeed", ()),
    "b": ("succeed", ()),
    "c": ("succeed", ("a", "b")),
    "d": ("succeed", ("a",)),
}
SUPERVISOR_POINTS = (
    "planning",
    "planned",
    "dispatch-stored",
    "dispatch-halfway",
    "joining",
    "decided",
    "concluded",
    "aggregating",
    "delivered",
)
POD_POINTS = ("claimed", "worked", "stored")


def whole(fleet: Fleet, job: str) -> None:
    """Check that a job came to its full report, and that each outcome counted once."""
    report = fleet.report(job, within=25)
    assert report.state == "complete", fleet.told(job)
    assert report.text == "c(a=a(), b=b())\n\nd(a=a())", fleet.told(job)
    events = fleet.store.trace.read(job)
    counted = [e.step for e in events if e.event == "outcome"]
    assert sorted(counted) == ["a", "b", "c", "d"], fleet.told(job)
    assert sum(e.event == "delivered" for e in events) == 1
    assert {r.state for r in fleet.store.steps.records(job).values()} == {StepState.SUCCEEDED}


@pytest.mark.parametrize("point", SUPERVISOR_POINTS)
def test_a_job_goes_on_when_its_supervisor_dies(fleet: Fleet, point: str) -> None:
    fleet.pod()
    dying = fleet.supervisor(CHARGEHAND_CRASH=point)
    job = fleet.submit(team(GRAPH))
    assert dying.wait(timeout=20) == -signal.SIGKILL

    fleet.supervisor()

    whole(fleet, job)


@pytest.mark.parametrize("point", POD_POINTS)
def test_a_job_goes_on_when_a_pod_dies(fleet: Fleet, point: str) -> None:
    fleet.supervisor()
    dying = fleet.pod(slots=1, CHARGEHAND_CRASH=point)
    job = fleet.submit(team(GRAPH))
    assert dying.wait(timeout=20) == -signal.SIGKILL

    fleet.pod()

    whole(fleet, job)


def test_a_job_goes_on_when_its_submitter_dies_before_anyone_was_told(fleet: Fleet) -> None:
    document = Document(path="a.md", text="Orders rose to 12 in May 2025.", lines=1)
    job = Job(team="brief", request="What rose in May?", documents=(document,))
    code = (
        "import sys; from chargehand.client import Client; from common.contracts import Job; "
        "Client().submit(Job.model_validate_json(sys.argv[1]))"
    )
    settings = {"CHARGEHAND_REDIS_URL": fleet.url, "CHARGEHAND_CRASH": "submitted"}

    died = subprocess.run(
        [sys.executable, "-c", code, job.model_dump_json()],
        env={**os.environ, **settings},
        check=False,
    )
    fleet.supervisor()
    fleet.pod(queue="gather,analyse,write")

    assert died.returncode == -signal.SIGKILL
    (stored,) = fleet.store.jobs.recent(5)
    assert fleet.report(stored.id, within=25).state == "complete"
