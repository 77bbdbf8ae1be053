"""Run one attempt at a step, and turn whatever happens into an outcome."""

import json
import logging
import time
from collections.abc import Callable

from common.contracts import Assignment, Escalation, Failure, Outcome, Result, Usage
from common.errors import ChargehandError, InputError, StoreUnavailable
from workers.desk import Desk, OutOfTime, Stopped, ToolError, ToolMissing, laid_out
from workers.engines import rules
from workers.think import Thinking

logger = logging.getLogger(__name__)

Events = list[tuple[str, str]]
Fetch = Callable[[Assignment], Assignment]
"""Returns an assignment with all its bodies at hand, or raises InputError."""
Work = Callable[[Desk, rules.Note], Result | Escalation | Failure]


def run(
    assignment: Assignment,
    *,
    fetch: Fetch,
    pod: str,
    stopped: Callable[[], bool],
    left: float,
    largest: int,
    thinking: Thinking,
) -> tuple[Outcome, Events]:
    """Return what the attempt came to, and what happened on the way. It never raises for work.

    `left` are the seconds that its job has left.
    """
    began = time.monotonic()
    events: Events = []
    used: list[Usage] = []

    def note(event: str, data: dict[str, object]) -> None:
        if event == "model":
            used.append(Usage.model_validate(data["usage"]))
        at = {"attempt": assignment.attempt, "pod": pod, "at": round(time.monotonic() - began, 6)}
        events.append((event, json.dumps(at | data)))

    body = attempt(assignment, thinking.work, note, fetch=fetch, stopped=stopped, left=left)
    outcome = Outcome(
        job=assignment.job,
        team=assignment.team,
        step=assignment.step,
        attempt=assignment.attempt,
        specialist=assignment.specialist,
        engine=thinking.engine,
        pod=pod,
        seconds=time.monotonic() - began,
        usage=sum(used, Usage()),
        body=_within(largest, body),
    )
    return outcome, events


def attempt(
    assignment: Assignment,
    work: Work,
    note: rules.Note,
    *,
    fetch: Fetch,
    stopped: Callable[[], bool],
    left: float,
) -> Result | Escalation | Failure:
    """Do the work; every way in which it can break becomes a failure that says so."""
    try:
        with laid_out(fetch(assignment), stopped, left) as desk:
            return work(desk, note)
    except Stopped as error:
        return Failure(reason="cancelled", message=_said(error))
    except OutOfTime as error:
        return Failure(reason="timeout", message=_said(error), transient=True)
    except ToolMissing as error:
        return Failure(reason="tool_missing", message=_said(error))
    except ToolError as error:
        return Failure(reason="exception", message=_said(error), transient=error.transient)
    except InputError as error:
        return Failure(reason="bad_input", message=_said(error))
    except (OSError, StoreUnavailable) as error:
        # A full disk or a lack of processes passes; another pod may not have it at all.
        return Failure(reason="exception", message=_said(error), transient=True)
    except (Exception, SystemExit) as error:
        # The edge of the pod: a fault in a tool must not take the other steps down, nor a
        # library that takes itself for a program and exits.
        logger.exception("step %s of job %s broke", assignment.step, assignment.job)
        return Failure(reason="exception", message=_said(error))


def _said(error: BaseException) -> str:
    """Return what an error says, and of what type it is unless it is ours."""
    name = type(error).__name__
    ours = isinstance(error, ToolError | ChargehandError)
    words = str(error).strip() or name if ours else f"{name}: {error}"
    # A file name that is no UTF-8 brings characters into a message that no contract takes.
    return words.encode(errors="replace").decode()[:1000]


def _within(largest: int, body: Result | Escalation | Failure) -> Result | Escalation | Failure:
    size = len(body.model_dump_json().encode())
    if size <= largest:
        return body
    message = f"the outcome has {size:,} bytes; {largest:,} are allowed (CHARGEHAND_RESULT_LIMIT)"
    return Failure(reason="bad_input", message=message)
