import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import names, teams
from common.broker import Message
from common.contracts import Document
from common.errors import InputError, TeamError
from common.store import Store, blobs
from supervisor.office import Office
from supervisor.submit import by_reference, submit, team_of
from tests.unit import samples

LIMIT = blobs.INLINE_LIMIT


def test_what_fits_into_a_message_travels_in_it() -> None:
    documents = [samples.document("a.py", text="x" * LIMIT), samples.document("b.py", text="")]

    packed, bodies = by_reference(documents)

    assert packed == tuple(documents)
    assert bodies == []


def test_the_largest_texts_travel_by_reference_until_the_rest_fits() -> None:
    large, larger = "l" * (LIMIT - 10), "L" * LIMIT
    documents = [
        samples.document("a.py", text="small"),
        samples.document("b.py", text=larger),
        samples.document("c.py", text=large),
    ]

    packed, bodies = by_reference(documents)

    assert [d.path for d in packed] == ["a.py", "b.py", "c.py"]
    assert [(d.text, d.ref) for d in packed] == [
        ("small", None),
        (None, blobs.ref(larger)),
        (large, None),
    ]
    assert bodies == [larger]


def test_a_text_is_measured_in_bytes() -> None:
    packed, bodies = by_reference([samples.document(text="é" * (LIMIT // 2 + 1))])

    assert packed[0].ref is not None
    assert len(bodies) == 1


def test_a_document_that_came_by_reference_stays_so() -> None:
    stored = samples.document(text=None, ref=blobs.ref("x"))

    packed, bodies = by_reference([stored])

    assert (packed, bodies) == ((stored,), [])


@given(st.lists(st.integers(0, 2 * LIMIT), max_size=8))
def test_what_stays_fits_and_what_goes_can_be_found_again(sizes: list[int]) -> None:
    documents = [samples.document(f"{n}.py", text="x" * size) for n, size in enumerate(sizes)]

    packed, bodies = by_reference(documents)

    stored = {blobs.ref(body): body for body in bodies}
    assert sum(len(d.text) for d in packed if d.text is not None) <= LIMIT
    whole = [stored[d.ref] if d.ref else d.text for d in packed]
    assert whole == [d.text for d in documents]
    assert all(Document.model_validate(d.model_dump()) == d for d in packed)


class Notebook:
    """Stands in for the broker: it notes what is published."""

    def __init__(self) -> None:
        self.published: list[Message] = []

    def publish(self, *messages: Message) -> None:
        self.published += messages


@pytest.fixture
def office(store: Store, monkeypatch: pytest.MonkeyPatch) -> Office:
    known = samples.team("security", "logic")

    def find(name: str, _extra: object = ()) -> object:
        if name != known.name:
            raise TeamError(f"no team {name!r}")
        return known

    monkeypatch.setattr(teams, "find", find)
    return Office(store, Notebook())  # type: ignore[arg-type]  # The seam that a test replaces.


def published(office: Office) -> list[Message]:
    broker = office.broker
    assert isinstance(broker, Notebook)
    return broker.published


def test_a_submitted_job_is_stored_with_its_bodies_and_its_planning_is_published(
    office: Office,
) -> None:
    text = "x" * (LIMIT + 1)

    job_id = submit(office, samples.job(documents=[samples.document(text=text)]))

    stored = office.store.jobs.get(job_id).spec.documents[0]
    assert stored.ref is not None
    assert office.store.blobs.get([stored.ref]) == {stored.ref: text}
    assert [(m.task, m.queue, m.kwargs) for m in published(office)] == [
        (names.PLAN, names.SUPERVISOR_QUEUE, {"job": job_id})
    ]


def test_the_same_idempotency_key_gives_the_same_job(office: Office) -> None:
    keyed = samples.job(idempotency_key="pull-7")

    first, second = submit(office, keyed), submit(office, keyed)

    assert first == second
    assert len(office.store.jobs.recent(10)) == 1


def test_an_unknown_specialist_is_refused_with_the_known_ones(office: Office) -> None:
    with pytest.raises(InputError) as refused:
        team_of(samples.job(specialists=["logic", "secruity"]))

    said = "no specialist 'secruity' in team 'sample'; it has: logic, security"
    assert str(refused.value) == said


def test_a_refused_job_leaves_nothing_behind(office: Office) -> None:
    with pytest.raises(TeamError):
        submit(office, samples.job(team="other"))

    assert office.store.jobs.recent(10) == []
    assert published(office) == []
