"""A job from submission to report, over the real store and functions, in any order of events."""

from typing import Any

import fakeredis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common import names
from common.broker import supervisor_call
from common.contracts import Assignment, Document, Result, Slice, Step
from common.errors import UnknownJob
from common.states import JobState, StepState
from common.store import JobRecord, Store, blobs
from supervisor import decide, plan
from supervisor.aggregate import aggregate
from supervisor.cancel import cancel
from supervisor.join import join
from supervisor.office import Office
from supervisor.start import start
from tests.unit.samples import (
    FINAL,
    JOB,
    OUT_OF_SCOPE,
    TRANSIENT,
    document,
    finding,
    job,
    step,
    team,
)
from tests.unit.supervisor.queues import Body, Queues, Work


@pytest.fixture(autouse=True)
def _no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "FIRST_DELAY", 0.0)


@pytest.fixture
def queues() -> Queues:
    return Queues()


@pytest.fixture
def office(store: Store, queues: Queues) -> Office:
    return Office(store, queues)  # type: ignore[arg-type]  # The seam that a test replaces.


def submitted(
    office: Office,
    *steps: Step,
    monkeypatch: pytest.MonkeyPatch,
    documents: tuple[Document, ...] = (),
    **fields: Any,
) -> None:
    """Submit a job whose plan will have these steps."""
    made = plan.checked(
        plan.make(job(), team()).model_copy(update={"steps": steps}),
        job(documents=documents),
        team(),
    )
    monkeypatch.setattr(plan, "make", lambda _job, _team: made)
    office.store.jobs.submit(JOB, job(documents=documents), team(**fields))
    office.broker.publish(supervisor_call(names.PLAN, "", job=JOB))


def by_step(default: Body | None = None, **bodies: Body | list[Body]) -> Work:
    """Work that comes to these bodies; a list is what each try comes to."""

    def work(given: Assignment) -> Body:
        body = bodies.get(given.step, default or Result(text=given.step))
        return body[given.attempt - 1] if isinstance(body, list) else body

    return work


def states(office: Office) -> dict[str, str]:
    return {name: record.state.value for name, record in office.store.steps.records(JOB).items()}


def ended(office: Office) -> JobRecord:
    record = office.store.jobs.get(JOB)
    assert record.state.ended
    return record


def test_a_plain_fan_out_is_one_chord_and_comes_to_one_report(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, step("a"), step("b"), step("c"), monkeypatch=monkeypatch)

    queues.run(office, by_step())

    report = ended(office).report
    assert queues.chords == [["a", "b", "c"]]
    assert report is not None
    assert (report.state, report.summary) == ("complete", "3 steps run")


def test_a_step_starts_when_its_own_needs_are_done_and_not_later(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [step("slow"), step("quick"), step("next", "quick"), step("last", "slow", "next")]
    submitted(office, *steps, monkeypatch=monkeypatch)
    queues.deliver(office, 0, by_step())

    while others := [n for n, (m, _) in enumerate(queues.waiting) if not _is(m, "slow")]:
        queues.deliver(office, others[0], by_step())

    assert states(office) == {
        "slow": "queued",
        "quick": "succeeded",
        "next": "succeeded",
        "last": "waiting",
    }


def _is(message: Any, name: str) -> bool:
    return bool(message.kwargs.get("assignment", {}).get("step") == name)


def test_a_failed_step_still_reaches_the_join_and_the_rest_is_delivered(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, step("a"), step("b"), monkeypatch=monkeypatch)

    queues.run(office, by_step(a=FINAL, b=Result(findings=(finding(),))))

    report = ended(office).report
    assert states(office) == {"a": "failed", "b": "succeeded"}
    assert report is not None
    assert (report.state, len(report.findings), len(report.gaps)) == ("partial", 1, 1)


def test_the_join_of_a_chord_decides_about_all_its_steps(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, step("a"), step("b"), step("c"), monkeypatch=monkeypatch)
    queues.deliver(office, 0, by_step())
    while any(chord for _, chord in queues.waiting):
        queues.deliver(office, 0, by_step(FINAL))
        # The calls of the join for one step alone are lost.
        queues.waiting = [held for held in queues.waiting if not held[0].kwargs.get("alone")]

    queues.run(office, by_step())

    assert ended(office).report is not None
    assert states(office) == dict.fromkeys("abc", "failed")


def test_a_transient_failure_is_tried_again_and_forgotten(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, step("a"), step("b", "a"), monkeypatch=monkeypatch)

    queues.run(office, by_step(a=[TRANSIENT, TRANSIENT, Result(text="at last")]))

    report = ended(office).report
    assert [(w.step, w.attempt) for w in queues.assignments] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("b", 1),
    ]
    assert report is not None
    assert (report.state, report.gaps) == ("complete", ())


