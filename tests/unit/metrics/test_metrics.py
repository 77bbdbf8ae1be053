"""What happens to steps and jobs is counted, once, under labels of which there are few."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from common import metrics
from common.contracts import Failure, Result, Usage
from common.errors import PlanError
from common.meters import MOST, Meters
from common.store import Decision, Store
from supervisor import plan
from supervisor.aggregate import aggregate
from supervisor.office import Office
from supervisor.reconcile import reconcile
from supervisor.start import start
from tests.unit.samples import (
    JOB,
    assignment,
    begun,
    claim,
    job,
    outcome,
    routed,
    started,
    step,
    team,
)
from tests.unit.samples import plan as sample_plan
from workers import tools
from workers.pod import Pod

STEP = {"team": "sample", "specialist": "security", "engine": "rules"}


@pytest.fixture
def broker() -> Any:
    """Stands in for the broker: nothing is taken from it."""
    return SimpleNamespace(publish=lambda *_: None, publish_chord=lambda *_: None)


@pytest.fixture
def pod(store: Store, broker: Any) -> Pod:
    return Pod(store, broker, largest=1_000_000, grace=60.0)


@pytest.fixture
def office(store: Store, broker: Any) -> Office:
    return Office(store, broker)


def lend(monkeypatch: pytest.MonkeyPatch, does: Any) -> None:
    known = {"ruff": tools.Tool("ruff", "Does a thing.", does, True)}
    monkeypatch.setattr(tools, "known", lambda: known)


def queued(store: Store) -> dict[str, Any]:
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))
    return assignment("one", tools=["ruff"]).model_dump(mode="json")


def value(meters: Meters, name: str, **labels: str) -> float | None:
    return meters.registry.get_sample_value(name, labels)


def test_a_step_is_counted_with_its_wait_and_its_time(
    meters: Meters, pod: Pod, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lend(monkeypatch, lambda _: Result(text="Done."))

    pod.work(queued(store))

    assert value(meters, "chargehand_steps_total", outcome="result", **STEP) == 1
    assert value(meters, "chargehand_queue_wait_seconds_count", queue="security") == 1
    assert value(meters, "chargehand_step_seconds_count", specialist="security") == 1


def test_a_step_that_breaks_is_counted_as_a_failure(
    meters: Meters, pod: Pod, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lend(monkeypatch, lambda _: 1 / 0)

    pod.work(queued(store))

    assert value(meters, "chargehand_steps_total", outcome="failure", **STEP) == 1


def test_an_outcome_that_does_not_count_is_not_counted(
    meters: Meters, pod: Pod, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped_meanwhile(_: Any) -> Result:
        store.jobs.stop(JOB, "cancelled")
        return Result()

    lend(monkeypatch, stopped_meanwhile)

    pod.work(queued(store))

    assert value(meters, "chargehand_steps_total", outcome="result", **STEP) is None


def test_what_a_model_consumed_is_counted(meters: Meters) -> None:
    usage = Usage(input_tokens=700, output_tokens=30, cache_read_tokens=500, usd=0.25)
    who = {"team": "sample", "specialist": "security"}

    metrics.step(outcome(usage=usage))

    assert value(meters, "chargehand_tokens_total", direction="input", **who) == 700
    assert value(meters, "chargehand_tokens_total", direction="output", **who) == 30
    assert value(meters, "chargehand_cache_read_tokens_total", **who) == 500
    assert value(meters, "chargehand_cost_usd_total", **who) == 0.25


@pytest.mark.parametrize("wrong", [{"v": 1}, {**assignment("two").model_dump(mode="json")}])
def test_a_refused_message_is_counted(meters: Meters, pod: Pod, wrong: dict[str, Any]) -> None:
    pod.work(wrong)

    assert value(meters, "chargehand_refused_messages_total") == 1


@pytest.mark.parametrize(
    ("body", "state"),
    [(Result(), "done"), (Failure(reason="exception", message="broke"), "partial")],
)
def test_a_job_is_counted_by_how_it_ended(
    meters: Meters, office: Office, body: Result | Failure, state: str
) -> None:
    started(office.store, step("one"))
    office.store.steps.dispatch(JOB, routed("one"))
    claim(office.store, assignment("one"), "token")
    office.store.steps.finish(outcome("one", body), "token")
    if isinstance(body, Failure):
        office.store.steps.decide(JOB, [Decision("one", 1, "failed", "given up")])
    office.store.jobs.conclude(JOB)

    aggregate(office, JOB)
    aggregate(office, JOB)

    assert value(meters, "chargehand_jobs_total", team="sample", state=state) == 1
    assert value(meters, "chargehand_job_seconds_count", team="sample") == 1


def test_a_report_that_is_not_taken_ends_no_job(
    meters: Meters, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(office.store)
    office.store.jobs.stop(JOB, "cancelled")
    monkeypatch.setattr(office.store.jobs, "deliver", lambda *_: False)

    aggregate(office, JOB)

    assert value(meters, "chargehand_job_seconds_count", team="sample") is None


def test_a_job_that_cannot_be_planned_is_counted_as_failed(
    meters: Meters, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PlanError(["no steps"])

    monkeypatch.setattr(plan, "make", refuse)
    office.store.jobs.submit(JOB, job(), team())

    start(office, JOB)

    assert value(meters, "chargehand_jobs_total", team="sample", state="failed") == 1


def test_what_the_reconciler_does_is_counted_by_act(meters: Meters, office: Office) -> None:
    office.store.jobs.submit(JOB, job(), team())
    begun(office.store, sample_plan(step("one")))
    office.store.steps.dispatch(JOB, routed("one"))
    claim(office.store, assignment("one"), "token", seconds=0.0)

    reconcile(office)

    assert value(meters, "chargehand_reconciler_acts_total", act="recover") == 1


def test_there_is_a_bound_to_the_labels(meters: Meters) -> None:
    for number in range(MOST + 50):
        metrics.waited(f"queue-{number}", 1.0)

    waits = next(m for m in meters.registry.collect() if m.name == "chargehand_queue_wait_seconds")
    counts = {s.labels["queue"]: s.value for s in waits.samples if s.name.endswith("_count")}
    assert len(counts) == MOST + 1
    assert counts["other"] == 50


def test_a_process_that_is_not_watched_loads_no_library_for_it() -> None:
    # redis-py loads OpenTelemetry's own metrics where they are installed: that is not ours to end.
    code = (
        "import sys, supervisor.tasks, workers.tasks\n"
        "heavy = {'prometheus_client', 'opentelemetry.exporter', 'google.protobuf'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.stderr.strip() == ""
