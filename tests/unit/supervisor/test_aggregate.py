import os
import subprocess
import sys
from typing import Any

import pytest

from common.contracts import Escalation, Exclusion, Gap, Outcome, Plan, Result, Usage
from common.states import JobState, StepState
from common.store import StepRecord
from supervisor.aggregate import report
from supervisor.graph import Graph
from supervisor.timings import timings
from tests.unit.samples import (
    FINAL,
    OUT_OF_SCOPE,
    TRANSIENT,
    evidence,
    finding,
    job,
    job_record,
    outcome,
    plan,
    step,
    texts,
)


def ended(state: str = "succeeded", **changes: Any) -> StepRecord:
    fields: dict[str, Any] = {"state": state, "attempt": 1, "queued": 10.0, "ended": 12.0}
    return StepRecord.model_validate(fields | changes)


def reported(of: Plan, *outcomes: Outcome, states: dict[str, str] | None = None, **job: Any) -> Any:
    """The report on a plan whose steps came to these outcomes; the others to these states."""
    found = {o.step: o for o in outcomes}
    records = {s.id: ended((states or {}).get(s.id, "succeeded")) for s in of.steps}
    for one in found.values():
        records[one.step] = records[one.step].model_copy(update={"attempt": one.attempt})
    return report(job_record(of, **job), records, found)


def test_a_job_whose_steps_all_gave_results_is_complete() -> None:
    made = reported(
        plan(step("a"), step("b")),
        outcome("a", Result(findings=(finding(1, severity="critical"),))),
        outcome("b", Result(findings=(finding(1, specialist="logic"), finding(9, path="b.py")))),
    )

    assert (made.state, made.gaps, made.engines) == ("complete", (), ("rules",))
    assert made.summary == "2 steps run; 2 findings (1 critical, 1 warning) in 2 files"
    assert made.findings[0].found_by == ("logic", "security")
    assert [c.settled for c in made.conflicts] == ["critical"]
    assert made.confidence == 100


def test_what_rules_cannot_judge_is_a_gap_and_the_report_is_still_complete() -> None:
    made = reported(plan(step("a"), step("b")), outcome("a"), outcome("b", OUT_OF_SCOPE))

    assert made.state == "complete"
    assert made.gaps == (
        Gap(
            step="b",
            specialist="security",
            kind="not_covered",
            reason="out_of_scope",
            message="needs a model's judgement",
        ),
    )
    assert made.summary == "2 steps run; 1 not covered by this engine"


def test_a_failed_step_is_lost_and_makes_the_report_partial() -> None:
    failed = outcome("b", TRANSIENT, attempt=3)

    made = reported(plan(step("a"), step("b")), outcome("a"), failed, states={"b": "failed"})

    assert made.state == "partial"
    assert [(g.step, g.kind, g.reason) for g in made.gaps] == [("b", "lost", "timeout")]
    assert made.gaps[0].message == "the step's 1 s are used up (try 3)"
    assert made.summary == "2 steps run; 1 lost"


def test_a_skipped_step_says_why() -> None:
    steps = plan(step("a"), step("b", "a"))
    why = "it needs a, which came to nothing"
    records = {"a": ended("failed"), "b": ended("skipped", why=why)}

    made = report(job_record(steps), records, {"a": outcome("a", FINAL)})

    assert [(g.step, g.reason) for g in made.gaps] == [("a", "bad_input"), ("b", "skipped")]
    assert made.gaps[1].message == why


def test_a_cancelled_step_that_waited_in_vain_says_so() -> None:
    why = "no pod serves its queue 'heavy'"
    records = {"a": ended("cancelled", why=why), "b": ended("cancelled")}

    made = report(job_record(plan(step("a"), step("b")), stopped="deadline"), records, {})

    assert [(g.reason, g.message) for g in made.gaps] == [
        ("deadline", why),
        ("deadline", "the job was stopped before this step had ended"),
    ]


