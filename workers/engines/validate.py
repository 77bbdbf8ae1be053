"""A second look at findings that are not certain: each alone, first by a cheap model."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pydantic import ValidationError

from common.contracts import Document, Finding, Tier
from common.errors import ModelError
from common.model.words import said
from workers.desk import Desk
from workers.engines import prompt
from workers.engines.answer import Verdict
from workers.engines.rules import Note
from workers.engines.talk import Talk

AT_ONCE = 4
UNCONFIRMED = 25
"""The confidence that is left to a finding which a second look did not confirm."""
PROMPTS = (
    "You check single findings of a reviewer. You see one finding and its code, no more.",
    "Answer in the required form.",
)


class Validator:
    """Has findings of one step looked at again."""

    def __init__(self, desk: Desk, talk: Talk, note: Note) -> None:
        self._limit = desk.assignment.validate_below
        self._documents = {d.path: d for d in desk.assignment.documents}
        self._talk = talk
        self._note = note

    def validated(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return the findings; one that was not certain and is not confirmed is lowered."""
        unsure = [f for f in dict.fromkeys(findings) if f.confidence < self._limit]
        if not unsure:
            return tuple(findings)
        with ThreadPoolExecutor(max_workers=min(AT_ONCE, len(unsure))) as pool:
            seen = dict(zip(unsure, pool.map(self._looked_at, unsure), strict=True))
        return tuple(seen.get(finding, finding) for finding in findings)

    def _looked_at(self, finding: Finding) -> Finding:
        if self._talk.used_up:
            self._told(finding, None, "the step's tokens are used up")
            return finding
        document = self._documents[finding.path]
        verdict = self._asked("haiku", finding, document)
        if verdict is not None and not verdict.confirmed and finding.severity == "critical":
            # Before what may do much harm is put aside, a model that thinks deeper has the word.
            verdict = self._asked("opus", finding, document)
        if verdict is None or verdict.confirmed:
            return finding
        return finding.model_copy(update={"confidence": min(finding.confidence, UNCONFIRMED)})

    def _asked(self, tier: Tier, finding: Finding, document: Document) -> Verdict | None:
        """Return a model's verdict, or None when there is none to be had."""
        turns = [said(prompt.finding_alone(finding, document))]
        try:
            reply = self._talk.ask(tier, PROMPTS, turns, Verdict)
            verdict = Verdict.model_validate_json(reply.text)
        except ModelError as error:
            # What was found is not lost because nobody could look at it again.
            self._told(finding, None, str(error), tier)
            return None
        except ValidationError:
            verdict = Verdict(confirmed=False, why="the validator gave no verdict")
        self._told(finding, verdict.confirmed, verdict.why[:300], tier)
        return verdict

    def _told(self, finding: Finding, confirmed: bool | None, why: str, tier: str = "") -> None:
        self._note(
            "validated",
            {"finding": finding.fingerprint, "confirmed": confirmed, "why": why, "tier": tier},
        )
