import json
from typing import Any

import pytest

from chargehand import timeline
from common.store import Event

MS = 1000


def event(time: int, name: str, step: str = "", **data: Any) -> Event:
    return Event(f"{time}-0", name, step, data)


def tool(time: int, step: str, ended: float, seconds: float) -> Event:
    return event(time, "tool", step, tool="ruff", at=ended, seconds=seconds, pod="host-1")


TRACE = [
    event(1000, "submitted", team="code_review"),
    event(1001, "planned", steps=1, planner="rules"),
    event(1002, "dispatched", "security", queue="security"),
    event(1010, "started", "security", pod="host-1", waited=0.008),
    # The trace counts milliseconds, the pod counts microseconds: 15.9 ms after the start.
    tool(1025, "security", ended=0.0159, seconds=0.0159),
    event(1025, "outcome", "security", kind="result"),
    event(1030, "delivered", report="complete"),
]


def chrome(events: list[Event]) -> list[dict[str, Any]]:
    text = timeline.as_chrome(events)
    return list(json.loads(text)["traceEvents"])


def slices(events: list[Event]) -> dict[str, tuple[int, int]]:
    found = [e for e in chrome(events) if e["ph"] == "X"]
    return {e["name"]: (e["ts"], e["ts"] + e["dur"]) for e in found}


def test_every_entry_is_one_that_the_trace_viewers_know() -> None:
    for entry in chrome(TRACE):
        assert entry["ph"] in ("X", "i", "M")
        assert isinstance(entry["name"], str)
        assert isinstance(entry["pid"], int)
        assert isinstance(entry["tid"], int)
        if entry["ph"] == "X":
            assert isinstance(entry["ts"], int)
            assert entry["dur"] >= 0
        if entry["ph"] == "i":
            assert entry["s"] in ("t", "p", "g")


def test_pods_and_steps_are_named() -> None:
    entries = chrome(TRACE)

    names = {(e["name"], e["pid"], e["tid"]): e["args"]["name"] for e in entries if e["ph"] == "M"}
    step = next(e for e in entries if e["name"] == "security" and e["ph"] == "X")
    assert names["process_name", 0, 0] == "supervisor"
    assert names["process_name", step["pid"], 0] == "host-1"
    assert names["thread_name", step["pid"], step["tid"]] == "security"
    assert names["thread_name", 0, 0] == "job"


def test_a_step_waits_and_then_runs() -> None:
    found = slices(TRACE)

    assert found["waiting"] == (1002 * MS, 1010 * MS)
    assert found["security"] == (1010 * MS, 1025 * MS)


def test_a_tool_call_lies_within_its_step() -> None:
    found = slices(TRACE)

    assert found["security"][0] <= found["ruff"][0] <= found["ruff"][1] <= found["security"][1]
    assert found["ruff"][1] - found["ruff"][0] == pytest.approx(15 * MS, abs=MS)


def test_each_try_of_a_step_has_its_own_slice() -> None:
    again = [
        event(1000, "dispatched", "a", queue="q"),
        event(1001, "started", "a", pod="host-1", waited=0.001),
        event(1005, "lost", "a", why="its pod is gone", pod="host-1"),
        event(1010, "dispatched", "a", queue="q"),
        event(1011, "started", "a", pod="host-2", waited=0.001),
        event(1020, "outcome", "a", kind="result"),
    ]

    ran = [e for e in chrome(again) if e["name"] == "a" and e["ph"] == "X"]

    assert [(e["cat"], e["ts"], e["dur"]) for e in ran] == [
        ("lost", 1001 * MS, 4 * MS),
        ("outcome", 1011 * MS, 9 * MS),
    ]
    assert ran[0]["pid"] != ran[1]["pid"]


def test_the_trace_of_a_job_that_still_runs_is_valid_too() -> None:
    assert set(slices(TRACE[:4])) == {"waiting"}


def test_as_json_each_event_keeps_its_time_step_and_facts() -> None:
    rows = json.loads(timeline.as_json(TRACE))

    assert rows[3] == {
        "time": 1.01,
        "event": "started",
        "step": "security",
        "pod": "host-1",
        "waited": 0.008,
    }
