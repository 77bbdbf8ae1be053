from __future__ import annotations

from typing import TYPE_CHECKING

from chargehand.collect import from_diff, from_git, from_paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Repo

    from chargehand.collect import Collected
    from common.contracts import Document

    Find = Callable[[Collected, str], Document]
    Why = Callable[[Collected, str], str]


def guidelines(collected: Collected) -> list[str]:
    return [d.path for d in collected.documents if d.role == "guideline"]


def test_written_rules_travel_with_every_kind_of_input(repo: Repo) -> None:
    written = [".github/CONTRIBUTING.md", "AGENTS.md", "CONTRIBUTING.rst", "docs/style-python.md"]
    for path in written:
        repo.write(path, "# Rules\n")
    repo.write("docs/other.md", "# No rules\n")
    repo.commit()
    repo.write("app.py", "one\n2\nthree\nfour\nfive\n")

    by_git = from_git(repo.root, "HEAD")
    by_diff = from_diff(repo.git("diff"), repo.root)
    by_path = from_paths([repo.root / "app.py"])

    assert guidelines(by_git) == guidelines(by_diff) == guidelines(by_path) == written
    assert by_git.label == "changes since HEAD (1 file, +1 -1)"


def test_a_guideline_that_changed_is_a_subject(repo: Repo, document: Find) -> None:
    repo.write("CONTRIBUTING.md", "# Rules\n")

    collected = from_git(repo.root, "main")

    assert document(collected, "CONTRIBUTING.md").role == "subject"


def test_a_long_guideline_is_cut_at_a_line_and_says_so(
    repo: Repo, document: Find, why: Why
) -> None:
    repo.write("STYLE.md", "0123456789\n" * 10_000)
    repo.commit()
    repo.write("app.py", "1\n")

    collected = from_git(repo.root, "HEAD")

    text = document(collected, "STYLE.md").text or ""
    assert 63_000 < len(text) <= 64_000
    assert text.endswith("0123456789\n")
    assert why(collected, "STYLE.md") == "guideline: cut after 64.0 kB of 0.1 MB"


def test_a_guideline_behind_a_link_is_not_read(repo: Repo, why: Why) -> None:
    (repo.root / "CLAUDE.md").symlink_to("/etc/hostname")
    repo.commit()
    repo.write("app.py", "1\n")

    collected = from_git(repo.root, "HEAD")

    assert guidelines(collected) == []
    assert why(collected, "CLAUDE.md") == "guideline: symbolic link"


def test_only_so_many_guidelines_travel(repo: Repo) -> None:
    for number in range(12):
        repo.write(f"docs/style{number:02}.md", "# Rules\n")
    repo.commit()
    repo.write("app.py", "1\n")

    collected = from_git(repo.root, "HEAD")

    assert len(guidelines(collected)) == 10
    assert len([e for e in collected.excluded if "only the first 10" in e.reason]) == 2
