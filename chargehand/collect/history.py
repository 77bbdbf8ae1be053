"""What git says about the lines that changed: who is left out, when and why are told."""

import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from chargehand.collect.collected import Basket
from chargehand.collect.git import GitFailed, Repository
from chargehand.collect.hunks import Run
from chargehand.collect.patch import Patch
from common.contracts import Note, Span

FILES = 200
"""The most files whose history is collected."""
SECONDS = 10.0
FILE_SECONDS = 3.0
BLAMES = 4
COMMITS = 4
RUNS = 20
SUBJECT = 120

_BLAMED = re.compile(r"(?P<commit>[0-9a-f]{40,64}) \d+ (?P<line>\d+)(?: \d+)?")


def add(basket: Basket, repository: Repository, commit: str, patches: Sequence[Patch]) -> None:
    """Add notes to the documents of these patches; `commit` holds their old versions."""
    notes, missing = _collect(repository, commit, patches)
    for path, found in notes.items():
        basket.annotate(path, found)
    if missing:
        basket.leave_out("(history)", missing)


def _collect(
    repository: Repository, commit: str, patches: Sequence[Patch]
) -> tuple[dict[str, tuple[Note, ...]], str | None]:
    """Return notes by path, and what is missing when files were too many or time too short."""
    wanted = [p for p in patches if p.before is not None and p.changed]
    ends = time.monotonic() + SECONDS
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = list(pool.map(lambda p: _notes(repository, commit, p, ends), wanted[:FILES]))
    late = sum(notes is None for notes in found)
    by_path = {p.path: notes for p, notes in zip(wanted, found, strict=False) if notes}
    if late or len(wanted) > FILES:
        done = len(found) - late
        return (
            by_path,
            f"history was collected for {done} of {len(wanted)} files: they are too many",
        )
    return by_path, None


def _notes(
    repository: Repository, commit: str, patch: Patch, ends: float
) -> tuple[Note, ...] | None:
    """Return the notes on one file; none when git cannot tell, None when time is up."""
    runs = [r for r in patch.runs if r.new and r.old][:RUNS]
    notes: list[Note] = []
    for ask in (_blame, _commits):
        seconds = min(FILE_SECONDS, ends - time.monotonic())
        if seconds <= 0:
            return None
        try:
            notes += ask(repository, commit, patch.before or patch.path, runs, seconds)
        except GitFailed:
            # A file that git cannot blame has no history to show; the review goes on without.
            continue
    return tuple(notes)


def _blame(
    repository: Repository, commit: str, path: str, runs: list[Run], seconds: float
) -> list[Note]:
    """Tell, for each run of changes, which commits its former lines come from."""
    if not runs:
        return []
    spans = [f"-L{r.old.start},{r.old.end}" for r in runs if r.old]
    options = ("--porcelain", "--no-textconv", *spans)
    output = repository.run("blame", *options, commit, "--", path, seconds=seconds)
    by_line, told = _parse_blame(output.decode(errors="replace"))
    notes: dict[tuple[str, Span], Note] = {}
    for run in runs:
        for line in range(run.old.start, run.old.end + 1) if run.old else ():
            if run.new and (sha := by_line.get(line)) and told.get(sha):
                note = Note(kind="blame", text=told[sha], span=run.new)
                notes.setdefault((sha, run.new), note)
    return list(notes.values())[:BLAMES]


def _parse_blame(output: str) -> tuple[dict[int, str], dict[str, str]]:
    """Return the commit of each line, and the words for each commit."""
    by_line: dict[int, str] = {}
    dates: dict[str, str] = {}
    told: dict[str, str] = {}
    commit = ""
    for line in output.split("\n"):
        if head := _BLAMED.fullmatch(line):
            commit = head["commit"]
            by_line[int(head["line"])] = commit
        elif line.startswith("committer-time "):
            dates[commit] = line.split()[1]
        elif line.startswith("summary "):
            told[commit] = _told(commit[:10], dates[commit], line.removeprefix("summary "))
    return by_line, told


def _commits(
    repository: Repository, commit: str, path: str, runs: list[Run], seconds: float
) -> list[Note]:
    """Tell which commits last touched the lines that were replaced, the newest first."""
    if not runs:
        return []
    spans = [f"-L{r.old.start},{r.old.end}:{path}" for r in runs if r.old]
    options = ("--no-patch", "--no-ext-diff", "--no-textconv", "--no-show-signature")
    form = "--format=%h%x00%ct%x00%s"
    output = repository.run("log", *options, f"-{COMMITS}", form, *spans, commit, seconds=seconds)
    return [
        Note(kind="commit", text=_told(*line.split("\0", 2)))
        for line in output.decode(errors="replace").split("\n")
        if line
    ]


def _told(commit: str, seconds: str, subject: str) -> str:
    shown = subject if len(subject) <= SUBJECT else f"{subject[: SUBJECT - 3]}..."
    return f"{commit} {_date(int(seconds))} {shown}".strip()


def _date(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        # Git lets a commit claim any time, even one that no calendar has.
        return "undated"
