import pytest
from brief_desk import evidence, example_documents, found_by, gathered, lost, run

from common.contracts import Result, Span
from workers.tools.briefing import compose, sources
from workers.tools.documents import search
from workers.tools.numbers import compare


def brief() -> Result:
    passages = found_by("gather", run(search, *example_documents()))
    return run(compose, passages, found_by("analyse", run(compare, passages)))


def test_the_brief_has_title_points_figures_contradictions_and_sources_in_order() -> None:
    wanted = ["Key points", "Figures", "Contradictions", "Gaps", "Sources"]

    lines = brief().text.splitlines()

    assert lines[0].startswith("# Why did late deliveries rise")
    assert [line[3:] for line in lines if line.startswith("## ")] == wanted
    assert any(line.startswith("| late deliveries") for line in lines)
    assert "- monthly-figures.csv:2-7" in lines


def test_a_point_with_a_disputed_figure_says_so() -> None:
    point = "Late deliveries rose from 714 in April 2025 to 1,310 in May 2025."

    lines = brief().text.splitlines()

    line = next(line for line in lines if point in line)
    assert line.endswith("(quarterly-review.md:8-9; contradicted, see below)")


def test_a_brief_stays_short_and_says_what_it_does_not_show() -> None:
    found = [
        evidence(f"{n}.md", f"# {n}\nThe depot {n}a {n}b {n}c {n}d had trouble again.", n)
        for n in range(1, 60)
    ]
    rows = "\n".join(f"| m{n} | 1 | 2 |" for n in range(50))
    entries = "\n".join(f"- entry {n}" for n in range(50))
    text = f"## Figures\n\n| Measure | From | To |\n|---|---|---|\n{rows}\n" + "".join(
        f"## {name}\n\n{entries}\n" for name in ("Single figures", "Contradictions", "Limits")
    )

    result = run(
        compose, gathered(*found), found_by("analyse", Result(text=text, evidence=tuple(found)))
    )

    assert len(result.text.splitlines()) <= 62
    assert "43 more are not shown." in result.text
    assert "- 45 more are not shown." in result.text


def test_a_lost_step_is_named_as_a_gap_with_its_reason() -> None:
    passage = evidence("a.md", "Late deliveries rose because the routing service failed.", 3)

    result = run(compose, gathered(passage), lost("analyse", "timeout after\x1b 120 s"))

    assert "Late deliveries rose because the routing service failed. (a.md:3)" in result.text
    assert (
        "- The step `analyse` was lost, so it compares no figures and did not look for "
        "contradictions: timeout after 120 s" in result.text.splitlines()
    )
    assert result.confidence == 50


def test_with_every_step_lost_the_brief_is_its_gaps() -> None:
    before = lost("gather", "the pod died"), lost("analyse", "skipped")

    result = run(compose, *before)

    assert result.text.count("was lost") == 2
    assert "## Key points" not in result.text
    assert (result.confidence, result.evidence) == (0, ())


def test_nothing_found_is_said_in_the_brief() -> None:
    passages = found_by("gather", run(search, request="late deliveries"))

    result = run(compose, passages, found_by("analyse", run(compare, passages)))

    assert "- Nothing was found: the job has no documents." in result.text
    assert result.confidence == 0


def test_words_of_the_request_that_no_passage_has_are_named() -> None:
    passage = evidence("a.md", "Refunds doubled after the outage of the routing service.")

    result = run(compose, gathered(passage), request="refunds and helicopters")

    assert "- No passage mentions: helicopters." in result.text


def test_a_point_is_made_once() -> None:
    one = evidence("a.md", "The routing outage delayed all tours of the afternoon.")
    two = evidence("b.md", "All afternoon tours were delayed by the routing outage.")

    result = run(compose, gathered(one, two))

    assert "(a.md:1)" in result.text
    assert "(b.md:1)" not in result.text


def test_a_table_row_is_no_point() -> None:
    row = evidence("a.md", "# H\n| Depot | Late | Why was it late this time |\n| North | 3 | x |")

    result = run(compose, gathered(row))

    assert "## Key points" not in result.text


def test_documents_without_figures_do_not_lower_the_confidence() -> None:
    passages = gathered(evidence("a.md", "The routing service failed without any warning."))

    result = run(compose, passages, found_by("analyse", run(compare, passages)))

    assert result.confidence == 100


def test_an_analysis_in_free_text_is_used_as_it_is_and_capped() -> None:
    text = "\n".join(f"Sentence {n} of a model." for n in range(30))

    result = run(compose, found_by("analyse", Result(text=text)))

    assert "Sentence 6 of a model." in result.text
    assert "Sentence 7 of a model." not in result.text
    assert "23 more are not shown." in result.text


@pytest.mark.parametrize(
    ("request_text", "title"),
    [
        ("## Late\x00 deliveries\nin May? And more.", "# Late deliveries in May?"),
        ("word " * 100, "# " + " ".join(["word"] * 20) + " …"),
        ("#", "# Brief"),
        ("", "# Brief"),
    ],
)
def test_the_title_is_the_requests_first_sentence_in_one_line(
    request_text: str, title: str
) -> None:
    asked = request_text

    result = run(compose, lost("gather", "gone"), request=asked)

    assert result.text.splitlines()[0] == title


def test_neighbouring_lines_are_joined_in_the_sources() -> None:
    cited = [evidence("a.md", "x", line) for line in (9, 2, 3, 4, 3)]
    whole = evidence("b.md", "x").model_copy(update={"span": None})
    wide = evidence("c.md", "x").model_copy(update={"span": Span(start=1, end=8)})

    found = sources([*cited, whole, wide, evidence("c.md", "y", 5)])

    assert found == ["a.md:2-4, a.md:9", "b.md", "c.md:1-8"]


def test_the_same_inputs_give_the_same_brief() -> None:
    first = brief()

    second = brief()

    assert first == second
