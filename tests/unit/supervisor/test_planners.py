from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contracts import Document, Exclusion, Job, Note, Slice, Span, Step, Team
from common.contracts.team import ByFiles, ByGraph
from supervisor.planners import files, graph
from tests.unit.samples import document, job, specialist, team

NOTE = Note(kind="commit", text="a1b2c3 Fix it")
GUIDELINE = document("CLAUDE.md", role="guideline", language="markdown")


def planned(of: Job, by: Team, batch_lines: int = 600) -> list[Step]:
    return files.steps(of, by, ByFiles(by="files", batch_lines=batch_lines))


def looked_at(steps: list[Step]) -> dict[str, list[str]]:
    return {one.id: [part.path for part in one.inputs] for one in steps}


def test_small_documents_share_a_step_for_each_specialist() -> None:
    several = job(documents=[document("b.py"), document("a.py")])

    steps = planned(several, team("security", "logic"))

    assert looked_at(steps) == {"security": ["a.py", "b.py"], "logic": ["a.py", "b.py"]}
    assert steps[0].instruction == "Find every problem there is. Look at a.py, b.py."
    assert (steps[0].context, steps[0].criterion) == ("Review it.", "Each problem has a line.")


def test_a_large_document_is_split_and_each_part_is_named() -> None:
    steps = planned(job(documents=[document("a.py", 1000)]), team(), batch_lines=600)

    assert [one.id for one in steps] == ["security-1", "security-2"]
    assert [one.inputs[0].span for one in steps] == [
        Span(start=1, end=500),
        Span(start=501, end=1000),
    ]
    assert steps[1].instruction.endswith("Look at a.py:501-1000.")


def test_only_lines_that_changed_have_weight() -> None:
    quiet = document("a.py", 100_000, changed=[Span(start=7, end=8)])

    steps = planned(job(documents=[quiet]), team(), batch_lines=600)

    assert looked_at(steps) == {"security": ["a.py"]}
    assert steps[0].inputs[0].span is None


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({}, ["a.py", "b.js"]),
        ({"languages": ["javascript"]}, ["b.js"]),
        ({"needs": "notes"}, ["a.py"]),
        ({"needs": "guidelines"}, ["a.py", "b.js", "CLAUDE.md"]),
    ],
)
def test_a_specialist_looks_at_what_concerns_it(fields: dict[str, Any], paths: list[str]) -> None:
    documents = [
        document("a.py", notes=[NOTE]),
        document("b.js", language="javascript"),
        document("c.dat", language=None),
        GUIDELINE,
    ]
    one = team(specialists={"lens": specialist(**fields)})

    steps = planned(job(documents=documents), one)

    assert looked_at(steps) == {"lens": paths}


def test_without_guidelines_a_lens_that_needs_them_has_no_step() -> None:
    two = team(specialists={"lens": specialist(needs="guidelines"), "logic": specialist()})

    steps = planned(job(documents=[document()]), two)

    assert [one.id for one in steps] == ["logic"]


def test_only_the_specialists_that_a_job_names_are_used() -> None:
    some = job(documents=[document()], specialists=["logic"])

    steps = planned(some, team("security", "logic", "style"))

    assert [one.specialist for one in steps] == ["logic"]


def test_a_job_without_documents_has_no_steps() -> None:
    assert planned(job(), team()) == []


def test_what_no_specialist_looks_at_is_listed_with_its_reason() -> None:
    documents = [document("c.dat", language=None), document("b.js", language="javascript")]
    python = team(specialists={"logic": specialist(languages=["python"])})

    left_out = files.exclusions(job(documents=[*documents, document(), GUIDELINE]), python)

    assert left_out == [
        Exclusion(path="b.js", reason="no specialist of this job looks at javascript"),
        Exclusion(path="c.dat", reason="unknown language"),
    ]


@pytest.mark.parametrize("needs", ["guidelines", "notes"])
def test_a_document_is_listed_when_its_only_lens_lacks_what_it_needs(needs: str) -> None:
    lacking = team(specialists={"lens": specialist(needs=needs)})
    one = job(documents=[document()])

    steps, left_out = planned(one, lacking), files.exclusions(one, lacking)

    assert steps == []
    assert [e.path for e in left_out] == ["a.py"]


