import pytest
from brief_desk import evidence, example_documents, found_by, gathered, lost, run

from common.contracts import Result
from workers.tools.documents import search
from workers.tools.figures import facts
from workers.tools.numbers import compare


def read(quote: str, path: str = "a.md") -> list[tuple[str, str, float, str]]:
    return [(f.name(), f.period, f.value, f.unit) for f in facts(evidence(path, quote)) if f]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Late deliveries in May 2025: 1,310", ("late deliveries", "2025-05", 1310, "")),
        ("In Q2 2025 there were 1,310 late deliveries.", ("late deliveries", "2025-Q2", 1310, "")),
        ("Refunds came to EUR 9,240.50 in 2025-05.", ("refunds", "2025-05", 9240.5, "EUR")),
        ("On 14 May 2025 we paid €5,150 in refunds.", ("refunds", "2025-05-14", 5150, "EUR")),
        ("The late share was 6.3 % in May 2025.", ("late share", "2025-05", 6.3, "%")),
        ("Turnover reached 1.2 million euros in 2024.", ("turnover", "2024", 1_200_000, "EUR")),
        ("Orders fell by 40 in June 2025.", ("change in orders", "2025-06", 40, "")),
        (
            "In May 2025 we had 310 late deliveries at the North depot.",
            ("late deliveries (north depot)", "2025-05", 310, ""),
        ),
    ],
)
def test_a_plain_sentence_gives_measure_period_value_and_unit(
    sentence: str, expected: tuple[str, str, float, str]
) -> None:
    quote = sentence

    found = read(quote)

    assert found == [expected]


def test_from_and_to_belong_to_their_own_months() -> None:
    quote = "Late deliveries rose from 714 in April to 1,310 in May 2025."

    found = read(quote)

    assert found == [
        ("late deliveries", "2025-04", 714, ""),
        ("late deliveries", "2025-05", 1310, ""),
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The map was loaded at 15:05 under INC-2031.",
        "It takes over within 5 minutes.",
        "Customers who waited more than 90 minutes were refunded.",
        "Version 1.2.3 of 5th street, rows 10-20.",
        "Orders: " + "9" * 400,
    ],
)
def test_a_number_without_a_plain_measure_gives_no_fact(sentence: str) -> None:
    quote = sentence

    found = read(quote)

    assert found == []


def test_a_row_takes_its_measures_from_the_header_and_its_period_from_the_row() -> None:
    quote = "month,late_deliveries,refunds_eur\n2025-05,1130,9240"

    found = read(quote, "figures.csv")

    assert found == [
        ("late deliveries", "2025-05", 1130, ""),
        ("refunds", "2025-05", 9240, "EUR"),
    ]


def test_a_row_may_have_its_periods_across_the_top() -> None:
    quote = "| Measure | April 2025 | May 2025 |\n| Refunds (EUR) | 3,350 | 9,240 |"

    found = read(quote)

    assert found == [("refunds", "2025-04", 3350, "EUR"), ("refunds", "2025-05", 9240, "EUR")]


def test_a_heading_or_else_the_path_gives_the_period() -> None:
    under_heading = read("# Review of May 2025\n## Vans\nOrders: 17", "2024-01.md")
    by_path = read("# Review\nOrders: 17", "2024-01-report.md")

    assert [f[1] for f in under_heading + by_path] == ["2025-05", "2024-01"]


@pytest.mark.parametrize(
    "quote", ['"a,b\n1,2', "a,b\n1,2,3", "a;b\n;", "⟦⟧ 5\n⟦ 6", "|\n|", "1,\n2,"]
)
def test_lines_that_only_look_like_a_table_do_no_harm(quote: str) -> None:
    source = gathered(evidence("a.csv", quote))

    result = run(compare, source)

    assert "## Figures" not in result.text


def test_two_documents_with_different_values_contradict_each_other() -> None:
    table = evidence("figures.csv", "month,late_deliveries\n2025-05,1130", 6)
    prose = evidence("review.md", "Late deliveries rose to 1,310 in May 2025.", 8)

    result = run(compare, gathered(table, prose))

    assert (
        "- late deliveries, 2025-05: 1,130 (figures.csv:6) against 1,310 (review.md:8)"
        in result.text.splitlines()
    )


