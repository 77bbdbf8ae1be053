from tool_desk import document, result

from common.contracts import Note, Span
from workers import tools


def test_aids_are_no_analysers() -> None:
    assert not any(tools.find(name).analyser for name in ("guidelines", "history", "comments"))


def test_written_rules_are_listed_with_their_place() -> None:
    text = (
        "# Rules\n\n- Never print.\n- The shop is old.\n\n```\n- always code\n```\n1. Use tabs.\n"
    )
    rules = document("CONTRIBUTING.md", text, role="guideline")

    aid = result("guidelines", rules, document("shop.py", "# - Never read this.\n"))

    assert aid.text.splitlines()[1:] == [
        "CONTRIBUTING.md:3: Never print.",
        "CONTRIBUTING.md:9: Use tabs.",
    ]
    assert [e.quote for e in aid.evidence] == ["Never print.", "Use tabs."]


def test_history_tells_each_fact_about_the_changed_lines_once() -> None:
    notes = (
        Note(kind="blame", text="4f1c2d9 Fix\n  the total", span=Span(start=2, end=3)),
        Note(kind="blame", text="1111111 Elsewhere", span=Span(start=8, end=9)),
        Note(kind="commit", text="4f1c2d9 Fix the total"),
        Note(kind="commit", text="4f1c2d9 Fix the total"),
    )
    changed = document("shop.py", "a\n" * 9, (2, 2), notes=notes)

    aid = result("history", changed, document("other.py", "a\n"))

    assert aid.text.splitlines()[1:] == [
        "shop.py",
        "- blame (lines 2-3): 4f1c2d9 Fix the total",
        "- commit: 4f1c2d9 Fix the total",
    ]


def test_an_aid_with_nothing_to_say_is_silent() -> None:
    plain = document("shop.py", "x = 1\n")

    assert [result(name, plain).text for name in ("guidelines", "history", "comments")] == [""] * 3


def test_comments_next_to_the_change_are_listed() -> None:
    python = '"""Far."""\n\n\n\n\n\n\ndef f():\n    """Sorted."""\n    x = "# no"  # near\n'
    script = "// far\n\n\n\n\n/* near,\n   two lines */\nf();\n"

    aid = result("comments", document("a.py", python, (10, 10)), document("a.js", script, (8, 8)))

    assert aid.text.splitlines()[1:] == [
        "a.py:9: Sorted.",
        "a.py:10: # near",
        "a.js:6: /* near, two lines */",
    ]
