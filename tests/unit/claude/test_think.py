"""Which engine works: by a model, by rules when the model is away, and labelled either way."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from common.contracts import Escalation, Failure, Result
from common.model import door
from common.settings import settings
from tests.messages_api.fixture import Script, messages_api
from tests.messages_api.server import Server
from tests.unit.samples import assignment, document
from workers.desk import laid_out
from workers.engines import rules
from workers.think import Thinking

__all__ = ["messages_api"]
Serve = Callable[[Script], Server]
BY_RULES = Result(text="by rules")
FAULTS: list[tuple[dict[str, Any], bool]] = [
    ({"status": 401}, False),
    ({"status": 429, "retry_after": 3600}, True),
    ({"text": "no form"}, True),
]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rules, "work", lambda _desk, _note: BY_RULES)
    door.cache_clear()
    yield
    door.cache_clear()


def think(
    monkeypatch: pytest.MonkeyPatch, server: Server, engine: str, seconds: float = 20.0
) -> tuple[Result | Escalation | Failure, str, list[str]]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("CHARGEHAND_ENGINE", engine)
    settings.cache_clear()
    events: list[str] = []
    thinking = Thinking(lambda: ("We review.", "You look."))
    given = assignment(documents=(document(),), budget={"seconds": seconds})
    with laid_out(given, lambda: False) as desk:
        body = thinking.work(desk, lambda event, _data: events.append(event))
    return body, thinking.engine, events


@pytest.mark.parametrize(("fault", "transient"), FAULTS, ids=str)
def test_without_a_usable_answer_auto_works_by_rules_and_claude_fails(
    messages_api: Serve, monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any], transient: bool
) -> None:
    server = messages_api({"default": fault})

    by_auto = think(monkeypatch, server, "auto")
    door.cache_clear()
    body, engine, _ = think(monkeypatch, server, "claude")

    assert by_auto[:2] == (BY_RULES, "rules")
    assert by_auto[2][-1] == "fell_back"
    assert isinstance(body, Failure)
    assert (body.reason, body.transient, engine) == ("model", transient, "claude")


def test_a_model_that_is_too_slow_leaves_time_for_rules(
    messages_api: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = messages_api({"default": {"text": "late", "delay": 30}})

    body, engine, events = think(monkeypatch, server, "auto", seconds=1.0)

    assert (body, engine, events) == (BY_RULES, "rules", ["fell_back"])
