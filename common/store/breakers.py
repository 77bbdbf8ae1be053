"""Breakers: a specialist that fails again and again is left alone by the fleet for a while."""

from collections.abc import Collection
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from common import names
from common.contracts import Failure, Outcome, Result
from common.store.connection import Connection

FAILURES_IN_A_ROW = 5
"""After so many, the breaker opens."""
PAUSE = 20.0
"""Seconds that it stays open before one step may test whether the specialist works again."""
NOT_ITS_FAULT = ("bad_input", "cancelled", "lost")


class Breaker(BaseModel):
    """What is known about a specialist that failed lately."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    failures: int
    opened: float | None = None
    probed: float | None = None


def breaker_name(team: str, specialist: str) -> str:
    """Name a specialist across all teams."""
    return f"{team}/{specialist}"


def lesson(outcome: Outcome) -> Literal["works", "fails", "nothing"]:
    """Return what an outcome teaches about the specialist."""
    match outcome.body:
        case Result():
            return "works"
        case Failure(reason=reason) if reason not in NOT_ITS_FAULT:
            return "fails"
    return "nothing"


class Breakers:
    """The breakers of all specialists."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> dict[str, Breaker]:
        """Return every breaker that has counted a failure, by the specialist's name."""
        raw: Any = self._connection.ask(lambda client: client.hgetall(names.BREAKERS))
        return {name: Breaker.model_validate_json(value) for name, value in sorted(raw.items())}

    def open(self, team: str, specialists: Collection[str]) -> set[str]:
        """Return those of a team's specialists whose breaker is open."""
        known = self.all()
        found = {s: known.get(breaker_name(team, s)) for s in specialists}
        return {s for s, breaker in found.items() if breaker and breaker.opened is not None}

    def probe(self, team: str, specialist: str) -> bool:
        """Ask for the one step that may test a specialist; True when it is given."""
        args = [breaker_name(team, specialist), PAUSE]
        return bool(self._connection.run("probe", [], args))
