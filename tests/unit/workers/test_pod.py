import logging
import os
import socket
from typing import Any

import pytest

from common.broker import Message
from common.contracts import Failure, Result, Upstream
from common.errors import InputError
from common.store import Store, blobs
from tests.unit.samples import JOB, assignment, claim, document, events, routed, started, step
from tests.unit.workers.conftest import Lend
from workers.bodies import fetched
from workers.desk import Desk, ToolError
from workers.pod import Pod


class Notebook:
    """Stands in for the broker: it notes what is published."""

    def __init__(self) -> None:
        self.published: list[Message] = []

    def publish(self, *messages: Message) -> None:
        self.published += messages


@pytest.fixture
def broker() -> Notebook:
    return Notebook()


@pytest.fixture
def pod(store: Store, broker: Notebook) -> Pod:
    # The broker is the seam that a test replaces.
    return Pod(store, broker, largest=1_000_000, grace=60.0)  # type: ignore[arg-type]


def queued(store: Store, **fields: Any) -> dict[str, Any]:
    """Bring a job with one queued step into the store; return that step's message."""
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))
    return assignment("one", tools=["ruff"], **fields).model_dump(mode="json")


def body(store: Store) -> object:
    return store.steps.outcomes(JOB, {"one": 1})["one"].body


def test_a_step_is_done_and_its_outcome_stored(
    pod: Pod, store: Store, broker: Notebook, lend: Lend
) -> None:
    lend(ruff=Result(text="Done."))

    reference = pod.work(queued(store))

    assert reference == "one/1"
    assert body(store) == Result(text="Done.")
    assert store.steps.records(JOB)["one"].pod == f"{socket.gethostname()}-{os.getpid()}"
    assert events(store)[-3:] == ["started", "tool", "outcome"]
    assert broker.published == []


def test_a_step_without_a_result_has_the_join_called_for_it_alone(
    pod: Pod, store: Store, broker: Notebook, lend: Lend
) -> None:
    def broken(_desk: Desk) -> Result:
        raise ToolError("it broke")

    lend(ruff=broken)

    reference = pod.work(queued(store))

    assert reference == "one/1"
    assert body(store) == Failure(reason="exception", message="it broke")
    assert [message.kwargs for message in broker.published] == [
        {"job": JOB, "step": "one", "alone": True}
    ]


@pytest.mark.parametrize(
    "raw",
    [
        {},
        None,
        [],
        "text",
        7,
        {"v": 2},
        {"secret": "hunter2"},
        assignment("one").model_dump(mode="json") | {"v": 99},
        assignment("one").model_dump(mode="json") | {"surprise": "hunter2"},
        assignment("one").model_dump(mode="json") | {"attempt": 0},
        assignment("one").model_dump(mode="json") | {"instruction": ["hunter2"]},
    ],
    ids=repr,
)
def test_a_message_that_is_no_assignment_is_refused_without_raising(
    pod: Pod, store: Store, caplog: pytest.LogCaptureFixture, raw: Any
) -> None:
    started(store, step("one"))
    store.steps.dispatch(JOB, routed("one"))

    with caplog.at_level(logging.INFO):
        reference = pod.work(raw)

    assert reference is None
    assert store.steps.records(JOB)["one"].state == "queued"
    assert len(store.fleet.refused()) == 1
    assert "refused" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_step_that_another_pod_has_is_left_alone(pod: Pod, store: Store, lend: Lend) -> None:
    raw = queued(store)
    claim(store, assignment("one"), "other")

    reference = pod.work(raw)

    assert reference is None
    assert store.steps.records(JOB)["one"].token == "other"


def test_a_step_of_no_known_job_is_left_alone(pod: Pod) -> None:
    assert pod.work(assignment("one").model_dump(mode="json")) is None


def test_a_step_that_is_done_is_not_done_again(pod: Pod, store: Store, lend: Lend) -> None:
    runs: list[int] = []

    def count(_desk: Desk) -> Result:
        runs.append(1)
        return Result()

    lend(ruff=count)
    raw = queued(store)

    references = [pod.work(raw), pod.work(raw)]

    assert references == ["one/1", "one/1"]
    assert len(runs) == 1


def test_an_outcome_that_came_too_late_is_not_joined(
    pod: Pod, store: Store, broker: Notebook, lend: Lend
) -> None:
    def late(_desk: Desk) -> Result:
        store.jobs.stop(JOB, "cancelled")
        raise ToolError("it broke")

    lend(ruff=late)

    pod.work(queued(store))

    assert store.steps.outcomes(JOB, {"one": 1}) == {}
    assert broker.published == []
    assert events(store)[-1] == "refused"


def test_bodies_that_travelled_by_reference_are_fetched(store: Store) -> None:
    text, result = "x = 1\n" * 9, Result(text="Numbers.")
    store.blobs.put([text, result.model_dump_json()])
    inline = document("b.py")
    given = assignment(
        documents=[document("a.py", text=None, ref=blobs.ref(text)), inline],
        upstream=[
            Upstream(step="zero", specialist="logic", ref=blobs.ref(result.model_dump_json())),
            Upstream(step="half", specialist="logic", lost="failed"),
        ],
    )

    whole = fetched(store, given)

    assert [(d.text, d.ref) for d in whole.documents] == [(text, None), (inline.text, None)]
    assert [(u.result, u.ref, u.lost) for u in whole.upstream] == [
        (result, None, ""),
        (None, None, "failed"),
    ]
    assert type(whole).model_validate(whole.model_dump()) == whole


def test_an_assignment_with_all_its_bodies_is_taken_as_it_is(store: Store) -> None:
    given = assignment(documents=[document()])

    assert fetched(store, given) is given


def test_a_body_that_is_gone_is_bad_input(pod: Pod, store: Store, lend: Lend) -> None:
    lend(ruff=Result())
    absent = document(text=None, ref=blobs.ref("gone")).model_dump()

    with pytest.raises(InputError, match="is not stored any more"):
        fetched(store, assignment(documents=[absent]))
    pod.work(queued(store, documents=[absent]))

    failure = body(store)
    assert isinstance(failure, Failure)
    assert failure.reason == "bad_input"


def test_two_deliveries_of_one_step_count_once(pod: Pod, store: Store, lend: Lend) -> None:
    raw = queued(store)
    second: list[str | None] = []

    def again(_desk: Desk) -> Result:
        second.append(pod.work(raw))
        return Result()

    lend(ruff=again)

    first = pod.work(raw)

    assert (first, second) == ("one/1", [None])
    assert events(store).count("outcome") == 1
