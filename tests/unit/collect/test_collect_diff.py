from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chargehand.collect import diffs, from_diff
from common.contracts import Span
from common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Repo

    from chargehand.collect import Collected
    from common.contracts import Document

    Find = Callable[[Collected, str], Document]
    Why = Callable[[Collected, str], str]

MODIFIED = """\
diff --git a/src/app.py b/src/app.py
index d68dd40..a7bc997 100644
--- a/src/app.py
+++ b/src/app.py
@@ -3,3 +3,4 @@ def f():
 three
-four
+FOUR
+FOUR AND A HALF
 five
@@ -20,2 +21,1 @@
 twenty-one
-gone
"""

MANY = """\
diff --git a/old name.py b/new name.py
similarity index 60%
rename from old name.py
rename to new name.py
index 94ebaf9..2c3cd04 100644
--- a/old name.py\t
+++ b/new name.py\t
@@ -1 +1 @@
-a
+b
diff --git a/moved.py b/there/moved.py
similarity index 100%
rename from moved.py
rename to there/moved.py
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/made.py b/made.py
new file mode 100644
index 0000000..e25f181
--- /dev/null
+++ b/made.py
@@ -0,0 +1,2 @@
+one
+two
\\ No newline at end of file
diff --git a/gone.py b/gone.py
deleted file mode 100644
index e25f181..0000000
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/icon.png b/icon.png
index 1111111..2222222 100644
GIT binary patch
delta 6
NcmZ3>xSVmq1OPG|13v%&

delta 6
NcmZ3>xSVmq1OPG|13v%&

diff --git a/link b/link
new file mode 120000
index 0000000..e25f181
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+/etc/passwd
\\ No newline at end of file
diff --git a/lib b/lib
index 1111111..2222222 160000
--- a/lib
+++ b/lib
@@ -1 +1 @@
-Subproject commit 1111111
+Subproject commit 2222222
diff --git "a/\\303\\244\\"\\n.py" "b/\\303\\244\\"\\n.py"
index 1111111..2222222 100644
--- "a/\\303\\244\\"\\n.py"
+++ "b/\\303\\244\\"\\n.py"
@@ -1 +1 @@
-a
+b
"""


def test_without_a_repository_lines_stand_at_their_numbers(document: Find, why: Why) -> None:
    collected = from_diff(MODIFIED)

    app = document(collected, "src/app.py")
    lines = (app.text or "").split("\n")
    assert lines[:2] == ["", ""]
    assert lines[2:6] == ["three", "FOUR", "FOUR AND A HALF", "five"]
    assert lines[20] == "twenty-one"
    assert app.lines == 21
    assert app.changed == (Span(start=4, end=5),)
    assert app.language == "python"
    assert why(collected, "src/app.py").startswith("in part: only the lines in the diff")
    assert collected.label == "a diff (1 file, +2 -2)"


def test_a_file_that_matches_the_diff_is_taken_whole(
    document: Find, why: Why, tmp_path: Path
) -> None:
    lines = [f"line {n}" for n in range(1, 31)]
    lines[2:6] = ["three", "FOUR", "FOUR AND A HALF", "five"]
    lines[20] = "twenty-one"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("\r\n".join(lines) + "\r\n", newline="")

    collected = from_diff(MODIFIED, tmp_path)

    assert document(collected, "src/app.py").lines == 30
    assert collected.excluded == ()


