"""Choose how a specialist thinks: by a model, by rules, or by rules when the model is away."""

import logging
from collections.abc import Callable
from dataclasses import replace

from common.contracts import Engine, Escalation, Failure, Result
from common.errors import ModelError, ModelUnavailable
from common.settings import settings
from workers import isolation
from workers.desk import Desk, OutOfTime
from workers.engines import rules

logger = logging.getLogger(__name__)

Prompts = Callable[[], tuple[str, str]]
"""Returns the team's and the specialist's prompt."""
KEPT, MOST_KEPT = 0.25, 30.0
"""The share of a step's time that is kept for working by rules, and the most seconds of it."""


class Thinking:
    """One attempt's way of thinking; afterwards it tells which engine did the work."""

    def __init__(self, prompts: Prompts | None = None, *, alone: bool = False) -> None:
        self._prompts = prompts
        self._alone = alone
        self.engine: Engine = "rules"

    def work(self, desk: Desk, note: rules.Note) -> Result | Escalation | Failure:
        """Do the step's work."""
        if self._alone:
            # What may take a pod down runs in a process of its own, which has no key.
            return isolation.work(desk, note)
        if self._prompts is None:
            return rules.work(desk, note)
        if settings().engine == "claude":
            return self._only_by_model(desk, note, self._prompts())
        return self._best_by_model(desk, note, self._prompts())

    def _only_by_model(
        self, desk: Desk, note: rules.Note, prompts: tuple[str, str]
    ) -> Result | Escalation | Failure:
        try:
            return self._by_model(desk, note, prompts)
        except ModelError as error:
            passing = isinstance(error, ModelUnavailable)
            return Failure(reason="model", message=str(error), transient=passing)

    def _best_by_model(
        self, desk: Desk, note: rules.Note, prompts: tuple[str, str]
    ) -> Result | Escalation | Failure:
        """Work by a model, and by rules when that gives nothing in time."""
        kept = min(MOST_KEPT, KEPT * desk.left())
        try:
            made = self._by_model(replace(desk, ends=desk.ends - kept), note, prompts)
            if not (isinstance(made, Failure) and made.reason == "model"):
                return made
            why = made.message
        except (ModelError, OutOfTime) as error:
            why = str(error)
        logger.warning("working by rules: %s", why)
        note("fell_back", {"why": why})
        self.engine = "rules"
        return rules.work(desk, note)

    def _by_model(
        self, desk: Desk, note: rules.Note, prompts: tuple[str, str]
    ) -> Result | Escalation | Failure:
        # The model's part is loaded only where a model is asked.
        from common.model import door
        from workers.engines.claude import Specialist

        self.engine = "claude"
        return Specialist(desk, door(), note, prompts).work()
