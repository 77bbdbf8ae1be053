import pytest
import typer

from chargehand.cli import app


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """The command, with nothing behind it that would start a process or take a port."""
    for name in ("chargehand.serve.supervise", "chargehand.serve.work", "chargehand.flower.serve"):
        monkeypatch.setattr(name, lambda *_, **__: None)
    monkeypatch.setattr("chargehand.cli.processes.check_free", lambda *_: None)
    return app