@pytest.mark.parametrize("why", ["cancelled", "deadline"])
def test_a_stopped_job_reports_what_there_is_as_partial(why: str) -> None:
    made = reported(
        plan(step("a"), step("b")),
        outcome("a", Result(findings=(finding(),))),
        states={"b": "cancelled"},
        stopped=why,
    )

    assert made.state == "partial"
    assert len(made.findings) == 1
    assert [(g.step, g.kind, g.reason) for g in made.gaps] == [("b", "lost", why)]
    assert made.summary.endswith(f"1 lost; stopped: {why}")


def test_a_stopped_job_is_partial_even_when_nothing_of_it_was_lost() -> None:
    made = reported(plan(step("a")), outcome("a", OUT_OF_SCOPE), stopped="cancelled")

    assert made.state == "partial"


def test_the_partial_result_of_an_escalation_counts_and_its_gap_is_named() -> None:
    half = Result(findings=(finding(),), text="Half.", confidence=40)
    late = Escalation(reason="timeout", message="half of it", partial=half)

    made = reported(plan(step("a")), outcome("a", late))

    assert (made.state, made.text, len(made.findings)) == ("partial", "Half.", 1)
    assert [(g.kind, g.reason) for g in made.gaps] == [("lost", "timeout")]


def test_findings_below_the_threshold_are_counted_and_left_out() -> None:
    found = (
        finding(1, confidence=79),
        finding(5, confidence=80),
        finding(9, confidence=10, severity="info"),
        finding(9, confidence=10, severity="critical", specialist="logic"),
    )

    made = reported(
        plan(step("a")), outcome("a", Result(findings=found)), spec=job(min_confidence=80)
    )

    assert [f.confidence for f in made.findings] == [80]
    assert made.below_threshold == 2
    assert made.conflicts == ()


def test_the_threshold_is_held_by_the_most_confident_report_of_a_problem() -> None:
    found = (finding(1, confidence=10), finding(1, confidence=90, specialist="logic"))

    made = reported(
        plan(step("a")), outcome("a", Result(findings=found)), spec=job(min_confidence=80)
    )

    assert [len(f.evidence) for f in made.findings] == [2]


CHAIN = plan(step("gather"), step("analyse", "gather"), step("write", "gather", "analyse"))


def test_the_text_is_that_of_the_last_step() -> None:
    made = reported(
        CHAIN,
        outcome("gather", Result(text="Passages.")),
        outcome("analyse", Result(text="Numbers.")),
        outcome("write", Result(text=" The brief.\n")),
    )

    assert made.text == "The brief."


def test_without_the_last_step_the_text_comes_from_as_far_down_as_there_is_any() -> None:
    made = reported(
        CHAIN,
        outcome("gather", Result(text="Passages.")),
        outcome("analyse", Result(text="Numbers.")),
        outcome("write", FINAL),
        states={"write": "failed"},
    )

    assert (made.text, made.state) == ("Numbers.", "partial")


def test_the_texts_of_several_last_steps_stand_together_each_once() -> None:
    made = reported(
        plan(step("a"), step("b"), step("c"), step("d")),
        outcome("a", Result(text="One.")),
        outcome("b", Result(text="Two.")),
        outcome("c", Result(text="One.")),
        outcome("d", Result()),
    )

    assert made.text == "One.\n\nTwo."


def test_the_confidence_is_that_of_the_least_certain_last_step_less_the_lost_share() -> None:
    made = reported(
        plan(step("a"), step("b"), step("c"), step("d")),
        outcome("a", Result(confidence=80)),
        outcome("b", Result(confidence=60)),
        outcome("c", OUT_OF_SCOPE),
        outcome("d", FINAL),
        states={"d": "failed"},
    )

    assert made.confidence == 45


def test_when_every_last_step_is_lost_there_is_no_confidence() -> None:
    made = reported(CHAIN, outcome("gather"), states={"analyse": "failed", "write": "skipped"})

    assert made.confidence == 0