line_counts = st.integers(0, 3000)
some_spans = st.lists(
    st.tuples(st.integers(1, 400), st.integers(0, 300)).map(
        lambda pair: Span(start=pair[0], end=pair[0] + pair[1])
    ),
    max_size=5,
)


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    kinds = st.tuples(line_counts, st.none() | some_spans, st.sampled_from(["python", "go", None]))
    return [
        document(f"{number:02}.py", lines, changed=changed, language=language)
        for number, (lines, changed, language) in enumerate(draw(st.lists(kinds, max_size=8)))
    ]


def counting_lines(one: Document) -> set[int]:
    spans = (Span(start=1, end=one.lines),) if one.changed is None and one.lines else one.changed
    return {line for span in spans or () for line in range(span.start, span.end + 1)}


@given(documents(), st.integers(1, 700))
def test_splitting_leaves_no_gap_and_no_overlap_and_no_part_over_the_limit(
    several: list[Document], limit: int
) -> None:
    for one in several:
        parts = [piece.slice.span for piece in files.split(one, limit)]

        counting = counting_lines(one)
        if len(parts) == 1:
            assert parts == [None]
            assert len(counting) <= limit
            continue
        known = [part for part in parts if part is not None]
        assert len(known) == len(parts)
        assert known[0].start == 1
        assert known[-1].end >= max(one.lines, *counting)
        assert all(here.end + 1 == after.start for here, after in pairwise(known))
        weights = [len(counting & set(range(s.start, s.end + 1))) for s in known]
        assert all(0 < weight <= limit for weight in weights)
        assert max(weights) - min(weights) < len(weights)


@given(st.lists(st.integers(0, 100), max_size=30), st.integers(100, 400))
def test_batches_are_even_in_order_and_near_the_limit(weights: list[int], limit: int) -> None:
    pieces = [files.Piece(Slice(path=f"{n}.py"), lines) for n, lines in enumerate(weights)]

    batches = files.even_batches(pieces, limit)

    assert [piece for batch in batches for piece in batch] == pieces
    sizes = [sum(piece.lines for piece in batch) for batch in batches]
    # The middle of a piece decides, so a batch strays by half a piece at each end at the most.
    assert all(size <= limit + 100 for size in sizes)
    if sizes:
        average = sum(weights) / max(1, -(-sum(weights) // limit))
        assert all(abs(size - average) <= 100 for size in sizes)


@given(documents(), st.integers(1, 300), st.integers(2, 40))
def test_the_cap_holds_and_nothing_is_left_out(
    several: list[Document], limit: int, cap: int
) -> None:
    two = team("security", "logic", limits={"steps": cap})
    one = job(documents=several)

    steps = planned(one, two, limit)

    assert len(steps) <= cap
    assert len({step.id for step in steps}) == len(steps)
    seen = {part.path for step in steps for part in step.inputs}
    listed = {left.path for left in files.exclusions(one, two)}
    assert seen | listed == {d.path for d in several}
    assert not seen & listed


@given(documents(), st.data())
def test_the_plan_does_not_depend_on_the_order_of_the_documents(
    several: list[Document], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(several))

    assert planned(job(documents=shuffled), team(), 100) == planned(
        job(documents=several), team(), 100
    )


def test_a_fixed_graph_is_filled_in_for_the_job() -> None:
    by = ByGraph.model_validate(
        {
            "by": "graph",
            "steps": [
                {"id": "read", "specialist": "gather", "documents": True},
                {"id": "tell", "specialist": "write", "depends_on": ["read"]},
            ],
        }
    )
    writer = specialist(tier="opus", budget={"tokens": 7, "seconds": 9})
    two = team(specialists={"gather": specialist(), "write": writer}, plan=by)

    read, tell = graph.steps(job(documents=[document("b.md"), document("a.md")]), two, by)

    assert (read.id, read.specialist, read.depends_on) == ("read", "gather", ())
    assert [part.path for part in read.inputs] == ["b.md", "a.md"]
    assert (tell.depends_on, tell.inputs) == (("read",), ())
    assert (tell.tier, tell.budget.tokens, tell.budget.seconds) == ("opus", 7, 9)
    assert (tell.context, tell.instruction) == ("Review it.", "Find every problem there is.")
