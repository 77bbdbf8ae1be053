import difflib
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from chargehand.collect import Collected, from_diff
from common.contracts import Job
from common.errors import InputError

SEED = """\
diff --git a/src/app.py b/src/app.py
index d68dd40..a7bc997 100644
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,3 @@ def f():
 three
-four
+FOUR
+FIVE
\\ No newline at end of file
diff --git "a/\\303\\244.py" b/x.py
old mode 100644
new mode 100755
similarity index 90%
rename from "\\303\\244.py"
rename to x.py
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
diff --git a/icon.png b/icon.png
GIT binary patch
delta 6
NcmZ3>xSVmq1OPG|13v%&

--- /dev/null
+++ b/made.py
@@ -0,0 +1 @@
+one
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x

--\x20
2.39
""".split("\n")  # noqa: SIM905 - a diff is easier to read as one

LINES = st.lists(st.sampled_from(SEED) | st.text(max_size=30), max_size=40)


def collected_or_refused(diff: str | bytes) -> Collected | None:
    with suppress(InputError):
        collected = from_diff(diff)
        Job(
            team="t", request="r", documents=collected.documents, excluded=collected.excluded
        ).model_dump_json()
        return collected
    return None


def test_the_diff_that_is_mutated_is_itself_right() -> None:
    collected = collected_or_refused("\n".join(SEED))

    assert collected is not None
    assert [d.path for d in collected.documents] == ["made.py", "src/app.py"]
    assert len(collected.excluded) == 5


@settings(max_examples=300, deadline=None, derandomize=True)
@given(LINES)
def test_shuffled_lines_of_a_diff_are_collected_or_refused(lines: list[str]) -> None:
    collected_or_refused("\n".join(lines))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, len(SEED)), st.integers(0, 6), LINES)
def test_a_diff_with_a_piece_replaced_is_collected_or_refused(
    at: int, length: int, piece: list[str]
) -> None:
    collected_or_refused("\n".join([*SEED[:at], *piece, *SEED[at + length :]]))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_a_diff_with_bytes_flipped_is_collected_or_refused(data: st.DataObject) -> None:
    diff = bytearray("\n".join(SEED).encode())
    for place in data.draw(st.lists(st.integers(0, len(diff) - 1), max_size=8)):
        diff[place] = data.draw(st.integers(0, 255))

    collected_or_refused(bytes(diff))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12),
    st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12),
)
def test_the_lines_that_difflib_adds_are_the_lines_that_changed(
    old: list[str], new: list[str]
) -> None:
    diff = "\n".join(difflib.unified_diff(old, new, "a/x.py", "b/x.py", lineterm=""))

    collected = collected_or_refused(diff + "\n")

    documents = collected.documents if collected else ()
    for document in documents:
        lines = (document.text or "").split("\n")
        spans = document.changed or ()
        numbers = [n for span in spans for n in range(span.start, span.end + 1)]
        added = [line[1:] for line in diff.split("\n")[2:] if line.startswith("+")]
        assert [lines[n - 1] for n in numbers] == added
        assert all(lines[n - 1] == new[n - 1] for n in numbers)
    if any(line.startswith("+") for line in diff.split("\n")[2:]):
        assert documents
