"""Run one attempt at a step, and turn whatever happens into an outcome."""

import json
import logging
import time
from collections.abc import Callable

from common.contracts import Assignment, Escalation, Failure, Outcome, Result
from common.errors import InputError
from workers.desk import OutOfTime, Stopped, ToolError, ToolMissing, laid_out
from workers.engines import rules

logger = logging.getLogger(__name__)

Events = list[tuple[str, str]]
Fetch = Callable[[Assignment], Assignment]
"""Returns an assignment with all its bodies at hand, or raises InputError."""


def run(
    assignment: Assignment,
    *,
    fetch: Fetch,
    pod: str,
    stopped: Callable[[], bool],
    largest: int,
) -> tuple[Outcome, Events]:
    """Return what the attempt came to, and what happened on the way. It never raises for work."""
    began = time.monotonic()
    events: Events = []

    def note(event: str, data: dict[str, object]) -> None:
        at = {"attempt": assignment.attempt, "pod": pod, "at": round(time.monotonic() - began, 6)}
        events.append((event, json.dumps(at | data)))

    body = _within(largest, attempt(assignment, fetch, stopped, note))
    outcome = Outcome(
        job=assignment.job,
        step=assignment.step,
        attempt=assignment.attempt,
        specialist=assignment.specialist,
        engine="rules",
        pod=pod,
        seconds=time.monotonic() - began,
        body=body,
    )
    return outcome, events


def attempt(
    assignment: Assignment, fetch: Fetch, stopped: Callable[[], bool], note: rules.Note
) -> Result | Escalation | Failure:
    """Do the work; every way in which it can break becomes a failure that says so."""
    try:
        with laid_out(fetch(assignment), stopped) as desk:
            return rules.work(desk, note)
    except Stopped as error:
        return Failure(reason="cancelled", message=str(error))
    except OutOfTime as error:
        return Failure(reason="timeout", message=str(error), transient=True)
    except ToolMissing as error:
        return Failure(reason="tool_missing", message=str(error))
    except ToolError as error:
        return Failure(reason="exception", message=str(error), transient=error.transient)
    except InputError as error:
        return Failure(reason="bad_input", message=str(error))
    except OSError as error:
        # A full disk or a lack of processes passes; another pod may not have it at all.
        return Failure(reason="exception", message=_said(error), transient=True)
    except Exception as error:
        # The edge of the pod: a fault in a tool must not take the other steps down.
        logger.exception("step %s of job %s broke", assignment.step, assignment.job)
        return Failure(reason="exception", message=_said(error))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:1000]


def _within(largest: int, body: Result | Escalation | Failure) -> Result | Escalation | Failure:
    size = len(body.model_dump_json())
    if size <= largest:
        return body
    message = f"the outcome has {size:,} bytes; {largest:,} are allowed (CHARGEHAND_RESULT_LIMIT)"
    return Failure(reason="bad_input", message=message)
