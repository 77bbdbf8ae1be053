"""A job goes through real queues: planned, dispatched, worked on, joined, decided, aggregated."""

from pathlib import Path

from celery import Celery

from common import names
from common.contracts import Document
from common.states import JobState, StepState
from supervisor.cancel import cancel
from tests.fleet import Fleet, team


def test_a_fan_out_is_one_chord_and_one_report(fleet: Fleet) -> None:
    job = fleet.submit(team({f"s{n}": ("succeed", ()) for n in range(50)}))

    report = fleet.report(job)

    assert report.state == "complete"
    assert sum(e.event == "outcome" for e in fleet.store.trace.read(job)) == 50
    assert report.engines == ("rules",)
    assert {r.state for r in fleet.store.steps.records(job).values()} == {StepState.SUCCEEDED}


def test_a_step_sees_what_the_steps_it_needs_came_to(fleet: Fleet) -> None:
    graph = {
        "a": ("succeed", ()),
        "b": ("succeed", ()),
        "c": ("succeed", ("a", "b")),
        "d": ("succeed", ("c", "a")),
    }

    report = fleet.report(fleet.submit(team(graph)))

    assert report.text == "d(c=c(a=a(), b=b()), a=a())"


def test_nothing_waits_for_a_step_that_it_does_not_need(fleet: Fleet, gate: Path) -> None:
    graph = {"held": ("gate", ()), "quick": ("succeed", ()), "next": ("succeed", ("quick",))}
    job = fleet.submit(team(graph), request=str(gate))

    fleet.until(job, "outcome", "next")
    states = fleet.store.steps.records(job)
    gate.touch()

    assert states["held"].state in (StepState.QUEUED, StepState.RUNNING)
    assert fleet.report(job).state == "complete"


def test_a_transient_failure_is_tried_again_until_it_passes(fleet: Fleet) -> None:
    job = fleet.submit(team({"a": ("flaky", ()), "b": ("succeed", ("a",))}))

    report = fleet.report(job)

    assert report.state == "complete"
    assert fleet.store.steps.records(job)["a"].attempt == 3
    decided = [e.data["action"] for e in fleet.store.trace.read(job) if e.event == "decided"]
    assert decided == ["retry", "retry"]


def test_a_retry_does_not_wait_for_the_rest_of_its_chord(fleet: Fleet, gate: Path) -> None:
    job = fleet.submit(team({"held": ("gate", ()), "a": ("flaky", ())}), request=str(gate))

    fleet.until(job, "started", "a", count=2)
    state = fleet.store.steps.records(job)["held"].state
    gate.touch()

    assert state is StepState.RUNNING
    assert fleet.report(job).state == "complete"


def test_a_failed_step_still_reaches_the_join_and_the_rest_is_delivered(fleet: Fleet) -> None:
    graph = {
        "a": ("broken", ()),
        "b": ("raise", ()),
        "c": ("succeed", ()),
        "d": ("succeed", ("a",)),
    }

    report = fleet.report(fleet.submit(team(graph)))

    assert report.state == "partial"
    assert [(g.step, g.reason) for g in report.gaps] == [
        ("a", "exception"),
        ("b", "exception"),
        ("d", "skipped"),
    ]
    assert "ZeroDivisionError: a fault in the tool" in report.gaps[1].message
    assert report.text == "c()"


def test_a_team_can_run_what_hangs_on_a_lost_step_with_the_gap_named(fleet: Fleet) -> None:
    graph = {"a": ("broken", ()), "b": ("succeed", ()), "c": ("succeed", ("a", "b"))}

    report = fleet.report(fleet.submit(team(graph, when_lost="run")))

    assert report.text == "c(a=failed, b=b())"
    assert [gap.step for gap in report.gaps] == ["a"]


def test_a_cancelled_job_stops_its_programs_and_reports_what_was_done(fleet: Fleet) -> None:
    job = fleet.submit(team({"a": ("succeed", ()), "b": ("linger", ()), "c": ("succeed", ("b",))}))
    fleet.until(job, "outcome", "a")
    fleet.until(job, "started", "b")

    cancel(fleet.office, job)

    record = fleet.ended(job)
    assert record.state is JobState.CANCELLED
    assert record.report is not None
    assert [(g.step, g.reason) for g in record.report.gaps] == [
        ("b", "cancelled"),
        ("c", "cancelled"),
    ]
    fleet.until(job, "refused", "b")


def test_a_large_document_travels_by_reference(fleet: Fleet) -> None:
    large = Document(path="large.txt", text="line\n" * 20_000, lines=20_000)
    small = Document(path="small.txt", text="line\n", lines=1)

    job = fleet.submit(team({"a": ("measure", ())}), documents=(large, small))

    assert fleet.report(job).text == "large.txt=100000 small.txt=5"
    stored = fleet.store.jobs.get(job).spec.documents
    assert [d.text for d in stored] == [None, "line\n"]


def test_a_service_that_speaks_celery_can_submit_by_name(fleet: Fleet) -> None:
    app = Celery(broker=fleet.url, backend=fleet.url)
    spec = {"team": "brief", "request": "What is it about?", "deadline_seconds": 1}

    answer = app.send_task(names.SUBMIT, kwargs={"job": spec}, queue=names.SUPERVISOR_QUEUE)

    job = answer.get(timeout=20)
    assert fleet.store.jobs.get(job).spec.team == "brief"
    app.close()


def test_the_same_idempotency_key_is_the_same_job(fleet: Fleet) -> None:
    made = team({"a": ("succeed", ())})

    first = fleet.submit(made, idempotency_key="order-1")
    second = fleet.submit(made, idempotency_key="order-1")

    assert second == first
    assert fleet.report(first).state == "complete"
    assert sum(e.event == "started" for e in fleet.store.trace.read(first)) == 1
