"""Work by rules: run every tool of the specialist and join what they found. No model is asked."""

import time
from collections.abc import Callable

from common.contracts import Escalation, Result
from workers import tools
from workers.desk import Desk

Note = Callable[[str, dict[str, object]], None]
"""Takes an event for the trace."""


def work(desk: Desk, note: Note) -> Result | Escalation:
    """Return what the tools found; without an analyser, escalate with what the aids gathered."""
    chosen = [tools.find(name) for name in desk.assignment.tools]
    results = [_call(tool, desk, note) for tool in chosen]
    joined = Result(
        findings=tuple(f for result in results for f in result.findings),
        text="\n\n".join(result.text for result in results if result.text),
        evidence=tuple(dict.fromkeys(e for result in results for e in result.evidence)),
        confidence=min((result.confidence for result in results), default=100),
    )
    if any(tool.analyser for tool in chosen):
        return joined
    return Escalation(
        reason="out_of_scope",
        message=f"{desk.assignment.specialist} needs a model's judgement, which rules cannot give",
        partial=joined if joined.text else None,
    )


def _call(tool: tools.Tool, desk: Desk, note: Note) -> Result:
    desk.left()
    began = time.monotonic()
    result = tool.run(desk)
    seconds = round(time.monotonic() - began, 6)
    note("tool", {"tool": tool.name, "seconds": seconds, "findings": len(result.findings)})
    return result
