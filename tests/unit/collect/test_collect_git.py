from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from chargehand.collect import content, from_git
from common.contracts import Job, Span
from common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Repo

    from chargehand.collect import Collected
    from common.contracts import Document

    Find = Callable[[Collected, str], Document]
    Why = Callable[[Collected, str], str]


def test_committed_staged_unstaged_and_untracked_changes_all_count(
    repo: Repo, document: Find
) -> None:
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.write("committed.py", "a = 1\n")
    repo.commit()
    repo.write("staged.py", "b = 2\n")
    repo.git("add", "staged.py")
    repo.write("app.py", "one\nTWO\nthree\nfour\nfive\nsix\n")
    repo.write("untracked.py", "c = 3\nd = 4\n")

    collected = from_git(repo.root, "main")

    paths = [d.path for d in collected.documents]
    assert paths == ["app.py", "committed.py", "staged.py", "untracked.py"]
    assert document(collected, "app.py").text == "one\nTWO\nthree\nfour\nfive\nsix\n"
    assert document(collected, "app.py").changed == (Span(start=2, end=2), Span(start=6, end=6))
    assert document(collected, "untracked.py").changed == (Span(start=1, end=2),)
    assert collected.label == "changes since main (4 files, +6 -1)"
    assert collected.excluded == ()


