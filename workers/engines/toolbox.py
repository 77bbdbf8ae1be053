"""The tools of one specialist, as a model calls them: these and no others."""

import json
import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from common.contracts import Finding, Result
from common.model import ToolCall, ToolSpec
from workers import tools
from workers.desk import Desk, OutOfTime, Stopped, ToolError
from workers.engines.rules import Note

logger = logging.getLogger(__name__)

AT_ONCE = 8
MOST = 20
"""How many tools one turn may ask for."""
RESULT_LIMIT = 30_000
ARGUMENTS = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "only this document; leave it out for all of the step",
        }
    },
    "additionalProperties": False,
}


class Toolbox:
    """What a model may use on a desk."""

    def __init__(self, desk: Desk, note: Note) -> None:
        self._desk = desk
        self._note = note
        self._tools = {name: tools.find(name) for name in desk.assignment.tools}
        self._found: dict[Finding, None] = {}

    def specs(self) -> list[ToolSpec]:
        """Return the tools as they are offered, always in the same order."""
        return [ToolSpec(t.name, t.description, ARGUMENTS) for t in self._tools.values()]

    def found(self) -> tuple[Finding, ...]:
        """Return what the analysers that were called found, each thing once."""
        return tuple(self._found)

    def run(self, calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
        """Run the tools that a model asked for, together, and return a result for each."""
        with ThreadPoolExecutor(max_workers=min(AT_ONCE, len(calls))) as pool:
            results = list(pool.map(self._answered, calls[:MOST]))
        return [*results, *(_result(c, f"at most {MOST} at once", True) for c in calls[MOST:])]

    def _answered(self, call: ToolCall) -> dict[str, Any]:
        try:
            return _result(call, self._used(call), False)
        except (Stopped, OutOfTime):
            raise
        except ToolError as error:
            return _result(call, str(error), True)
        except (Exception, SystemExit) as error:
            # A fault in a tool is for the model to work around, like any other failure of it.
            logger.exception("tool %s broke", call.name)
            return _result(call, f"the tool broke: {type(error).__name__}", True)

    def _used(self, call: ToolCall) -> str:
        tool = self._tools.get(call.name)
        if tool is None:
            self._note("refused_tool", {"tool": call.name[:100]})
            raise ToolError(f"no tool {call.name!r}; there are: {', '.join(self._tools) or 'none'}")
        unknown = sorted(set(call.arguments) - {"path"})
        if unknown:
            raise ToolError(f"unknown arguments: {', '.join(unknown)}; only path is known")
        desk = self._narrowed(call.arguments.get("path"))
        desk.left()
        began = time.monotonic()
        result = tool.run(desk)
        seconds = round(time.monotonic() - began, 6)
        self._note(
            "tool", {"tool": tool.name, "seconds": seconds, "findings": len(result.findings)}
        )
        if tool.analyser:
            self._found.update(dict.fromkeys(result.findings))
        return _compact(result)

    def _narrowed(self, path: object) -> Desk:
        """Return a desk for one call: tools that run together must not share a scratch folder."""
        given = self._desk.assignment
        chosen = tuple(d for d in given.documents if path is None or d.path == path)
        if path is not None and not chosen:
            known = ", ".join(d.path for d in given.documents)
            raise ToolError(f"no document {path!r} in this step; there are: {known}")
        return replace(self._desk, assignment=given.model_copy(update={"documents": chosen}))


def _result(call: ToolCall, text: str, failed: bool) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": text[:RESULT_LIMIT] or "nothing found",
        "is_error": failed,
    }


def _compact(result: Result) -> str:
    """Return a tool's result as the model reads it best: short."""
    rows = [
        {
            "path": f.path,
            "line": f.span.start,
            "severity": f.severity,
            "category": f.category,
            "message": f.message,
            "rule": f.rule,
            "confidence": f.confidence,
        }
        for f in result.findings
    ]
    return "\n".join(part for part in (json.dumps(rows) if rows else "", result.text) if part)
