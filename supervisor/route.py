"""Choose a queue for each step."""

from collections.abc import Iterable

from common.contracts import Step, Team
from common.store import Routed


def route(steps: Iterable[Step], team: Team) -> list[Routed]:
    """Return each step with its queue and the reason for it."""
    return [Routed(step.id, team.queue(step.specialist), "primary") for step in steps]
