from typing import Any

from chargehand.formats import as_text
from common.contracts import Report


def test_findings_stand_under_their_file_in_the_reports_order(full: Report) -> None:
    lines = as_text.render(full).split("\n")

    heads = [line for line in lines if line in ("src/app.py", "web/x y.js")]
    assert heads == ["src/app.py", "web/x y.js"]
    first = lines.index("src/app.py")
    assert lines[first + 1].split() == ["3", "critical", "SQL", "is", "built", "from", "input"]
    assert lines[first + 2].strip() == "suggestion: Use parameters"
    assert lines[first + 3].strip() == (
        "bandit:B608, confidence 90, found by logic, security in agreement"
    )
    assert lines[first + 4].split()[:3] == ["1", "info", "Odd"]
    assert "7-9  warning   Slow loop" in lines[lines.index("web/x y.js") + 1]


def test_what_the_report_does_not_cover_is_said(full: Report) -> None:
    shown = as_text.render(full)

    assert "partial: some work was lost" in shown
    assert "src/app.py:3: logic says warning, security says critical; settled as critical" in shown
    assert "comments (comments-1), not covered: needs a model" in shown
    assert "style (style-1), lost: took too long" in shown
    assert "logo.png: binary" in shown
    assert "2 findings below the confidence asked for" in shown


def test_the_engine_and_the_gain_of_working_in_parallel_are_told(
    full: Report, make_report: Any
) -> None:
    by_rules = as_text.render(full)
    by_both = as_text.render(make_report(engines=("claude", "rules")))
    by_none = as_text.render(make_report(engines=()))

    assert "by rules, without a model" in by_rules
    assert "1.50 s for 4.50 s of work, 3.0 times as fast" in by_rules
    assert "by Claude and, in part, by rules without a model" in by_both
    assert "without running any step" in by_none


def test_colour_is_there_when_asked_for_and_changes_no_word(full: Report) -> None:
    from rich.text import Text

    plain = as_text.render(full)
    coloured = as_text.render(full, colour=True)

    assert "\x1b[" not in plain
    assert "\x1b[1;31mcritical" in coloured.replace("  critical", "critical")
    assert Text.from_ansi(coloured).plain.split() == plain.split()


def test_markup_in_a_message_is_only_text(make_report: Any, make_finding: Any) -> None:
    message = "[bold]not bold[/bold] :smile: [link=http://x]y[/link]"

    shown = as_text.render(make_report(findings=(make_finding(message=message),)), colour=True)

    assert message in shown


def test_a_long_message_is_not_broken(make_report: Any, make_finding: Any) -> None:
    message = "word " * 60 + "end"

    shown = as_text.render(make_report(findings=(make_finding(message=message),)))

    assert message in shown


def test_a_text_report_shows_its_text_and_sources(brief: Report) -> None:
    shown = as_text.render(brief)

    assert "Sales grew by **4 %**." in shown
    assert "sales.csv:2-3: 2024,4" in shown
    assert "notes.md: a good year" in shown


def test_names_that_look_alike_stay_apart(make_report: Any, make_finding: Any) -> None:
    names = ["a\nb.py", "a b.py", "a\tb.py"]

    shown = as_text.render(make_report(findings=tuple(make_finding(path=n) for n in names)))

    assert [n in shown for n in ("a\\nb.py", "a b.py", "a\\tb.py")] == [True] * 3
