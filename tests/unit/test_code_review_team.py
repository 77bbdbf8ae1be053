import difflib
import json
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from chargehand.collect import language
from common import teams
from common.contracts import Assignment, Document, Finding, Span
from workers import tools
from workers.desk import laid_out

TEAM = teams.load(teams.SHIPPED / "code_review")
EXAMPLE = teams.SHIPPED.parent / "examples" / "pull_request"
BY_RULES = ("security", "performance", "style", "logic")


def _changed(old: list[str], new: list[str]) -> tuple[Span, ...]:
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Span(start=a + 1, end=b) for tag, _, _, a, b in steps if tag in {"insert", "replace"}
    )


def _document(path: Path) -> Document:
    name, text = path.relative_to(EXAMPLE / "after").as_posix(), path.read_text(encoding="utf-8")
    before = EXAMPLE / "before" / name
    old = before.read_text(encoding="utf-8").splitlines() if before.is_file() else []
    return Document(
        path=name,
        text=text,
        language=language.of(name, text),
        lines=len(text.splitlines()),
        changed=_changed(old, text.splitlines()),
    )


@cache
def _documents() -> tuple[Document, ...]:
    after = sorted(p for p in (EXAMPLE / "after").rglob("*") if p.is_file())
    return tuple(d for d in map(_document, after) if d.changed)


@cache
def _found(specialist: str) -> tuple[Finding, ...]:
    role = TEAM.specialists[specialist]
    assignment = Assignment(
        job="job0000001",
        step=specialist,
        attempt=1,
        team=TEAM.name,
        specialist=specialist,
        tools=role.tools,
        instruction=role.instruction,
        criterion=role.criterion,
        documents=tuple(
            d for d in _documents() if not role.languages or d.language in role.languages
        ),
    )
    with laid_out(assignment, stopped=lambda: False) as desk:
        return tuple(f for name in role.tools for f in tools.find(name).run(desk).findings)


def test_no_two_specialists_share_a_tool_and_every_tool_is_known() -> None:
    named = list(chain.from_iterable(s.tools for s in TEAM.specialists.values()))

    assert len(named) == len(set(named))
    assert set(named) <= set(tools.known())


@pytest.mark.parametrize("specialist", BY_RULES)
def test_the_first_four_lenses_work_without_a_model(specialist: str) -> None:
    assert all(tools.find(name).analyser for name in TEAM.specialists[specialist].tools)


@pytest.mark.parametrize("specialist", ["guidelines", "history", "comments"])
def test_the_other_lenses_need_a_model(specialist: str) -> None:
    assert not any(tools.find(name).analyser for name in TEAM.specialists[specialist].tools)


def test_secrets_concern_every_language() -> None:
    assert TEAM.specialists["security"].languages == ()


@pytest.mark.parametrize("specialist", TEAM.specialists)
def test_a_prompt_tells_role_limits_confidence_and_when_to_escalate(specialist: str) -> None:
    prompt = TEAM.specialists[specialist].prompt

    for heading in ("What not to report", "How sure to be", "A good finding", "A bad finding"):
        assert f"## {heading}" in prompt
    assert "## When to escalate" in prompt
    assert 20 <= len(prompt.splitlines()) <= 50


def test_the_example_s_problems_are_found_and_nothing_else() -> None:
    expected = json.loads((EXAMPLE / "expected.json").read_text(encoding="utf-8"))
    found = [f for specialist in BY_RULES for f in _found(specialist)]

    assert {(f.path, f.category) for f in found} == {(e["path"], e["category"]) for e in expected}
    for one in expected:
        same = [f for f in found if (f.path, f.category) == (one["path"], one["category"])]
        assert all(f.span.start <= one["line"] <= f.span.end for f in same), one
        assert {f.severity for f in same} == {one["severity"]}


@pytest.mark.parametrize("specialist", BY_RULES)
def test_every_lens_finds_something_in_the_example(specialist: str) -> None:
    assert _found(specialist)


def test_the_example_has_an_old_problem_that_no_lens_reports() -> None:
    old = (EXAMPLE / "after" / "shop" / "catalog.py").read_text(encoding="utf-8")

    assert "hashlib.md5" in old
    assert "weak-hash" not in {f.category for f in _found("security")}


def test_the_example_ships_its_own_guidelines_unchanged() -> None:
    assert "CONTRIBUTING.md" not in {d.path for d in _documents()}
    assert (EXAMPLE / "after" / "CONTRIBUTING.md").is_file()
