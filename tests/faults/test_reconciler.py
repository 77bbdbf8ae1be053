"""What stands still is brought back into motion; what is over its time ends."""

from pathlib import Path

import pytest

from common import names
from common.contracts.team import TeamLimits
from common.errors import InputError
from common.states import JobState, StepState
from common.store import Event
from common.store.connection import connect
from supervisor.resume import resume
from tests.eventually import eventually
from tests.fleet import Fleet, team


def events(fleet: Fleet, job: str, event: str) -> list[Event]:
    return [e for e in fleet.store.trace.read(job) if e.event == event]


def test_a_message_that_vanished_is_published_again(fleet: Fleet) -> None:
    fleet.supervisor()
    job = fleet.submit(team({"a": ("succeed", ()), "b": ("succeed", ())}))
    fleet.until(job, "dispatched", count=2)
    with connect(fleet.url) as client:
        assert eventually(lambda: client.delete("tests")) == 1

    fleet.pod()

    assert fleet.report(job).state == "complete"
    acts = {(e.step, e.data["act"]) for e in events(fleet, job, "reconciled")}
    assert acts == {("a", "republish"), ("b", "republish")}


def test_a_message_that_vanished_from_a_busy_queue_is_published_again(
    fleet: Fleet, gate: Path
) -> None:
    fleet.supervisor()
    lost = fleet.submit(team({"a": ("succeed", ())}))
    fleet.until(lost, "dispatched")
    with connect(fleet.url) as client:
        assert eventually(lambda: client.delete("tests")) == 1
    # This one stays on the queue, so that the queue never drains.
    held = fleet.submit(team({"b": ("gate", ())}), request=str(gate))
    fleet.until(held, "dispatched")

    fleet.until(lost, "reconciled", "a")

    assert events(fleet, held, "reconciled") == []


def test_a_step_that_waits_for_a_pod_is_not_published_again(fleet: Fleet) -> None:
    fleet.supervisor()
    job = fleet.submit(team({"a": ("succeed", ())}))
    fleet.until(job, "dispatched")
    looks = fleet.store.fleet.now()

    eventually(lambda: fleet.store.fleet.now() > looks + 6, within=10)

    assert events(fleet, job, "reconciled") == []
    with connect(fleet.url) as client:
        assert client.llen("tests") == 1


def test_a_join_that_never_fired_is_made_up_for(fleet: Fleet) -> None:
    fleet.pod()
    supervisor = fleet.supervisor()
    job = fleet.submit(team({"a": ("wait", ()), "b": ("succeed", ("a",))}))
    fleet.until(job, "started", "a")
    supervisor.kill()
    supervisor.wait()
    fleet.until(job, "outcome", "a")
    with connect(fleet.url) as client:
        eventually(lambda: client.llen(names.SUPERVISOR_QUEUE) == 1)
        client.delete(names.SUPERVISOR_QUEUE)

    fleet.supervisor()

    assert fleet.report(job).text == "b(a=a())"


def test_a_job_past_its_deadline_ends_with_what_there_is(fleet: Fleet) -> None:
    fleet.supervisor()
    fleet.pod()
    fleet.ready()
    graph = {"a": ("succeed", ()), "b": ("linger", ()), "c": ("succeed", ("b",))}

    job = fleet.submit(team(graph, limits=TeamLimits(seconds=3)))

    record = fleet.ended(job)
    assert record.state is JobState.DONE
    assert record.report is not None
    assert record.report.state == "partial"
    assert record.report.text == "a()"
    assert {g.step for g in record.report.gaps} == {"b", "c"}
    assert {g.reason for g in record.report.gaps} <= {"deadline", "timeout"}


def test_a_job_without_any_pod_ends_at_its_deadline_and_says_so(fleet: Fleet) -> None:
    fleet.supervisor()

    job = fleet.submit(team({"a": ("succeed", ())}, limits=TeamLimits(seconds=2)))

    report = fleet.report(job)
    assert report.state == "partial"
    assert [(g.step, g.reason) for g in report.gaps] == [("a", "deadline")]
    assert "no pod serves its queue 'tests'" in report.gaps[0].message


