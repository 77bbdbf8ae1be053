"""What makes the tasks of a job one family in Flower."""

from common import names
from common.broker import Message, join_call, supervisor_call

JOB = "0123456789ab"


def test_all_tasks_of_a_job_have_its_plan_as_their_root() -> None:
    plan = supervisor_call(names.PLAN, f"job={JOB}", job=JOB)
    work = Message(names.WORK, "security", {}, "", names.task_id(JOB, "security", 2))
    others = [join_call(JOB, "security"), supervisor_call(names.AGGREGATE, "", job=JOB), work]

    assert plan.id == plan.root
    assert {message.root for message in others} == {plan.id}


def test_the_id_of_a_task_names_its_job_and_what_it_does() -> None:
    ids = [join_call(JOB, "security").id, supervisor_call(names.AGGREGATE, "", job=JOB).id]

    assert [made.rpartition(".")[0] for made in ids] == [f"{JOB}.join", f"{JOB}.aggregate"]


def test_a_job_is_joined_many_times_and_each_is_a_task_of_its_own() -> None:
    made = {join_call(JOB, "security").id for _ in range(20)}

    assert len(made) == 20