def test_a_file_of_another_version_is_not_taken(why: Why, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("something else\n" * 40)

    collected = from_diff(MODIFIED, tmp_path)

    assert "something else" not in str(collected.documents)
    assert "in part" in why(collected, "src/app.py")


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("b\nsecret\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "new name.py").symlink_to(outside)
    (folder / "linked").symlink_to(tmp_path)
    through_folder = "--- a/linked/outside.py\n+++ b/linked/outside.py\n@@ -1 +1 @@\n-a\n+b\n"

    by_file = from_diff(MANY, folder)
    by_folder = from_diff(through_folder, folder)

    assert "secret" not in str(by_file.documents)
    assert "secret" not in str(by_folder.documents)


def test_every_kind_of_change_is_told_apart(document: Find, why: Why) -> None:
    collected = from_diff(MANY)

    assert [d.path for d in collected.documents] == ["made.py", "new name.py", 'ä"\n.py']
    assert document(collected, "made.py").text == "one\ntwo"
    assert document(collected, "made.py").changed == (Span(start=1, end=2),)
    assert "no added or modified line" in why(collected, "run.sh")
    assert "no added or modified line" in why(collected, "there/moved.py")
    assert why(collected, "gone.py") == "deleted"
    assert why(collected, "logo.png") == why(collected, "icon.png") == "binary"
    assert why(collected, "link") == "symbolic link"
    assert why(collected, "lib") == "submodule"


def test_gits_own_diffs_of_strange_names_parse(repo: Repo, document: Find) -> None:
    names = ["x b/y b/z.py", "sp ace.py", 'q"uote.py', "ä.py", "b/b/b.py"]
    for name in names:
        repo.write(name, "one\ntwo\n")
    repo.commit()
    for name in names:
        repo.write(name, "one\n2\n")
    for options in ([], ["--no-prefix"], ["--src-prefix=i/", "--dst-prefix=w/"]):
        diff = repo.git("diff", *options)

        collected = from_diff(diff, repo.root)

        assert sorted(d.path for d in collected.documents) == sorted(names)
        assert all(d.changed == (Span(start=2, end=2),) for d in collected.documents)
        assert collected.excluded == ()


def test_a_plain_diff_without_git_parses(document: Find, why: Why) -> None:
    diff = (
        "diff -ru old.py new.py\n"
        "--- old.py\t2024-01-01 00:00:00.000000000 +0000\n"
        "+++ app.py\t2024-01-02 00:00:00.000000000 +0000\n"
        "@@ -1,2 +1,2 @@\n-a\n+b\n c\n"
        "--- gone.py\t2024-01-01 00:00:00\n+++ gone.py\t1970-01-01 00:00:00\n"
        "@@ -1 +0,0 @@\n-a\n"
    )

    collected = from_diff(diff)

    assert document(collected, "app.py").changed == (Span(start=1, end=1),)
    assert why(collected, "gone.py") == "deleted"


def test_a_mailed_patch_with_its_signature_parses(repo: Repo, document: Find) -> None:
    repo.write("app.py", "one\ntwo\nthree\nfour\n5\n")
    repo.commit("Change\n\n- a list\n+ another\n")
    diff = repo.git("format-patch", "--stdout", "-1")

    collected = from_diff(diff)

    assert document(collected, "app.py").changed == (Span(start=5, end=5),)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_diff_saved_by_windows_parses(document: Find, encoding: str) -> None:
    diff = MODIFIED.replace("\n", "\r\n").encode(encoding)

    collected = from_diff(diff)

    assert document(collected, "src/app.py").changed == (Span(start=4, end=5),)
    assert "\r" not in (document(collected, "src/app.py").text or "")


def test_windows_line_ends_of_a_file_are_kept(document: Find) -> None:
    collected = from_diff("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\r\n+b\r\n")

    assert document(collected, "x.py").text == "b\r\n"


def test_bytes_that_are_not_utf8_are_replaced_and_told(document: Find) -> None:
    collected = from_diff(b"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+name = '\xe9'\n")

    assert document(collected, "x.py").text == "name = '\ufffd'\n"
    assert "1 bytes that are not UTF-8 were replaced" in [e.reason for e in collected.excluded]


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "x/../../y",
        "..\\..\\boot.ini",
        "C:\\boot.ini",
        "\\\\h\\s",
    ],
)
def test_a_path_that_leaves_the_folder_refuses_the_whole_diff(path: str, tmp_path: Path) -> None:
    good = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    plain = f"{good}--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n"
    git = f"{good}diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n"
    hunkless = f"{good}diff --git a/x b/{path}\nsimilarity index 100%\nrename to {path}\n"

    for diff in (plain, git, hunkless):
        with pytest.raises(InputError, match="leaves the folder"):
            from_diff(diff, tmp_path)


@pytest.mark.parametrize("diff", ["", "\n \n", b""])
def test_an_empty_diff_is_nothing_to_review(diff: str | bytes) -> None:
    with pytest.raises(InputError, match=r"^nothing to review: the diff is empty$"):
        from_diff(diff)


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        ("hello\n", "names no file"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1, '@@ -1 \\+1 @@': unexpected hunk"),
        ("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n", "line 5, '\\+b': hunk is shorter"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n", "line 6, '\\+c': the hunk is longer"),
        ("--- a/x\n+++ b/x\n@@ -1 +1\n-a\n+b\n", "line 3, .* not a hunk's header"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n*a\n", "line 4, '\\*a': hunk diff line expected"),
        ("--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n--a\n++b\n", "line 3, .*combined diff of a merge"),
        ("--- a/x\n+++ b/x\n@@ -1 +0 @@\n-a\n+b\n", "count from 0|not below"),
        (f"--- a/x\n+++ b/x\n@@ -1 +{'9' * 5000} @@\n-a\n+b\n", "line 3, .*far too large"),
        ("diff --git " + "://" * 5000 + "\n", "line 1, .*file names are too long"),
        (
            "--- a/x\n+++ b/x\n@@ -9 +9 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n",
            "line 8, .*not below those before it",
        ),
        (MODIFIED + MODIFIED, "changes 'src/app.py' twice, at lines 1 and 14"),
    ],
)
def test_a_broken_diff_is_refused_with_its_line(diff: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        from_diff(diff)

    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_hunk_far_down_does_not_fill_the_memory(why: Why) -> None:
    collected = from_diff("--- a/x.py\n+++ b/x.py\n@@ -1 +999999999 @@\n-a\n+b\n")

    assert collected.documents == ()
    assert why(collected, "x.py").startswith("too large")


def test_a_huge_diff_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diffs, "LIMIT", 100)

    with pytest.raises(InputError, match="over the limit"):
        from_diff(MODIFIED)
