"""One attempt's calls of a model: in a form, counted against the step's tokens, and traced."""

import time
from collections.abc import Sequence
from threading import Lock

from pydantic import BaseModel, ValidationError

from common.contracts import Tier
from common.model import Door, Reply, Request, ToolSpec
from common.model.words import Turn
from workers.desk import Desk
from workers.engines.rules import Note


class Talk:
    """What an attempt says to models, and what that took."""

    def __init__(self, desk: Desk, door: Door, note: Note) -> None:
        self._desk = desk
        self._door = door
        self._note = note
        self._spent = 0
        self._lock = Lock()

    @property
    def used_up(self) -> bool:
        """Whether the step's tokens are used up."""
        return self._spent > self._desk.assignment.budget.tokens

    def ask(
        self,
        tier: Tier,
        prompts: tuple[str, str],
        turns: Sequence[Turn],
        form: type[BaseModel],
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        """Return the model's answer; `prompts` are what is shared and what is special."""
        began = time.monotonic()
        request = Request(
            tier=tier,
            shared=prompts[0],
            system=prompts[1],
            turns=turns,
            tools=tools,
            schema=self._door.schema(form),
            goes_on=bool(tools),
        )
        reply = self._door.ask(request, self._desk.left)
        used = reply.usage
        with self._lock:
            self._spent += used.input_tokens + used.output_tokens + used.cache_write_tokens
        self._note(
            "model",
            {
                "model": reply.model,
                "request": reply.request_id,
                "seconds": round(time.monotonic() - began, 6),
                "stop": reply.stop_reason,
                "usage": used.model_dump(),
            },
        )
        return reply


def faults(error: ValidationError) -> str:
    """Say what does not fit a form, without what was given."""
    return "; ".join(
        f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}"
        for e in error.errors(include_input=False, include_url=False)[:10]
    )
