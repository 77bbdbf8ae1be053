import time

import pytest
from brief_desk import document, example_documents, run

from common.contracts import Assignment, Result, Slice, Span
from workers.desk import Stopped, laid_out
from workers.tools.documents import passages, search, stem


def places(result: Result) -> list[tuple[str, int]]:
    return [(e.path, e.span.start) for e in result.evidence if e.span]


def test_passages_on_the_request_win_over_the_rest() -> None:
    documents = example_documents()

    result = run(search, *documents)

    assert places(result)[0] == ("quarterly-review.md", 8)
    assert ("monthly-figures.csv", 6) in places(result)
    assert "Severity" not in result.text
    assert "printer" not in result.text
    assert "parking permit" not in result.text


def test_every_quote_stands_in_its_document_at_its_lines() -> None:
    documents = {d.path: (d.text or "").splitlines() for d in example_documents()}

    result = run(search, *example_documents())

    assert result.evidence
    for piece in result.evidence:
        assert piece.span
        cited = " ".join(documents[piece.path][piece.span.start - 1 : piece.span.end])
        assert piece.quote.splitlines()[-1].split() == cited.split()


def test_a_table_row_is_quoted_below_its_headings_and_its_header() -> None:
    text = "# Depots\n\n| Depot | Late |\n|---|---|\n| North | 12 |\n"

    result = run(search, document("a.md", text), request="late at the north depot")

    assert [e.quote for e in result.evidence] == ["# Depots\n| Depot | Late |\n| North | 12 |"]
    assert places(result) == [("a.md", 5)]


def test_the_same_documents_give_the_same_result() -> None:
    documents = example_documents()

    first, second = run(search, *documents), run(search, *documents)

    assert first == second


def test_passages_of_equal_worth_keep_the_order_of_the_documents() -> None:
    given = [document(f"{name}.md", "A late delivery.") for name in ("b", "a", "c")]

    result = run(search, *given, request="late delivery")

    assert [e.path for e in result.evidence] == ["b.md", "a.md", "c.md"]


def test_confidence_is_the_share_of_the_requests_terms_that_were_found() -> None:
    text = "Refunds doubled."

    result = run(search, document("a.txt", text), request="refunds and helicopters")

    assert result.confidence == 50


@pytest.mark.parametrize("text", ["", "\n\n", "Nothing about it here.", "# Only a heading\n"])
def test_nothing_relevant_is_said_with_confidence_zero(text: str) -> None:
    given = document("a.md", text)

    result = run(search, given, request="late deliveries")

    assert (result.confidence, result.evidence) == (0, ())
    assert "Nothing was found" in result.text
    assert "a.md" in result.text


def test_no_documents_at_all_is_said_with_confidence_zero() -> None:
    request = "late deliveries"

    result = run(search, request=request)

    assert result == Result(text="Nothing was found: the job has no documents.", confidence=0)


def test_a_request_without_a_subject_gets_the_start_of_each_document() -> None:
    given = [document(f"{n}.txt", "\n\n".join(f"Part {i}." for i in range(20))) for n in "ab"]

    result = run(search, *given, request="Please summarise these documents.")

    assert places(result) == [(path, line) for path in ("a.txt", "b.txt") for line in (1, 3, 5, 7)]
    assert result.confidence < 50


def test_forms_of_a_word_are_found_as_one() -> None:
    forms = [["delivery", "deliveries", "delivered", "delivering"], ["delay", "delays", "delayed"]]

    stems = [{stem(word) for word in group} for group in forms]

    assert [len(group) for group in stems] == [1, 1]


def test_control_characters_reach_neither_text_nor_evidence() -> None:
    text = "\ufeffLate\x00 deliveries\x1b[31m rose\x07\u202e again.\r\n\x0c\r\nLate\x85deliveries."

    result = run(search, document("a.txt", text), request="late deliveries")

    assert sorted(places(result)) == [("a.txt", 1), ("a.txt", 3)]
    assert (result.text + "".join(e.quote for e in result.evidence)).replace("\n", "").isprintable()
    assert Result.model_validate_json(result.model_dump_json()) == result


def test_a_long_line_is_quoted_in_pieces() -> None:
    text = "Filler words go on and on. " * 500 + "Refunds doubled here. " + "More follows. " * 500

    result = run(search, document("a.txt", text), request="refunds")

    assert len(result.evidence) == 1
    assert "Refunds doubled here." in result.evidence[0].quote
    assert len(result.evidence[0].quote) <= 600


@pytest.mark.parametrize(
    "text",
    ["x" * 2_000_000, "|" * 2_000_000, "late 1, " * 200_000, "late\n\n" * 60_000, "-" * 2_000_000],
    ids=["one word", "one row", "one line", "many lines", "one rule"],
)
def test_time_grows_with_a_documents_size_and_not_with_its_square(text: str) -> None:
    eighth, whole = document("a.md", text[: len(text) // 8]), document("a.md", text)

    began = time.process_time()
    run(search, eighth)
    middle = time.process_time()
    run(search, whole)
    ended = time.process_time()

    # Eight times the text takes about eight times as long, and never sixty-four times.
    assert ended - middle < 30 * (middle - began) + 0.2


def test_one_document_cannot_push_out_the_others() -> None:
    loud = document("loud.md", "\n\n".join(f"Late delivery number {n}." for n in range(500)))
    quiet = document("quiet.md", "One late delivery cost a refund.")

    result = run(search, loud, quiet, request="late delivery")

    assert "quiet.md" in {e.path for e in result.evidence}


def test_only_the_steps_part_of_a_document_is_searched() -> None:
    given = document("a.md", "Late one.\n\nLate two.\n\nLate three.")
    assignment = Assignment(
        job="brief0001", step="gather", attempt=1, team="brief", specialist="gather",
        instruction="Find.", criterion="Found.", context="late", documents=(given,),
        slices=(Slice(path="a.md", span=Span(start=3, end=3)),),
    )  # fmt: skip

    with laid_out(assignment, stopped=lambda: False) as desk:
        result = search(desk)

    assert places(result) == [("a.md", 3)]


def test_a_cancelled_job_stops_the_search() -> None:
    assignment = Assignment(
        job="brief0001", step="gather", attempt=1, team="brief", specialist="gather",
        instruction="Find.", criterion="Found.", context="late", documents=(document("a", "Late"),),
    )  # fmt: skip

    with laid_out(assignment, stopped=lambda: True) as desk, pytest.raises(Stopped):
        search(desk)


def test_lines_with_a_label_are_passages_of_their_own() -> None:
    given = document("a.txt", "Duration: 220 minutes\nLate deliveries: 412\nplus some more")

    found = [(p.span.start, p.span.end, p.body) for p in passages(given)]

    assert found == [(1, 1, "Duration: 220 minutes"), (2, 3, "Late deliveries: 412 plus some more")]