def test_only_what_changed_since_the_branches_parted_counts(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.write("mine.py", "a = 1\n")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.write("theirs.py", "b = 1\n")
    repo.commit()
    repo.git("checkout", "--quiet", "feature")

    collected = from_git(repo.root, "main")

    assert [d.path for d in collected.documents] == ["mine.py"]


def test_a_folder_inside_the_repository_gives_the_whole_change(repo: Repo) -> None:
    repo.write("deep/down/x.py", "a = 1\n")
    repo.write("top.py", "a = 1\n")

    collected = from_git(repo.root / "deep", "main")

    assert [d.path for d in collected.documents] == ["deep/down/x.py", "top.py"]


def test_what_git_ignores_is_not_collected(repo: Repo) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.write("x.log", "noise\n")

    collected = from_git(repo.root, "main")

    assert [d.path for d in collected.documents] == [".gitignore"]


@pytest.mark.parametrize(
    "name",
    [
        "with space.py",
        "a b/c b/d.py",
        "new\nline.py",
        'quote"d.py',
        "tab\t.py",
        "ünï-中.py",
        "-dash.py",
        ":(top)magic.py",
        "a/b/a/x.py",
    ],
)
def test_strange_file_names_survive(repo: Repo, document: Find, name: str) -> None:
    repo.write(name, "one\ntwo\nthree\n")
    repo.commit("Add a strange name")
    repo.write(name, "one\n2\nthree\n")

    collected = from_git(repo.root, "HEAD")

    assert document(collected, name).changed == (Span(start=2, end=2),)
    assert "Add a strange name" in document(collected, name).notes[0].text
    Job(team="code_review", request="review", documents=collected.documents)


def test_names_that_no_document_can_have_are_listed(repo: Repo, why: Why) -> None:
    (repo.root / "back\\slash.py").write_text("a = 1\n")
    with open(os.fsencode(repo.root) + b"/\xff.py", "wb") as file:  # noqa: PTH123 - a name of bytes
        file.write(b"a = 1\n")

    collected = from_git(repo.root, "main")

    assert collected.documents == ()
    assert "backslash" in why(collected, "back\\slash.py")
    assert "not UTF-8" in why(collected, "\ufffd.py")


def test_a_renamed_and_changed_file_has_its_new_name_and_old_history(
    repo: Repo, document: Find
) -> None:
    repo.git("mv", "app.py", "new name.py")
    repo.write("new name.py", "one\ntwo\nthree\nFOUR\nfive\n")

    collected = from_git(repo.root, "main")

    renamed = document(collected, "new name.py")
    assert renamed.changed == (Span(start=4, end=4),)
    assert [n.kind for n in renamed.notes] == ["blame", "commit"]


def test_changes_without_a_line_to_review_are_listed(repo: Repo, why: Why) -> None:
    for name in ("gone.py", "shorter.py", "mode.py", "moved.py", "emptied.py"):
        repo.write(name, f"# {name}\nkeep = 1\ndrop = 2\n")
    repo.commit()
    (repo.root / "gone.py").unlink()
    repo.write("shorter.py", "# shorter.py\nkeep = 1\n")
    (repo.root / "mode.py").chmod(0o755)
    repo.git("mv", "moved.py", "moved_here.py")
    repo.write("emptied.py", "")

    collected = from_git(repo.root, "HEAD")

    assert collected.documents == ()
    assert why(collected, "gone.py") == "deleted"
    assert why(collected, "emptied.py") == "empty"
    for path in ("shorter.py", "mode.py", "moved_here.py"):
        assert "no added or modified line" in why(collected, path)


def test_links_submodules_binaries_and_giants_are_listed_with_their_reason(
    repo: Repo, why: Why, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    (repo.root / "tracked_link").symlink_to(tmp_path / "secret")
    repo.write("blob.bin", b"\x00\x01\x02")
    repo.write("big.py", "x = 1\n" * 200_000)
    repo.git("clone", "--quiet", ".", "sub")
    repo.git("add", "--all")
    repo.git("clone", "--quiet", ".", "nested")
    (repo.root / "untracked_link").symlink_to(tmp_path / "secret")
    repo.write("untracked.bin", b"a\x00b")

    collected = from_git(repo.root, "main")

    assert collected.documents == ()
    assert why(collected, "tracked_link") == why(collected, "untracked_link") == "symbolic link"
    assert why(collected, "sub") == "submodule"
    assert why(collected, "nested/") == "nested git repository"
    assert why(collected, "blob.bin") == why(collected, "untracked.bin") == "binary"
    assert why(collected, "big.py") == "too large: 1.2 MB, over the limit of 1.0 MB"


def test_a_file_behind_a_linked_folder_is_not_read(repo: Repo, why: Why, tmp_path: Path) -> None:
    repo.write("pkg/x.py", "inside = 1\n")
    repo.commit()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.py").write_text("password = 'outside'\n")
    (repo.root / "pkg" / "x.py").unlink()
    (repo.root / "pkg").rmdir()
    (repo.root / "pkg").symlink_to(outside)

    collected = from_git(repo.root, "HEAD")

    assert "outside" not in str(collected.documents)
    assert why(collected, "pkg/x.py") == "deleted"


def test_a_file_that_became_a_link_is_listed_once(repo: Repo, why: Why) -> None:
    (repo.root / "app.py").unlink()
    (repo.root / "app.py").symlink_to("/etc/hostname")

    collected = from_git(repo.root, "main")

    assert why(collected, "app.py") == "symbolic link"


def test_a_file_out_of_the_index_but_on_disk_is_reviewed_whole(repo: Repo, document: Find) -> None:
    repo.git("rm", "--quiet", "--cached", "app.py")

    collected = from_git(repo.root, "main")

    assert document(collected, "app.py").changed == (Span(start=1, end=5),)
    assert collected.excluded == ()


def test_vendored_folders_are_listed_once_with_their_size(repo: Repo, why: Why) -> None:
    for number in range(3):
        repo.write(f"web/node_modules/p{number}/index.js", "x\n")
    repo.write("yarn.lock", "x\n")
    repo.write("api.go", "// Code generated by stringer. DO NOT EDIT.\npackage api\n")

    collected = from_git(repo.root, "main")

    assert why(collected, "web/node_modules") == "vendored folder: 3 files"
    assert why(collected, "yarn.lock") == "generated: a lock file"
    assert why(collected, "api.go") == "generated: line 1 says so"


def test_settings_and_environment_cannot_make_git_run_programs(
    repo: Repo, document: Find, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\necho garbage\n")
    trap.chmod(0o755)
    for key in ("diff.external", "diff.evil.command", "diff.evil.textconv", "core.fsmonitor"):
        repo.git("config", key, str(trap))
    repo.git("config", "core.pager", str(trap))
    for key, value in (("noprefix", "true"), ("mnemonicPrefix", "true"), ("submodule", "log")):
        repo.git("config", f"diff.{key}", value)
    repo.git("config", "color.ui", "always")
    repo.write(".git/info/attributes", "*.py diff=evil\n")
    repo.write("app.py", "one\n2\nthree\nfour\nfive\n")
    (tmp_path / "sprung").unlink(missing_ok=True)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")

    collected = from_git(repo.root, "main")

    assert document(collected, "app.py").changed == (Span(start=2, end=2),)
    assert not (tmp_path / "sprung").exists()


def test_text_that_is_not_utf8_keeps_its_lines(repo: Repo, document: Find, why: Why) -> None:
    repo.write("latin.py", "# ü\nx = 'é'\n".encode("latin-1"))
    repo.write("bom.py", b"\xef\xbb\xbfx = 1\n")
    repo.write("wide.sql", "select 1;\nselect 2;\n".encode("utf-16"))

    collected = from_git(repo.root, "main")

    assert document(collected, "latin.py").text == "# \ufffd\nx = '\ufffd'\n"
    assert document(collected, "latin.py").lines == 2
    assert why(collected, "latin.py") == "2 bytes that are not UTF-8 were replaced"
    assert document(collected, "bom.py").text == "x = 1\n"
    assert document(collected, "wide.sql").lines == 2


def test_form_feeds_and_windows_line_ends_do_not_shift_lines(repo: Repo, document: Find) -> None:
    repo.write("odd.py", "a\f\r\nb\u2028\r\nc\r\n")
    repo.commit()
    repo.write("odd.py", "a\f\r\nb\u2028\r\nC\r\n")

    collected = from_git(repo.root, "HEAD")

    assert document(collected, "odd.py").changed == (Span(start=3, end=3),)
    assert document(collected, "odd.py").lines == 3


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not in a git repository"):
        from_git(tmp_path, "main")


def test_a_missing_git_is_named(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(InputError, match="git is not installed"):
        from_git(repo.root, "main")


def test_an_unknown_ref_is_answered_with_close_names(repo: Repo) -> None:
    repo.git("branch", "release-2")

    with pytest.raises(InputError, match=r"no ref 'relaese-2'.*did you mean release-2"):
        from_git(repo.root, "relaese-2")
    with pytest.raises(InputError, match=r"no ref 'zzzzzz'.*it has: main, release-2"):
        from_git(repo.root, "zzzzzz")


@pytest.mark.parametrize("ref", ["", "--output=/tmp/x", "-x", "main\n", "a\0b"])
def test_a_ref_that_could_be_an_option_is_refused(repo: Repo, ref: str) -> None:
    with pytest.raises(InputError, match="is no git ref"):
        from_git(repo.root, ref)


def test_no_change_is_nothing_to_review(repo: Repo) -> None:
    with pytest.raises(InputError, match=r"^nothing to review: no change since main$"):
        from_git(repo.root, "main")


def test_a_repository_without_a_commit_is_refused(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "empty")

    with pytest.raises(InputError, match="has no commit yet"):
        from_git(repo.root, "main")


def test_unrelated_branches_are_refused(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit()

    with pytest.raises(InputError, match="have no commit in common"):
        from_git(repo.root, "main")


def test_a_bare_repository_is_refused(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))

    with pytest.raises(InputError, match="with a working tree"):
        from_git(tmp_path / "bare.git", "main")


def test_too_much_text_is_refused(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chargehand.collect.collected.TOTAL_LIMIT", 1000)
    repo.write("a.py", "x = 1\n" * 100)
    repo.write("b.py", "x = 1\n" * 100)

    with pytest.raises(InputError, match="too much to review"):
        from_git(repo.root, "main")


def test_a_changed_file_whose_old_version_was_huge_says_that_git_has_no_diff(
    repo: Repo, why: Why
) -> None:
    repo.write("big.py", "x = 1\n" * (content.LIMIT // 6 + 1))
    repo.commit()
    repo.write("big.py", "x = 1\n")

    collected = from_git(repo.root, "HEAD")

    assert why(collected, "big.py") == "binary to git, so its changes are unknown"