def test_a_step_is_given_up_after_three_tries(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, step("a"), monkeypatch=monkeypatch)

    queues.run(office, by_step(a=TRANSIENT))

    report = ended(office).report
    assert [work.attempt for work in queues.assignments] == [1, 2, 3]
    assert report is not None
    assert report.gaps[0].message.endswith("(try 3)")


CHAIN = [step("t1"), step("t2"), step("t3", "t1"), step("t4", "t2"), step("t5", "t3", "t4")]


def test_what_needs_a_lost_step_is_skipped_and_the_rest_goes_on(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, *CHAIN, monkeypatch=monkeypatch)

    queues.run(office, by_step(t1=FINAL))

    report = ended(office).report
    assert states(office) == {
        "t1": "failed",
        "t2": "succeeded",
        "t3": "skipped",
        "t4": "succeeded",
        "t5": "skipped",
    }
    assert report is not None
    assert (report.state, report.text) == ("partial", "t4")


def test_a_team_that_runs_with_gaps_names_them_to_the_steps_below(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, *CHAIN, monkeypatch=monkeypatch, when_lost="run")

    queues.run(office, by_step(t1=FINAL))

    told = {w.step: {u.step: u.lost for u in w.upstream} for w in queues.assignments}
    assert told["t3"] == {"t1": "failed"}
    assert told["t5"] == {"t3": "", "t4": ""}
    assert states(office) == dict.fromkeys(("t2", "t3", "t4", "t5"), "succeeded") | {"t1": "failed"}


