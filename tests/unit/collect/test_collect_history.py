from __future__ import annotations

from typing import TYPE_CHECKING

from chargehand.collect import from_diff, from_git, history
from common.contracts import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from conftest import Repo

    from chargehand.collect import Collected
    from common.contracts import Document

    Find = Callable[[Collected, str], Document]
    Why = Callable[[Collected, str], str]


def test_the_commits_behind_replaced_lines_are_told_without_their_authors(
    repo: Repo, document: Find
) -> None:
    repo.write("app.py", "one\nTWO\nthree\nfour\nfive\n")
    repo.commit("Fix the second line")
    repo.write("app.py", "one\nzwei\nthree\nfour\nfive\n")

    collected = from_git(repo.root, "HEAD")

    notes = document(collected, "app.py").notes
    short = repo.git("rev-parse", "--short=10", "HEAD").strip()
    date = repo.git("log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%d").strip()
    assert [n.kind for n in notes] == ["blame", "commit", "commit"]
    assert notes[0].text == notes[1].text == f"{short} {date} Fix the second line"
    assert notes[0].span == Span(start=2, end=2)
    assert "Start the app" in notes[2].text
    assert "example.org" not in str(notes)


def test_an_inserted_line_is_told_by_the_line_before_it(repo: Repo, document: Find) -> None:
    repo.write("app.py", "one\ntwo\nthree\nnew\nfour\nfive\n")

    collected = from_git(repo.root, "main")

    notes = document(collected, "app.py").notes
    assert notes[0].span == Span(start=4, end=4)
    assert "Start the app" in notes[0].text


def test_notes_are_bounded_for_each_file(repo: Repo, document: Find) -> None:
    for number in range(12):
        lines = [f"line {n} is {n <= number}\n" for n in range(12)]
        repo.write("busy.py", "".join(lines))
        repo.commit(f"Commit {number} " + "long " * 100)
    repo.write("busy.py", "changed\n" * 12)

    collected = from_git(repo.root, "HEAD")

    notes = document(collected, "busy.py").notes
    assert len(notes) == history.BLAMES + history.COMMITS
    assert all(len(note.text) < 150 for note in notes)


def test_history_of_too_many_files_is_cut_and_says_so(
    repo: Repo, why: Why, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "FILES", 1)
    repo.write("b.py", "one\n")
    repo.commit()
    repo.write("app.py", "1\n")
    repo.write("b.py", "1\n")

    collected = from_git(repo.root, "HEAD")

    assert [bool(d.notes) for d in collected.documents] == [True, False]
    assert why(collected, "(history)").startswith("history was collected for 1 of 2 files")


def test_history_without_time_is_left_out_and_says_so(
    repo: Repo, why: Why, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "SECONDS", 0.0)
    repo.write("app.py", "1\n")

    collected = from_git(repo.root, "HEAD")

    assert collected.documents[0].notes == ()
    assert why(collected, "(history)").startswith("history was collected for 0 of 1 files")


def test_a_diff_that_starts_from_head_gets_history_and_another_does_not(
    repo: Repo, document: Find
) -> None:
    repo.write("app.py", "one\ntwo\nTHREE\nfour\nfive\n")
    diff = repo.git("diff")
    stale = diff.replace("-three", "-drei")

    fresh_notes = document(from_diff(diff, repo.root), "app.py").notes
    stale_notes = document(from_diff(stale, repo.root), "app.py").notes

    assert "Start the app" in fresh_notes[0].text
    assert stale_notes == ()


def test_a_commit_of_an_impossible_time_has_no_date() -> None:
    assert history._told("abc", str(10**15), "Far away") == "abc undated Far away"
