"""How the supervisor asks a model: in a form, with one repair, and its cost on the trace."""

import time
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from common.contracts import Tier, Usage
from common.errors import ModelError, ModelUnavailable
from common.model import Reply, Request, door
from common.model.words import Turn, said
from supervisor.office import Office

SECONDS = 180.0
"""How long the supervisor converses about one thing."""
MOST_TOKENS = 32_000
"""A plan of a large job is long; so is a report on it."""
TOLD = 20
"""How many faults of an answer are told."""

Form = TypeVar("Form", bound=BaseModel)
Check = Callable[[Form], list[str]]
"""Returns what is wrong with an answer that has the right form."""


class Asking:
    """One conversation about one job."""

    def __init__(self, office: Office, job: str, about: str, shared: str) -> None:
        self._office = office
        self._job = job
        self._about = about
        self._shared = shared
        self._ends = time.monotonic() + SECONDS

    def ask(self, tier: Tier, system: str, text: str, form: type[Form], check: Check[Form]) -> Form:
        """Return an answer in which nothing is wrong; its faults are told the model once."""
        turns: list[Turn] = [said(text)]
        for _ in range(2):
            request = Request(
                tier=tier,
                shared=self._shared,
                system=system,
                turns=turns,
                schema=door().schema(form),
                max_tokens=MOST_TOKENS,
            )
            reply = door().ask(request, self._left)
            self._told("model", _facts(reply))
            if reply.stop_reason == "refusal":
                raise ModelError(f"the model declined to give a {self._about}")
            found, faults = _judged(reply, form, check)
            if found is not None and not faults:
                return found
            self._told("refused_answer", {"faults": faults[:TOLD]})
            again = said("That cannot be used: " + "; ".join(faults[:TOLD]) + ". Answer again.")
            # An answer of nothing is no turn: the service would refuse to have it back.
            turns += [reply.turn, again] if reply.turn["content"] else [again]
        raise ModelError(f"the model's {self._about} had faults twice: {'; '.join(faults[:3])}")

    def _left(self) -> float:
        seconds = self._ends - time.monotonic()
        if seconds <= 0:
            raise ModelUnavailable(f"no {self._about} within {SECONDS:.0f} s")
        return seconds

    def _told(self, event: str, data: dict[str, object]) -> None:
        self._office.store.trace.add(self._job, event, {"about": self._about, **data})


def _facts(reply: Reply) -> dict[str, object]:
    usage = reply.usage.model_dump()
    return {"model": reply.model, "request": reply.request_id, "usage": usage}


def _judged(reply: Reply, form: type[Form], check: Check[Form]) -> tuple[Form | None, list[str]]:
    if reply.cut_off:
        return None, ["it was cut off; be shorter"]
    try:
        found = form.model_validate_json(reply.text)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False)
        return None, [f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}" for e in faults]
    return found, check(found)


def spent(office: Office, job: str) -> Usage:
    """Return what all calls about a job consumed: each try of each step, planning and writing."""
    events = office.store.trace.read(job)
    used = (Usage.model_validate(e.data["usage"]) for e in events if e.event == "model")
    return sum(used, Usage())
