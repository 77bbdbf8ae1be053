import os
import subprocess
import sys
from pathlib import Path

import pytest

from chargehand.stack import private, probe, record
from common.errors import LocalStackError


def _mine(**changed: object) -> record.StackRecord:
    values: dict[str, object] = {
        "pid": os.getpid(),
        "started": record.start_time(os.getpid()),
        "redis_url": "redis://:s3cret@127.0.0.1:1/0",
        "flower_url": None,
        "pools": {"security": 1},
    }
    return record.StackRecord.model_validate({**values, **changed})


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "fault", lambda url: None)


def _gone() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.usefixtures("answering")
def test_a_running_stack_is_found_only_as_long_as_it_runs(home: Path) -> None:
    private.folder(home)

    with record.recorded(home, _mine()):
        assert record.running(home) == _mine()

    assert record.running(home) is None


def test_the_record_is_for_its_owner_only(home: Path) -> None:
    private.folder(home)

    with record.recorded(home, _mine()):
        mode = (home / record.FILE).stat().st_mode & 0o777

    assert (mode, home.stat().st_mode & 0o777) == (0o600, 0o700)
    assert "s3cret" not in repr(_mine())


@pytest.mark.usefixtures("answering")
@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"pid": 1}',
        _mine(pid=_gone()).model_dump_json(),
        _mine(started=1).model_dump_json(),
    ],
    ids=["empty", "of another form", "of a dead process", "of a process with the same id"],
)
def test_a_stale_record_is_removed(home: Path, text: str) -> None:
    private.folder(home)
    private.write(home / record.FILE, text)

    assert record.running(home) is None
    assert not (home / record.FILE).exists()


def test_a_stack_whose_redis_does_not_answer_now_is_not_used_but_kept(home: Path) -> None:
    private.folder(home)
    with record.recorded(home, _mine()):
        assert record.running(home) is None
        assert (home / record.FILE).exists()


def test_a_second_stack_is_refused_with_the_pid_of_the_first(home: Path) -> None:
    with (
        record.only_one(home),
        pytest.raises(LocalStackError, match=rf"running already \(pid {os.getpid()}\)"),
        record.only_one(home),
    ):
        pass

    with record.only_one(home):
        pass


def test_a_folder_that_others_may_write_is_refused(home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)

    with pytest.raises(LocalStackError, match="`chmod 700` it"), record.only_one(home):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(LocalStackError, match="home cannot be used"):
        private.folder(tmp_path / "file" / "home")


def test_nothing_is_created_by_looking_for_a_stack(home: Path) -> None:
    assert record.running(home) is None
    assert not home.exists()
