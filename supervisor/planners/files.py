"""Plan one step for each specialist and each even batch of the documents that concern it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from common.contracts import Document, Exclusion, Job, Slice, Span, Specialist, Step, Team
from common.contracts.team import ByFiles


@dataclass(frozen=True)
class Piece:
    """A part of a document, weighed by the lines that are to be looked at."""

    slice: Slice
    lines: int


def steps(job: Job, team: Team, by: ByFiles) -> list[Step]:
    """Return the steps of a job; batches grow until the team's fan-out cap holds."""
    roster = _roster(job, team)
    batch_lines = by.batch_lines
    while True:
        planned = [step for name in roster for step in _steps_of(name, job, team, batch_lines)]
        if len(planned) <= team.limits.steps or len(planned) <= len(roster):
            return planned
        batch_lines *= 2


def exclusions(job: Job, team: Team) -> list[Exclusion]:
    """Return the documents that no specialist of this job looks at, with the reason."""
    found = []
    for document in _subjects(job):
        if document.language is None:
            found.append(Exclusion(path=document.path, reason="unknown language"))
        elif not any(_concerns(team.specialists[name], document) for name in _roster(job, team)):
            reason = f"no specialist of this job looks at {document.language}"
            found.append(Exclusion(path=document.path, reason=reason))
    return found


def _roster(job: Job, team: Team) -> list[str]:
    """Return the specialists that a job wants and that have what they need."""
    return [
        name
        for name, specialist in team.specialists.items()
        if (not job.specialists or name in job.specialists)
        and (specialist.needs != "guidelines" or _guidelines(job))
    ]


def _subjects(job: Job) -> list[Document]:
    return sorted((d for d in job.documents if d.role == "subject"), key=lambda d: d.path)


def _guidelines(job: Job) -> list[Slice]:
    return [Slice(path=d.path) for d in job.documents if d.role == "guideline"]


def _concerns(specialist: Specialist, document: Document) -> bool:
    if document.language is None or (specialist.needs == "notes" and not document.notes):
        return False
    return not specialist.languages or document.language in specialist.languages


def _steps_of(name: str, job: Job, team: Team, batch_lines: int) -> list[Step]:
    specialist = team.specialists[name]
    extra = _guidelines(job) if specialist.needs == "guidelines" else []
    concerned = [d for d in _subjects(job) if _concerns(specialist, d)]
    batches = even_batches([p for d in concerned for p in split(d, batch_lines)], batch_lines)
    numbered = len(batches) > 1
    return [
        Step(
            id=f"{name}-{number}" if numbered else name,
            specialist=name,
            instruction=f"{specialist.instruction} Look at {_listed(batch)}.",
            context=job.request,
            criterion=specialist.criterion,
            inputs=(*(piece.slice for piece in batch), *extra),
            budget=specialist.budget,
            tier=specialist.tier,
        )
        for number, batch in enumerate(batches, 1)
    ]


def split(document: Document, batch_lines: int) -> list[Piece]:
    """Cut a document into pieces of even weight, none over the limit."""
    whole = (Span(start=1, end=document.lines),) if document.lines else ()
    spans = _disjoint(whole if document.changed is None else document.changed)
    weight = sum(span.end - span.start + 1 for span in spans)
    count = math.ceil(weight / batch_lines)
    if count <= 1:
        return [Piece(Slice(path=document.path), weight)]
    cuts = _cuts(spans, math.ceil(weight / count))
    starts = [1, *(cut + 1 for cut in cuts)]
    ends = [*cuts, max(document.lines, spans[-1].end)]
    return [
        Piece(Slice(path=document.path, span=Span(start=start, end=end)), weight // count)
        for start, end in zip(starts, ends, strict=True)
    ]


def _disjoint(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, with those that overlap put together."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda s: s.start):
        if found and found[-1].overlaps(span):
            span = Span(start=found[-1].start, end=max(found.pop().end, span.end))
        found.append(span)
    return found


def _cuts(spans: Iterable[Span], size: int) -> list[int]:
    """Return the last line of each piece but the last, after every `size` lines that count."""
    lines = [line for span in spans for line in range(span.start, span.end + 1)]
    return lines[size - 1 : len(lines) - 1 : size]


def even_batches(pieces: Sequence[Piece], batch_lines: int) -> list[list[Piece]]:
    """Put pieces together, in their order, so that the batches are even and near the limit."""
    total = sum(piece.lines for piece in pieces)
    count = max(1, math.ceil(total / batch_lines))
    batches: list[list[Piece]] = [[] for _ in range(count)]
    seen = 0.0
    for piece in pieces:
        # A piece belongs where its middle falls.
        middle = seen + piece.lines / 2
        batches[min(count - 1, int(middle * count / total) if total else 0)].append(piece)
        seen += piece.lines
    return [batch for batch in batches if batch]


def _listed(batch: Sequence[Piece]) -> str:
    return ", ".join(
        f"{p.slice.path}:{p.slice.span.start}-{p.slice.span.end}" if p.slice.span else p.slice.path
        for p in batch
    )
