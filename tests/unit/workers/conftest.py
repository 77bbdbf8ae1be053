from collections.abc import Callable

import pytest

from common.contracts import Result
from workers import tools
from workers.desk import Desk

Lend = Callable[..., None]


@pytest.fixture
def lend(monkeypatch: pytest.MonkeyPatch) -> Lend:
    """Gives the pod these tools and no others: `lend(ruff=Result())`, or a function of the desk."""
    known: dict[str, tools.Tool] = {}
    monkeypatch.setattr(tools, "known", lambda: known)

    def add(*, analyser: bool = True, **given: Result | Callable[[Desk], Result]) -> None:
        for name, does in given.items():
            run = does if callable(does) else (lambda _desk, result=does: result)
            known[name] = tools.Tool(name, "Does a thing.", run, analyser)

    return add
