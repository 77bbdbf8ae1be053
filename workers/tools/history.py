"""What git says about the changed lines, as an aid: what it means takes judgement."""

from common.contracts import Document, Note, Result
from workers.desk import Desk
from workers.tools import tool

MOST_NOTES = 20
"""For each document; the submitter gives the newest first."""


@tool("history", "Who last changed the lines, and the recent commits to the file.", analyser=False)
def run(desk: Desk) -> Result:
    """Put the facts about each document's changed lines together, compactly."""
    parts = [part for d in desk.subjects() if d.notes and (part := _of(desk, d))]
    return Result(
        text="\n".join(["What git says about the changed lines:", *parts]) if parts else ""
    )


def _of(desk: Desk, document: Document) -> str:
    notes = [n for n in document.notes if n.span is None or desk.counts(document, n.span)]
    lines = list(dict.fromkeys(_line(note) for note in notes))
    if len(lines) > MOST_NOTES:
        lines = [*lines[:MOST_NOTES], f"- and {len(lines) - MOST_NOTES} more"]
    return "\n".join([document.path, *lines]) if lines else ""


def _line(note: Note) -> str:
    place = "" if note.span is None else f" (lines {note.span.start}-{note.span.end})"
    return f"- {note.kind}{place}: {' '.join(note.text.split())}"
