"""Pods are killed, paused and told to leave while they work."""

import signal
from pathlib import Path

from common.store import Event
from tests.eventually import eventually
from tests.fleet import Fleet, team


def events(fleet: Fleet, job: str, event: str) -> list[Event]:
    return [e for e in fleet.store.trace.read(job) if e.event == event]


def test_the_steps_of_a_killed_pod_are_done_by_another(fleet: Fleet, gate: Path) -> None:
    fleet.supervisor()
    doomed = fleet.pod()
    job = fleet.submit(team({f"s{n}": ("gate", ()) for n in range(4)}), request=str(gate))
    fleet.until(job, "started", count=4)
    fleet.pod()

    doomed.kill()
    doomed.wait()
    fleet.until(job, "started", count=8)
    gate.touch()

    assert fleet.report(job).state == "complete"
    lost = events(fleet, job, "lost")
    killed, again = lost[0].time, events(fleet, job, "started")[4].time
    assert len(lost) == 4
    assert again - killed < 12


def test_a_pod_that_was_paused_too_long_finds_its_outcome_refused(fleet: Fleet, gate: Path) -> None:
    fleet.supervisor()
    paused = fleet.pod()
    job = fleet.submit(team({"a": ("gate", ())}), request=str(gate))
    fleet.until(job, "started")
    fleet.pod()

    paused.send_signal(signal.SIGSTOP)
    fleet.until(job, "started", count=2)
    gate.touch()
    report = fleet.report(job)
    paused.send_signal(signal.SIGCONT)

    assert report.state == "complete"
    fleet.until(job, "refused", "a")
    assert len(events(fleet, job, "outcome")) == 1


def test_a_step_that_kills_its_pod_each_time_fails_and_leaves_the_others_alone(
    fleet: Fleet,
) -> None:
    fleet.supervisor()
    first = fleet.pod()
    graph = {"poison": ("die", ()), **{f"s{n}": ("wait", ()) for n in range(6)}}
    job = fleet.submit(team(graph))
    first.wait(timeout=20)
    second = fleet.pod()

    report = fleet.report(job, within=40)

    assert report.state == "partial"
    assert [(g.step, g.reason) for g in report.gaps] == [("poison", "crashed")], fleet.told(job)
    assert "exit code 1" in report.gaps[0].message
    assert len(events(fleet, job, "started")) - 6 <= 3 + 6
    assert [e.step for e in events(fleet, job, "started")].count("poison") == 3
    assert second.poll() is None


def test_a_pod_that_is_told_to_stop_finishes_its_steps_and_exits_with_0(
    fleet: Fleet, gate: Path
) -> None:
    fleet.supervisor()
    leaving = fleet.pod()
    job = fleet.submit(team({"a": ("gate", ())}), request=str(gate))
    fleet.until(job, "started")
    assert len(eventually(fleet.store.fleet.pods)) == 2

    leaving.terminate()
    eventually(lambda: "Warm shutdown" in log(fleet, leaving))
    gate.touch()

    assert leaving.wait(timeout=15) == 0
    assert fleet.report(job).state == "complete"
    assert [e.event for e in events(fleet, job, "lost")] == []
    assert len(fleet.store.fleet.pods()) == 1


def log(fleet: Fleet, process: object) -> str:
    number = [id(p) for p in fleet.processes].index(id(process))
    return next(fleet.folder.glob(f"{number}-*.log")).read_text()


def test_what_outlives_the_grace_time_is_given_back_without_blame(fleet: Fleet, gate: Path) -> None:
    fleet.supervisor()
    leaving = fleet.pod(CHARGEHAND_GRACE="0.5")
    job = fleet.submit(team({"a": ("gate", ())}), request=str(gate))
    fleet.until(job, "started")
    fleet.pod()

    leaving.terminate()
    fleet.until(job, "started", count=2)
    gate.touch()

    assert leaving.wait(timeout=15) == 0
    assert fleet.report(job).state == "complete"
    record = fleet.store.steps.records(job)["a"]
    assert (record.attempt, record.spared, record.suspect) == (2, 1, False)


def test_a_rolling_restart_under_load_loses_and_repeats_nothing(fleet: Fleet) -> None:
    fleet.supervisor()
    pods = [fleet.pod(), fleet.pod()]
    fleet.ready()
    job = fleet.submit(team({f"s{n}": ("wait", ()) for n in range(120)}))
    fleet.until(job, "started", count=16)

    for leaving in pods:
        fleet.pod()
        fleet.ready()
        leaving.terminate()
        assert leaving.wait(timeout=15) == 0

    assert fleet.report(job, within=40).state == "complete"
    assert len(events(fleet, job, "started")) == 120
    assert len(events(fleet, job, "outcome")) == 120
