"""Work by a model: a bounded loop with this specialist's tools and no others."""

from pydantic import ValidationError

from common.contracts import Escalation, Failure, Result
from common.model import Door, Reply
from common.model.words import Turn, said
from workers.desk import Desk
from workers.engines import answer, prompt, talk
from workers.engines.rules import Note
from workers.engines.toolbox import Toolbox
from workers.engines.validate import Validator

ROUNDS = 10
LAST_CALL = {"type": "text", "text": "This was the last use of tools. Answer now."}


class Specialist:
    """One attempt at a step, in conversation with a model."""

    def __init__(self, desk: Desk, door: Door, note: Note, texts: tuple[str, str]) -> None:
        self._desk = desk
        self._note = note
        self._prompts = prompt.shared(texts[0]), texts[1]
        self._talk = talk.Talk(desk, door, note)
        self._tools = Toolbox(desk, note)
        self._validator = Validator(desk, self._talk, note)
        self._repaired = False

    def work(self) -> Result | Escalation | Failure:
        """Return what the model made of the step."""
        given, offered = self._desk.assignment, self._tools.specs()
        turns: list[Turn] = [said(prompt.task(given))]
        for number in range(1, ROUNDS + 1):
            reply = self._talk.ask(given.tier, self._prompts, turns, answer.Answer, offered)
            made = self._taken(reply)
            if not isinstance(made, dict):
                return made
            if self._talk.used_up:
                return self._given_up("the step's tokens are used up")
            if number == ROUNDS - 1:
                made["content"].append(LAST_CALL)
            # An answer of nothing is no turn: the service would refuse to have it back.
            turns += [reply.turn, made] if reply.turn["content"] else [made]
        return self._given_up(f"no answer after {ROUNDS} rounds")

    def _taken(self, reply: Reply) -> Result | Escalation | Failure | Turn:
        """Return the outcome that an answer means, or the turn that it is answered with."""
        if reply.calls:
            return {"role": "user", "content": self._tools.run(reply.calls)}
        if reply.stop_reason == "refusal":
            return Escalation(reason="out_of_scope", message="the model declined to answer")
        try:
            return self._concluded(answer.Answer.model_validate_json(reply.text))
        except ValidationError as error:
            if self._repaired:
                return _unfit(reply, error)
            self._repaired = True
            return said(_repair(reply, error))

    def _concluded(self, given: answer.Answer) -> Result | Escalation:
        body = answer.body(self._desk, given)
        kept = body if isinstance(body, Result) else body.partial
        left_out = len(given.findings) - len(kept.findings if kept else ())
        if left_out:
            self._note("left_out", {"findings": left_out, "why": "not on lines of this step"})
        if isinstance(body, Escalation):
            return body
        return body.model_copy(update={"findings": self._validator.validated(body.findings)})

    def _given_up(self, why: str) -> Escalation:
        """Return an escalation with what the tools have found so far."""
        found = self._tools.found()
        return Escalation(
            reason="timeout", message=why, partial=Result(findings=found) if found else None
        )


def _repair(reply: Reply, error: ValidationError) -> str:
    if reply.cut_off:
        return "Your answer was cut off. Answer again, shorter: the most important findings only."
    faults = talk.faults(error)
    return f"Your answer does not fit the required form: {faults}. Answer again, in that form only."


def _unfit(reply: Reply, error: ValidationError) -> Failure:
    why = "was cut off" if reply.cut_off else "does not fit the form"
    message = f"the model's answer {why} twice ({error.error_count()} faults)"
    return Failure(reason="model", message=message, transient=True)