def test_evidence_usage_and_exclusions_are_carried_over() -> None:
    left_out = Exclusion(path="logo.png", reason="binary")
    quoted = Result(evidence=(evidence("One."), evidence("Two.")))

    made = reported(
        plan(step("a"), step("b"), excluded=[left_out]),
        outcome("a", quoted, usage=Usage(input_tokens=3, output_tokens=1, usd=0.5)),
        outcome("b", Result(evidence=(evidence("One."),)), usage=Usage(input_tokens=4)),
    )

    assert [e.quote for e in made.evidence] == ["One.", "Two."]
    assert made.excluded == (left_out,)
    assert made.usage == Usage(input_tokens=7, output_tokens=1, usd=0.5)


def test_the_report_does_not_depend_on_the_order_in_which_outcomes_came() -> None:
    steps = plan(step("a"), step("b"), step("c"), step("d"))
    outcomes = {
        "a": outcome("a", Result(findings=(finding(1), finding(2, message="Other.")), text="A.")),
        "b": outcome("b", Result(findings=(finding(1, message="Again."),), text="B.")),
        "c": outcome("c", FINAL),
        "d": outcome("d", OUT_OF_SCOPE),
    }
    records = {name: ended() for name in outcomes}
    forth, back = sorted(outcomes), sorted(outcomes, reverse=True)

    first = report(
        job_record(steps), {n: records[n] for n in forth}, {n: outcomes[n] for n in forth}
    )
    second = report(
        job_record(steps), {n: records[n] for n in back}, {n: outcomes[n] for n in back}
    )

    assert first == second
    assert texts(first.findings) == texts(second.findings)


LOST_ENDING = """
from common.contracts import Result
from tests.unit.samples import outcome, plan, step
from tests.unit.supervisor.test_aggregate import reported
names = [f"s{n}" for n in range(8)]
wide = plan(step("root"), *(step(n, "root") for n in names), step("end", *names))
found = [outcome(n, Result(text=n)) for n in names]
print(reported(wide, *found, states={"end": "failed"}).text)
"""


def test_the_report_is_the_same_in_every_process() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", LOST_ENDING],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert said == {"s7\n"}


def test_a_job_without_a_plan_cannot_be_reported_on() -> None:
    with pytest.raises(ValueError, match="has no plan"):
        report(job_record(None, state=JobState.SUBMITTED), {}, {})


def test_a_plan_without_steps_gives_an_empty_report() -> None:
    bare = plan().model_copy(update={"steps": ()})

    made = reported(bare)

    assert (made.state, made.summary, made.findings) == ("complete", "0 steps run", ())


def test_timings_compare_what_passed_with_the_work_and_the_longest_chain() -> None:
    graph = Graph.of([step("a"), step("b"), step("c", "a")])
    records = {
        "a": ended(queued=10.0, ended=13.0),
        "b": ended(queued=10.5, ended=12.0),
        "c": ended(queued=13.0, ended=15.0),
    }
    outcomes = {
        "a": outcome("a", seconds=2.5),
        "b": outcome("b", seconds=1.5),
        "c": outcome("c", seconds=1.0),
    }

    passed = timings(graph, records, outcomes)

    assert (passed.makespan, passed.work, passed.critical_path, passed.speedup) == (5, 5, 3.5, 1)


def test_timings_leave_out_what_was_never_run() -> None:
    graph = Graph.of([step("a"), step("b", "a")])
    skipped = StepRecord(state=StepState.SKIPPED, attempt=1, ended=99.0)
    records = {"a": ended(queued=10.0, ended=14.0), "b": skipped}

    passed = timings(graph, records, {"a": outcome("a", seconds=8.0)})

    assert (passed.makespan, passed.speedup) == (4, 2)


def test_timings_of_a_job_of_which_nothing_ran_are_nothing() -> None:
    graph = Graph.of([step("a")])

    passed = timings(graph, {"a": StepRecord(state=StepState.CANCELLED, attempt=1)}, {})

    assert (passed.makespan, passed.work, passed.critical_path, passed.speedup) == (0, 0, 0, 1)
