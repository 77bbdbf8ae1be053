from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chargehand.collect import from_paths, paths
from common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Repo

    from chargehand.collect import Collected
    from common.contracts import Document

    Find = Callable[[Collected, str], Document]
    Why = Callable[[Collected, str], str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is in no repository, and the current one."""
    plain = (tmp_path / "plain").resolve()
    (plain / "src").mkdir(parents=True)
    (plain / "src" / "a.py").write_text("a = 1\n")
    (plain / "src" / "b.js").write_text("b = 1\n")
    monkeypatch.chdir(plain)
    return plain


def test_a_file_is_taken_whole(folder: Path, document: Find) -> None:
    collected = from_paths([Path("src/a.py")])

    assert document(collected, "src/a.py").changed is None
    assert document(collected, "src/a.py").text == "a = 1\n"
    assert collected.label == "src/a.py (1 file)"


def test_a_path_named_twice_is_taken_once(folder: Path) -> None:
    collected = from_paths([Path("src"), Path("src/a.py"), Path("src/../src"), folder / "src"])

    assert [d.path for d in collected.documents] == ["src/a.py", "src/b.js"]


def test_hidden_and_vendored_folders_are_listed_and_not_entered(folder: Path, why: Why) -> None:
    for name in ("node_modules", ".venv", ".hidden", ".git"):
        (folder / name).mkdir()
        (folder / name / "x.py").write_text("x = 1\n")

    collected = from_paths([Path()])

    assert [d.path for d in collected.documents] == ["src/a.py", "src/b.js"]
    assert why(collected, "node_modules") == why(collected, ".venv") == "vendored folder"
    assert why(collected, ".hidden") == "hidden folder"
    assert not [e for e in collected.excluded if e.path == ".git"]


def test_links_are_listed_and_not_followed(folder: Path, why: Why, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("secret = 1\n")
    (folder / "src" / "linked").symlink_to(tmp_path / "outside")
    (folder / "src" / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    (folder / "src" / "circle").symlink_to(folder)

    collected = from_paths([Path("src")])

    assert "secret" not in str(collected.documents)
    for path in ("src/linked", "src/link.py", "src/circle"):
        assert why(collected, path) == "symbolic link"


def test_what_git_ignores_in_a_folder_is_left_alone_unless_named(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root)
    repo.write(".gitignore", "build/\n")
    repo.write("build/made.py", "x = 1\n")
    repo.write("new.py", "x = 1\n")

    everything = from_paths([Path()])
    named = from_paths([Path("build")])

    assert [d.path for d in everything.documents] == [".gitignore", "app.py", "new.py"]
    assert [d.path for d in named.documents] == ["build/made.py"]


def test_paths_are_told_from_the_repositorys_root(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.write("pkg/x y.py", "x = 1\n")
    monkeypatch.chdir(repo.root / "pkg")

    collected = from_paths([Path("x y.py"), Path("..", "app.py")])

    assert [d.path for d in collected.documents] == ["app.py", "pkg/x y.py"]


def test_paths_outside_the_current_folder_are_told_from_their_common_one(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "c.py").write_text("c = 1\n")

    collected = from_paths([Path("src/a.py"), tmp_path / "else" / "c.py"])

    assert [d.path for d in collected.documents] == ["else/c.py", "plain/src/a.py"]


def test_a_file_that_is_named_is_taken_though_it_looks_generated(folder: Path) -> None:
    (folder / "vendor").mkdir()
    (folder / "vendor" / "lib.min.js").write_text("// @generated\nx()\n")

    by_name = from_paths([Path("vendor/lib.min.js")])
    by_folder = from_paths([Path("vendor")])

    assert [d.path for d in by_name.documents] == ["vendor/lib.min.js"]
    assert [e.reason for e in by_folder.excluded] == [
        "generated: built from other files, by its name"
    ]


def test_odd_files_are_listed(folder: Path, why: Why) -> None:
    (folder / "empty.py").write_text("")
    (folder / "data.bin").write_bytes(bytes(range(256)))
    (folder / "noise.txt").write_bytes(bytes(range(128, 256)) * 10)
    (folder / "huge.py").touch()
    os.truncate(folder / "huge.py", 50_000_000)
    os.mkfifo(folder / "pipe")

    collected = from_paths([folder])

    assert why(collected, "empty.py") == "empty"
    assert why(collected, "data.bin") == "binary"
    assert why(collected, "noise.txt").startswith("binary: most of it")
    assert why(collected, "huge.py") == "too large: 50.0 MB, over the limit of 1.0 MB"
    assert why(collected, "pipe") == "no regular file"


@pytest.mark.parametrize("path", ["nowhere.py", "src/a.py/x", "nul\0l", "x" * 5000])
def test_a_path_that_does_not_exist_is_named(folder: Path, path: str) -> None:
    with pytest.raises(InputError, match=r"^no path '.*name a file or a folder$"):
        from_paths([Path(path)])


def test_no_path_is_nothing_to_review() -> None:
    with pytest.raises(InputError, match="nothing to review"):
        from_paths([])


def test_too_many_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "MOST_FILES", 1)

    with pytest.raises(InputError, match="more than 1 files; name a smaller folder"):
        from_paths([Path("src")])


def test_files_are_collected_without_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    collected = from_paths([Path("src")])

    assert len(collected.documents) == 2
