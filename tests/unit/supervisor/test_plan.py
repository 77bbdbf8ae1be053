import pytest

from common.contracts import Exclusion, Slice
from common.errors import PlanError
from supervisor import plan
from tests.unit import samples


def test_a_sound_plan_is_returned_as_it_is() -> None:
    sound = samples.plan(samples.step("one"), samples.step("two", "one"))

    assert plan.checked(sound, samples.job(), samples.team()) is sound


def test_a_refused_plan_names_all_its_faults_at_once() -> None:
    wrong = samples.plan(
        samples.step("a", specialist="secruity"),
        samples.step("b", instruction="Check it."),
        samples.step("c", criterion="Done."),
        samples.step("d", inputs=[Slice(path="z.py"), Slice(path="a.py")]),
        samples.step("e", "nobody"),
        samples.step("f"),
        samples.step("f"),
    )
    team = samples.team("security", "logic", limits={"steps": 6})

    with pytest.raises(PlanError) as refused:
        plan.checked(wrong, samples.job(documents=[samples.document("a.py")]), team)

    assert sorted(refused.value.faults) == [
        "7 steps; the team's cap is 6",
        "step 'a': no specialist 'secruity' in team 'sample'; it has: logic, security",
        "step 'b': instruction 'Check it.' is vague; say what and where",
        "step 'c': criterion 'Done.' is vague; say what and where",
        "step 'd': input 'z.py' is not in the job",
        "step 'e': depends on 'nobody', which is not in the plan",
        "step id 'f' is used 2 times",
    ]
    assert all(fault in str(refused.value) for fault in refused.value.faults)


def test_a_cycle_is_refused_beside_other_faults() -> None:
    wrong = samples.plan(
        samples.step("a", "b"), samples.step("b", "a"), samples.step("c", instruction="Vague.")
    )

    with pytest.raises(PlanError) as refused:
        plan.checked(wrong, samples.job(), samples.team())

    assert "steps that wait for each other: a, b" in refused.value.faults
    assert len(refused.value.faults) == 2


def test_a_plan_at_the_cap_is_taken_and_one_beyond_is_not() -> None:
    team = samples.team(limits={"steps": 2})
    steps = [samples.step(name) for name in ("a", "b", "c")]

    plan.checked(samples.plan(*steps[:2]), samples.job(), team)
    with pytest.raises(PlanError, match="3 steps; the team's cap is 2"):
        plan.checked(samples.plan(*steps), samples.job(), team)


def test_a_made_plan_says_what_no_step_looks_at_in_the_order_of_paths() -> None:
    job = samples.job(
        documents=[samples.document("m.txt", language=None), samples.document("a.py")],
        excluded=[
            Exclusion(path="z.png", reason="binary"),
            Exclusion(path="b.min.js", reason="generated"),
        ],
    )

    made = plan.make(job, samples.team())

    assert [(e.path, e.reason) for e in made.excluded] == [
        ("b.min.js", "generated"),
        ("m.txt", "unknown language"),
        ("z.png", "binary"),
    ]
    assert (made.planner, made.goal) == ("rules", "Review it.")


def test_a_team_with_more_specialists_than_its_cap_has_steps_is_refused() -> None:
    team = samples.team("security", "logic", "style", limits={"steps": 2})

    with pytest.raises(PlanError, match="3 steps; the team's cap is 2"):
        plan.make(samples.job(documents=[samples.document()]), team)
