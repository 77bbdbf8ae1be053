"""The scripted Messages API for tests: `serve` as a context, `messages_api` as a fixture."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.messages_api.scenario import Scenario, load
from tests.messages_api.server import Server

SCENARIOS = Path(__file__).parent / "scenarios"

Script = Scenario | Path | str | dict[str, Any]


def scripted(script: Script) -> Scenario:
    """Return a scenario, given as itself, its content, its file, or the name of a shipped one."""
    if isinstance(script, str):
        script = SCENARIOS / f"{script}.yaml"
    if isinstance(script, Path):
        return load(script)
    return script if isinstance(script, Scenario) else Scenario.model_validate(script)


@contextmanager
def serve(script: Script, port: int = 0) -> Iterator[Server]:
    """Serve a scenario on 127.0.0.1 until the end of the block."""
    server = Server(scripted(script), port=port)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def messages_api() -> Iterator[Callable[[Script], Server]]:
    """Serve scenarios until the end of the test."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(serve(script))