def test_a_chain_of_failures_leaves_the_best_partial_answer(fleet: Fleet) -> None:
    fleet.supervisor()
    fleet.pod()
    graph = {
        "t1": ("broken", ()),
        "t2": ("succeed", ()),
        "t3": ("succeed", ("t1",)),
        "t4": ("succeed", ("t2",)),
        "t5": ("succeed", ("t1", "t2")),
    }

    skipped = fleet.report(fleet.submit(team(graph, when_lost="skip")))
    named = fleet.report(fleet.submit(team(graph, when_lost="run")))

    assert skipped.text == "t4(t2=t2())"
    assert {(g.step, g.reason) for g in skipped.gaps} == {
        ("t1", "exception"),
        ("t3", "skipped"),
        ("t5", "skipped"),
    }
    assert named.text == "t3(t1=failed)\n\nt4(t2=t2())\n\nt5(t1=failed, t2=t2())"
    assert [g.step for g in named.gaps] == ["t1"]


def test_resume_runs_only_what_is_lacking(fleet: Fleet) -> None:
    fleet.supervisor()
    fleet.pod()
    graph = {"a": ("succeed", ()), "b": ("broken", ()), "c": ("succeed", ("b",))}
    job = fleet.submit(team(graph))
    assert fleet.report(job).state == "partial"
    started = len(events(fleet, job, "started"))

    assert resume(fleet.office, job) is JobState.RUNNING

    assert fleet.report(job).state == "partial"
    again = [e.step for e in events(fleet, job, "started")][started:]
    assert again == ["b"]
    assert fleet.store.steps.records(job)["a"].attempt == 1


def test_resume_from_a_step_runs_it_and_all_that_depends_on_it(fleet: Fleet) -> None:
    fleet.supervisor()
    fleet.pod()
    graph = {"a": ("succeed", ()), "b": ("succeed", ("a",)), "c": ("succeed", ("b",))}
    job = fleet.submit(team(graph))
    assert fleet.report(job).state == "complete"

    with pytest.raises(InputError, match="lacks nothing"):
        resume(fleet.office, job)
    with pytest.raises(InputError, match="no step 'x'"):
        resume(fleet.office, job, "x")
    resume(fleet.office, job, "b")

    assert fleet.report(job).state == "complete"
    assert {s: r.attempt for s, r in fleet.store.steps.records(job).items()} == {
        "a": 1,
        "b": 2,
        "c": 2,
    }


def test_a_specialist_that_fails_again_and_again_is_left_alone(fleet: Fleet) -> None:
    fleet.supervisor()
    fleet.pod()
    broken = fleet.report(fleet.submit(team({f"s{n}": ("broken", ()) for n in range(5)})))
    assert {g.reason for g in broken.gaps} == {"exception"}

    fast = fleet.report(fleet.submit(team({"a": ("broken", ()), "b": ("succeed", ("a",))})))

    reasons = {g.step: (g.reason, g.message) for g in fast.gaps}
    assert reasons["a"][1].startswith("breaker open")
    assert reasons["b"][0] == "skipped"


def test_a_backup_does_the_steps_of_a_queue_without_a_pod(fleet: Fleet) -> None:
    fleet.supervisor()
    fleet.pod()
    made = team({"a": ("wait", ())})
    away = made.specialists["wait"].model_copy(update={"queue": "nobody", "backups": ("succeed",)})
    made = made.model_copy(update={"specialists": {**made.specialists, "wait": away}})
    fleet.ready()

    job = fleet.submit(made)

    assert fleet.report(job).state == "complete"
    assert [e.data["reason"] for e in events(fleet, job, "dispatched")] == ["no live pod"]
    assert fleet.store.steps.outcomes(job, {"a": 1})["a"].specialist == "succeed"


def test_waiting_steps_move_to_a_backup_when_the_last_pod_of_their_queue_dies(
    fleet: Fleet, gate: Path
) -> None:
    fleet.supervisor()
    fleet.pod()
    dying = fleet.pod(slots=1, queue="fragile")
    made = team({f"s{n}": ("gate", ()) for n in range(3)})
    fragile = made.specialists["gate"].model_copy(
        update={"queue": "fragile", "backups": ("succeed",)}
    )
    made = made.model_copy(update={"specialists": {**made.specialists, "gate": fragile}})
    fleet.ready()
    job = fleet.submit(made, request=str(gate))
    fleet.until(job, "started")

    dying.kill()
    dying.wait()

    assert fleet.report(job, within=40).state == "complete"
    record = fleet.store.steps.records(job)
    assert {r.state for r in record.values()} == {StepState.SUCCEEDED}
    assert {r.specialist for r in record.values()} == {"succeed"}