def test_an_escalation_with_a_partial_result_is_enough_to_go_on(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = OUT_OF_SCOPE.model_copy(update={"partial": Result(text="half")})
    submitted(office, step("a"), step("b", "a"), monkeypatch=monkeypatch)

    queues.run(office, by_step(a=half))

    assert states(office) == {"a": "escalated", "b": "succeeded"}
    assert queues.assignments[-1].upstream[0].result == Result(text="half")


def test_a_pod_sees_its_own_slice_of_the_job_and_nothing_else(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = (document("a.py"), document("b.py"), document("secret.py"))
    inputs = [Slice(path="b.py"), Slice(path="a.py"), Slice(path="b.py")]
    submitted(
        office,
        step("one", inputs=inputs, context="Review it."),
        step("two", "one"),
        step("three"),
        monkeypatch=monkeypatch,
        documents=documents,
    )

    queues.run(office, by_step())

    seen = {work.step: work for work in queues.assignments}
    assert [d.path for d in seen["one"].documents] == ["b.py", "a.py"]
    assert seen["one"].slices == tuple(inputs)
    assert seen["two"].documents == ()
    assert [u.step for u in seen["two"].upstream] == ["one"]
    assert seen["three"].upstream == ()


def test_a_large_result_travels_by_reference_to_the_steps_that_need_it(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Result(text="x" * blobs.INLINE_LIMIT)
    submitted(office, step("a"), step("b", "a"), monkeypatch=monkeypatch)

    queues.run(office, by_step(a=large))

    upstream = queues.assignments[-1].upstream[0]
    assert upstream.ref is not None
    assert office.store.blobs.get([upstream.ref]) == {upstream.ref: large.model_dump_json()}


def test_a_plan_that_is_refused_ends_the_job_with_its_faults(
    office: Office, queues: Queues
) -> None:
    steps = [{"id": step, "specialist": "security"} for step in ("a", "b")]
    made = team(plan={"by": "graph", "steps": steps}, limits={"steps": 1})
    office.store.jobs.submit(JOB, job(), made)
    office.broker.publish(supervisor_call(names.PLAN, "", job=JOB))

    queues.run(office, by_step())

    record = ended(office)
    assert record.state is JobState.FAILED
    assert "2 steps; the team's cap is 1" in record.error


def test_a_job_without_any_step_is_delivered_at_once(office: Office, queues: Queues) -> None:
    office.store.jobs.submit(JOB, job(), team())
    office.broker.publish(supervisor_call(names.PLAN, "", job=JOB))

    queues.run(office, by_step())

    assert ended(office).state is JobState.DONE


def test_planning_twice_plans_and_publishes_once(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, step("a"), step("b", "a"), monkeypatch=monkeypatch)

    start(office, JOB)
    start(office, JOB)

    assert queues.chords == [["a"]]


def test_joining_again_and_for_any_step_changes_nothing(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, step("a"), step("b", "a"), monkeypatch=monkeypatch)
    queues.run(office, by_step())
    before = (states(office), len(office.store.trace.read(JOB)))

    for name in ("a", "b", "absent"):
        join(office, JOB, name)
        join(office, JOB, name, alone=True)
    aggregate(office, JOB)

    assert (states(office), len(office.store.trace.read(JOB))) == before


def test_a_cancelled_job_reports_what_was_done(
    office: Office, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(office, step("a"), step("b", "a"), monkeypatch=monkeypatch)
    queues.deliver(office, 0, by_step())
    queues.deliver(office, 0, by_step())

    now = cancel(office, JOB)
    queues.run(office, by_step())

    record = ended(office)
    assert now is JobState.AGGREGATING
    assert record.state is JobState.CANCELLED
    assert states(office) == {"a": "succeeded", "b": "cancelled"}
    assert record.report is not None
    assert record.report.state == "partial"


def test_an_unknown_job_cannot_be_cancelled(office: Office, queues: Queues) -> None:
    with pytest.raises(UnknownJob):
        cancel(office, "absent00")

    assert queues.waiting == []


@st.composite
def plans(draw: st.DrawFn) -> list[Step]:
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 7))):
        known = [one.id for one in steps]
        needs = draw(st.sets(st.sampled_from(known), max_size=3)) if known else set()
        steps.append(step(f"s{number}", *sorted(needs)))
    return steps


bodies = st.sampled_from(
    [
        *[Result(text="done")] * 4,
        TRANSIENT,
        FINAL,
        OUT_OF_SCOPE,
        OUT_OF_SCOPE.model_copy(update={"partial": Result(text="half")}),
    ]
)


@settings(max_examples=30)
@given(plans(), st.sampled_from(["skip", "run"]), st.data())
def test_any_job_ends_whatever_fails_and_in_whatever_order_messages_come(
    steps: list[Step], when_lost: str, data: st.DataObject
) -> None:
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer(), decode_responses=True)
    queues = Queues()
    office = Office(Store(client, "", patience=0, ttl=3600), queues)  # type: ignore[arg-type]
    needs = {one.id: one.depends_on for one in steps}

    def work(given: Assignment) -> Body:
        records = office.store.steps.records(JOB)
        assert all(records[needed].state.ended for needed in needs[given.step])
        body: Body = data.draw(bodies)
        return body

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(decide, "FIRST_DELAY", 0.0)
        submitted(office, *steps, monkeypatch=monkeypatch, when_lost=when_lost)
        again = 10
        while queues.waiting:
            number = data.draw(st.integers(0, len(queues.waiting) - 1))
            keep = again > 0 and data.draw(st.booleans())
            again -= keep
            queues.deliver(office, number, work, keep=keep)
            if not queues.waiting:
                queues.run(office, work)

    report = ended(office).report
    assert report is not None
    records = office.store.steps.records(JOB)
    assert all(record.state.ended for record in records.values())
    worked = [(given.step, given.attempt) for given in queues.assignments]
    assert len(worked) == len(set(worked))
    for name, record in records.items():
        tries = [attempt for step_id, attempt in worked if step_id == name]
        assert tries == list(range(1, len(tries) + 1))
        untried = record.state is StepState.SKIPPED or record.why.startswith("breaker open")
        assert untried == (not tries)
    if when_lost == "run":
        assert all(record.state is not StepState.SKIPPED for record in records.values())
    lost = {name for name, record in records.items() if record.state in ("failed", "skipped")}
    assert lost <= {gap.step for gap in report.gaps}
