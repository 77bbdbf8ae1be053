from typing import Any

import pytest

from chargehand.formats import as_markdown
from common.contracts import Report


def test_a_review_has_its_findings_gaps_and_label(full: Report) -> None:
    shown = as_markdown.render(full)

    assert shown.startswith("## 1 problem in 1 file\n")
    assert "by rules, without a model" in shown
    assert "**Partial: some work was lost.**" in shown
    assert "### `src/app.py`\n\n- 🔴 **critical**, line 3: SQL is built from input  \n" in shown
    assert "  **Suggestion:** Use parameters  \n" in shown
    assert "- 🟠 **warning**, lines 7-9: Slow loop  \n" in shown
    assert "<summary>Not covered (2)</summary>" in shown
    assert "- `logo.png`: binary" in shown


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("<script>x</script>", "&lt;script\\>x&lt;/script\\>"),
        ("a | b", "a \\| b"),
        ("use `x`", "use \\`x\\`"),
        ("![i](http://x)", "\\!\\[i\\]\\(http://x\\)"),
        ("**loud**", "\\*\\*loud\\*\\*"),
        ("ask @octocat", "ask @\u200boctocat"),
        ("one\n\n# two", "one \\# two"),
        ("&lt;b&gt;", "\\&lt;b\\&gt;"),
        ("\\`", "\\\\\\`"),
    ],
)
def test_nothing_in_a_message_is_markup(
    hostile: str, harmless: str, make_report: Any, make_finding: Any
) -> None:
    report = make_report(findings=(make_finding(message=hostile, suggestion=hostile),))

    shown = as_markdown.render(report)

    assert f"line 3: {harmless}  \n" in shown
    assert f"**Suggestion:** {harmless}  \n" in shown


def test_a_path_with_backticks_stays_code(make_report: Any, make_finding: Any) -> None:
    report = make_report(findings=(make_finding(path="a``b</details>.py"),))

    shown = as_markdown.render(report)

    assert "### ``` a``b</details>.py ```\n" in shown


def test_a_clean_review_says_so(make_report: Any) -> None:
    assert "No problem was found." in as_markdown.render(make_report())


def test_a_text_report_keeps_its_markdown_and_loses_its_html(
    brief: Report, make_report: Any
) -> None:
    shown = as_markdown.render(brief)
    hostile = as_markdown.render(make_report(text="<img src=x> ![a](http://x) @all **kept**"))

    assert "| 2024 | 4 |" in shown
    assert "- `sales.csv:2-3`: 2024,4" in shown
    assert "&lt;img src=x> !\\[a](http://x) @\u200ball **kept**" in hostile
