"""The brief team's tools, run on a desk as a pod would lay it out."""

from collections.abc import Callable
from pathlib import Path

from common.contracts import Assignment, Document, Evidence, Result, Span, Upstream
from workers.desk import Desk, laid_out

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "brief"
REQUEST = (
    "Why did late deliveries rise in the second quarter of 2025, and what did it cost in refunds?"
)


def document(path: str, text: str) -> Document:
    return Document(path=path, text=text, lines=text.count("\n") + 1)


def example_documents() -> list[Document]:
    return [document(f.name, f.read_text(encoding="utf-8")) for f in sorted(EXAMPLES.iterdir())]


def evidence(path: str, quote: str, line: int = 1) -> Evidence:
    return Evidence(path=path, quote=quote, span=Span(start=line, end=line))


def gathered(*found: Evidence, confidence: int = 100) -> Upstream:
    return found_by("gather", Result(text="passages", evidence=found, confidence=confidence))


def found_by(step: str, result: Result) -> Upstream:
    return Upstream(step=step, specialist=step, result=result)


def lost(step: str, reason: str) -> Upstream:
    return Upstream(step=step, specialist=step, lost=reason)


def run(
    tool: Callable[[Desk], Result], *given: Document | Upstream, request: str = REQUEST
) -> Result:
    assignment = Assignment(
        job="brief0001",
        step="step",
        attempt=1,
        team="brief",
        specialist="step",
        instruction="Do the step.",
        criterion="It is done.",
        context=request,
        documents=tuple(g for g in given if isinstance(g, Document)),
        upstream=tuple(g for g in given if isinstance(g, Upstream)),
    )
    with laid_out(assignment, stopped=lambda: False) as desk:
        return tool(desk)
