import json
import re
import unicodedata

import pytest

from chargehand.formats import FORMATS, render
from common.contracts import Report
from common.errors import InputError


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", ["full", "brief", "nasty"])
def test_every_format_gives_the_same_text_each_time_and_ends_with_one_line_feed(
    name: str, kind: str, request: pytest.FixtureRequest
) -> None:
    report: Report = request.getfixturevalue(kind)

    first, second = render(name, report), render(name, report)

    assert first == second
    assert first.endswith("\n")
    assert not first.endswith("\n\n")


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_that_steers_a_terminal_comes_through(name: str, nasty: Report) -> None:
    shown = render(name, nasty)

    controls = {c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")}
    assert controls == {"\n"}
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)


def test_an_unknown_format_is_answered_with_the_known_ones(full: Report) -> None:
    with pytest.raises(InputError, match=r"no format 'pdf'; known are: text, json, markdown"):
        render("pdf", full)


def test_json_is_the_report_itself(full: Report) -> None:
    shown = render("json", full)

    assert Report.model_validate_json(shown) == full
    assert shown.isascii()
    assert list(json.loads(shown))[:2] == ["v", "job"]


def test_a_text_report_is_in_json_with_its_evidence(brief: Report) -> None:
    shown = json.loads(render("json", brief))

    assert shown["text"] == brief.text
    assert shown["evidence"][0]["path"] == "sales.csv"
