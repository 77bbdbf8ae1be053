"""Take a job in: check it, store it, and have it planned."""

from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from common import crash, names, teams
from common.broker import supervisor_call
from common.contracts import Document, Job, Team
from common.errors import InputError
from common.store import blobs
from supervisor.office import Office


def submit(
    office: Office,
    job: Job,
    team_folders: tuple[Path, ...] = (),
    job_id: str | None = None,
) -> str:
    """Store a job and publish its planning; return its id, or raise InputError.

    The same `job_id` given twice is the same job, so that a message may be delivered twice.
    """
    team = team_of(job, team_folders)
    documents, bodies = by_reference(job.documents)
    office.store.blobs.put([*bodies, *prompts(team)])
    job_id = office.store.jobs.submit(
        job_id or uuid4().hex[:12], job.model_copy(update={"documents": documents}), team
    )
    crash.point("submitted")
    # With a known idempotency key this plans an older job again, which changes nothing.
    office.broker.publish(supervisor_call(names.PLAN, f"job={job_id} team={team.name}", job=job_id))
    return job_id


def prompts(team: Team) -> list[str]:
    """Return the texts that a model is told, which pods fetch by their hash."""
    return [team.prompts.shared, *(s.prompt for s in team.specialists.values())]


def team_of(job: Job, team_folders: tuple[Path, ...] = ()) -> Team:
    """Return a job's team when the job fits it, or raise InputError."""
    team = teams.find(job.team, team_folders)
    if job.specialists and team.plan.by == "graph":
        raise InputError(f"team {team.name!r} has a fixed plan; no specialists can be chosen")
    for name in job.specialists:
        if name not in team.specialists:
            known = ", ".join(sorted(team.specialists))
            raise InputError(f"no specialist {name!r} in team {team.name!r}; it has: {known}")
    return team


def by_reference(documents: Sequence[Document]) -> tuple[tuple[Document, ...], list[str]]:
    """Replace the largest texts by references until the rest fits into a message.

    Returns the documents in their order, and the texts that are to be stored.
    """
    inline = {d.path: len(d.text.encode()) for d in documents if d.text is not None}
    total = sum(inline.values())
    moved = set()
    for path in sorted(inline, key=lambda p: (-inline[p], p)):
        if total <= blobs.INLINE_LIMIT:
            break
        total -= inline[path]
        moved.add(path)
    packed = tuple(_referred(d) if d.path in moved else d for d in documents)
    return packed, [d.text or "" for d in documents if d.path in moved]


def _referred(document: Document) -> Document:
    return document.model_copy(update={"text": None, "ref": blobs.ref(document.text or "")})
