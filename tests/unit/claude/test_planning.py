"""Which plans of a model are taken; those that are not are refused with the reason."""

from typing import Any

import pytest

from common.contracts import Plan
from common.errors import PlanError
from supervisor.planners.claude import PlanForm, planned
from tests.unit.samples import document, job, plan, step, team

TEAM = team("security", "logic", generalist={"queue": "logic", "tools": ["complexity"], "most": 1})
JOB = job(documents=(document(),))
START = plan(step(inputs=[{"path": "a.py"}]))
STEP = {
    "id": "one",
    "specialist": "security",
    "instruction": "Find every problem there is.",
    "criterion": "Each problem has a line.",
    "paths": ["a.py"],
}


def proposed(*tools: str) -> dict[str, Any]:
    return {"name": "sql", "description": "Reads SQL.", "prompt": "You read SQL.", "tools": tools}


def made(*steps: dict[str, Any], **changes: Any) -> tuple[Plan, Any]:
    return planned(PlanForm.model_validate({"steps": steps} | changes), JOB, TEAM, START)


def test_a_proposed_specialist_works_on_the_generalists_queue() -> None:
    better, grown = made(STEP | {"specialist": "sql"}, specialists=[proposed("complexity")])

    assert (better.planner, grown.queue("sql")) == ("claude", "logic")


def test_a_document_that_no_step_looks_at_is_named() -> None:
    better, _ = made(STEP | {"paths": []})

    assert [e.path for e in better.excluded] == ["a.py"]


REFUSED: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
    ([STEP | {"specialist": "supervisor"}], {}, "no specialist 'supervisor'"),
    ([STEP], {"specialists": [proposed("shell")]}, "tools shell are not allowed"),
    ([STEP], {"specialists": [proposed(), proposed()]}, "2 new specialists"),
    ([STEP | {"id": f"s{n}"} for n in range(10_000)], {}, "10000 steps; the team's cap is 500"),
    ([STEP | {"instruction": "Look."}], {}, "is vague"),
    ([], {}, "no step"),
]


@pytest.mark.parametrize(("steps", "changes", "said"), REFUSED, ids=[r[2] for r in REFUSED])
def test_a_plan_that_breaks_a_rule_is_refused(
    steps: list[dict[str, Any]], changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(PlanError, match=said):
        made(*steps, **changes)


def test_only_whom_the_job_chose_may_work() -> None:
    chosen = job(documents=(document(),), specialists=("logic",))

    with pytest.raises(PlanError, match="only logic may work"):
        planned(PlanForm.model_validate({"steps": [STEP]}), chosen, TEAM, START)