@pytest.mark.parametrize(
    "other",
    [
        "Late deliveries were 1,130 in May 2025.",
        "Late deliveries were about 1,100 in May 2025.",
        "Late deliveries were 1,310 in June 2025.",
        "In May 2025 there were 310 late deliveries at the North depot.",
        "Late deliveries were 6.3 % in May 2025.",
        "Late deliveries rose by 410 in May 2025.",
    ],
    ids=["same", "rounded", "other month", "other scope", "other unit", "a change"],
)
def test_what_does_not_speak_of_the_same_is_no_contradiction(other: str) -> None:
    table = evidence("figures.csv", "month,late_deliveries\n2025-05,1130", 6)

    result = run(compare, gathered(table, evidence("review.md", other)))

    assert "Contradictions" not in result.text


def test_a_disputed_period_is_kept_out_of_the_comparison() -> None:
    rows = [f"month,orders\n2025-0{month},{value}" for month, value in ((1, 10), (2, 99), (3, 20))]
    prose = evidence("b.md", "Orders were 15 in February 2025.")

    result = run(compare, gathered(*(evidence("a.csv", row) for row in rows), prose))

    row = next(line for line in result.text.splitlines() if line.startswith("| orders"))
    assert row == (
        "| orders, without the disputed 2025-02 | 10 in 2025-01 | 20 in 2025-03 | +100.0 % "
        "| 10 | 20 | 15.0 over 2 | a.csv |"
    )


def test_two_incidents_are_no_trend() -> None:
    one = evidence("incident-2025-05-14.md", "Late deliveries: 412")
    two = evidence("incident-2025-06-03.md", "Late deliveries: 187")

    result = run(compare, gathered(one, two))

    assert "## Figures" not in result.text
    assert "late deliveries, 2025-05-14: 412" in result.text
    assert "late deliveries, 2025-06-03: 187" in result.text


def test_several_values_in_one_document_are_left_out_and_counted() -> None:
    found = [evidence("a.md", f"In May 2025 there were {n} orders.", n) for n in (3, 4)]

    result = run(compare, gathered(*found))

    assert "## Single figures" not in result.text
    assert (
        "- Left out: figures of which one document has several for one time or for none: 2."
        in result.text
    )


def test_numbers_that_were_not_understood_are_counted_and_lower_the_confidence() -> None:
    found = evidence("a.md", "In May 2025 there were 3 orders. It waited within 7.")

    result = run(compare, gathered(found))

    assert "- Left out: numbers without a plain measure: 1." in result.text
    assert result.confidence == 45


def test_what_the_request_asks_for_comes_first() -> None:
    row = "month,apples,refunds_eur"
    found = [evidence("a.csv", f"{row}\n2025-0{m},{m},{m * 10}", m) for m in (1, 2)]

    result = run(compare, gathered(*found), request="refunds")

    assert result.text.index("| refunds |") < result.text.index("| apples |")


def test_a_whole_comes_before_its_parts() -> None:
    part = evidence("a.md", "| Depot | Costs |\n| North | 3 |")
    whole = evidence("a.md", "Refunds: 9", 2)

    result = run(compare, gathered(part, whole), request="costs and refunds")

    assert result.text.index("refunds: 9") < result.text.index("costs (North): 3")


def test_no_passages_or_none_that_can_be_read_have_confidence_zero() -> None:
    nothing = run(compare, lost("gather", "the pod died"))
    unreadable = run(compare, gathered(evidence("a.md", "It waited within 7.")))
    without_numbers = run(compare, gathered(evidence("a.md", "No numbers here.")))

    assert (nothing.confidence, unreadable.confidence) == (0, 0)
    assert without_numbers.confidence == 90


def test_the_examples_have_one_contradiction_and_every_figure_has_evidence() -> None:
    passages = run(search, *example_documents())

    result = run(compare, found_by("gather", passages))
    again = run(compare, found_by("gather", Result.model_validate_json(passages.model_dump_json())))

    assert result.text.count(" against ") == 1
    assert "1,130 (monthly-figures.csv:6) against 1,310 (quarterly-review.md:8-9)" in result.text
    assert set(result.evidence) <= set(passages.evidence)
    assert result == again
