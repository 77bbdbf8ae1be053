"""Commands that review code: what to look at is collected here, and travels with the job."""

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from chargehand import collect, progress
from chargehand.cli import reach
from chargehand.cli.output import Format, Told, add_row, put, table, write
from chargehand.client import Client
from chargehand.collect import diffs
from chargehand.collect.content import megabytes
from common.contracts import Job, Plan, Report, Severity
from common.errors import ChargehandError, InputError
from common.settings import settings
from common.store import JobRecord
from supervisor import plan as planning
from supervisor.merge import RANK
from supervisor.submit import team_of

TEAM = "code_review"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pull_request"

Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", help="Files or folders to review whole."),
]
Base = Annotated[
    str | None, typer.Option(metavar="REF", help="Review what changed since this git ref.")
]
Diff = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Review a unified diff: a file, or - for standard input."),
]
Lens = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Only these specialists, as in security,style."),
]
MinConfidence = Annotated[
    int, typer.Option(min=0, max=100, help="Leave out findings that are less certain.")
]
FailOn = Annotated[
    Literal["critical", "warning", "info", "never"],
    typer.Option(help="Exit with 1 when there is a finding at or above this severity."),
]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (review, plan, demo):
        app.command()(command)


def review(
    paths: Paths = None,
    base: Base = None,
    diff: Diff = None,
    lens: Lens = None,
    min_confidence: MinConfidence = 0,
    fail_on: FailOn = "critical",
    format: Format = "text",  # noqa: A002 - it names the option
) -> None:
    """Review a change, a diff or whole files."""
    job = _job(paths, base, diff, lens, min_confidence)
    raise typer.Exit(exit_code(reviewed(job, format), fail_on))


def plan(
    paths: Paths = None,
    base: Base = None,
    diff: Diff = None,
    lens: Lens = None,
    min_confidence: MinConfidence = 0,
) -> None:
    """Print the plan of a review as JSON; run nothing."""
    job = _job(paths, base, diff, lens, min_confidence)
    made = planning.make(job, team_of(job, settings().teams))
    put(f"{made.model_dump_json(indent=2)}\n")


def demo() -> None:
    """Review the example pull request that ships with the source."""
    job = example()
    team = team_of(job, settings().teams)
    Told().print(plan_table(planning.make(job, team)))
    raise typer.Exit(exit_code(reviewed(job, "text"), "never"))


def example() -> Job:
    """Return the review of the example pull request."""
    before, after = EXAMPLE / "before", EXAMPLE / "after"
    if not after.is_dir():
        raise InputError(f"no example at {EXAMPLE}; it comes with the source tree only")
    text = "".join(_file_diffs(before, after))
    return _review_of(collect.from_diff(text, after), lens=None, min_confidence=0)


def _file_diffs(before: Path, after: Path) -> Iterator[str]:
    for path in sorted(p for p in after.rglob("*") if p.is_file()):
        name = path.relative_to(after).as_posix()
        old = before / name
        lines = old.read_text("utf-8").splitlines(keepends=True) if old.is_file() else []
        source = f"a/{name}" if old.is_file() else "/dev/null"
        new = path.read_text("utf-8").splitlines(keepends=True)
        yield from difflib.unified_diff(lines, new, source, f"b/{name}")


def reviewed(job: Job, form: str) -> Report:
    """Run and print a review, on the running stack or on one for this review alone."""
    team = team_of(job, settings().teams)
    with reach.stack(team) as client:
        record = followed(client, job)
        if record.report is None:
            raise ChargehandError(f"job {record.id} {record.state}: {record.error}")
        # Not after the stack has stopped: that takes a second.
        write(form, record.report)
    return record.report


def followed(client: Client, job: Job) -> JobRecord:
    """Submit a job, show its progress on standard error, and return it when it has ended."""
    job_id = client.submit(job)
    told = Told()
    try:
        progress.show(job_id, client.events(job_id), told)
    except KeyboardInterrupt:
        client.cancel(job_id)
        told.print(f"cancelled job {job_id}")
        raise
    return client.get(job_id)


def exit_code(report: Report, fail_on: Severity | Literal["never"]) -> int:
    """Return the exit code that a report stands for."""
    if report.state == "partial":
        return 3
    if fail_on == "never":
        return 0
    return int(any(RANK[f.severity] <= RANK[fail_on] for f in report.findings))


def plan_table(plan: Plan) -> Table:
    """Return a plan as a table for people."""
    rows = table("step", "specialist", "files", "looks at", title=plan.goal)
    for step in plan.steps:
        paths = list(dict.fromkeys(part.path for part in step.inputs))
        cells = (step.id, step.specialist, str(len(paths)), ", ".join(paths))
        add_row(rows, *cells)
    return rows


def _job(
    paths: list[Path] | None,
    base: str | None,
    diff: str | None,
    lens: list[str] | None,
    min_confidence: int,
) -> Job:
    if sum((bool(paths), base is not None, diff is not None)) != 1:
        raise InputError("say what to review: --base REF, --diff FILE, or paths; one of them")
    if base is not None:
        collected = collect.from_git(Path.cwd(), base)
    elif diff is not None:
        collected = collect.from_diff(_read(diff), Path.cwd())
    else:
        collected = collect.from_paths(paths or [])
    return _review_of(collected, lens, min_confidence)


def _review_of(collected: collect.Collected, lens: list[str] | None, min_confidence: int) -> Job:
    return Job(
        team=TEAM,
        request=f"Review {collected.label}",
        documents=collected.documents,
        excluded=collected.excluded,
        specialists=_specialists(lens or []),
        min_confidence=min_confidence,
    )


def _specialists(lens: list[str]) -> tuple[str, ...]:
    names = tuple(name for part in lens for name in part.replace(",", " ").split())
    if lens and not names:
        raise InputError("--lens names no specialist; give some, as in --lens security,style")
    return names


def _read(diff: str) -> bytes:
    """Return a diff; of one that is too large, no more is read than tells so."""
    try:
        with sys.stdin.buffer if diff == "-" else Path(diff).open("rb") as file:
            text = file.read(diffs.LIMIT + 1)
    except OSError as error:
        raise InputError(f"--diff {diff}: cannot be read: {error.strerror}") from None
    if len(text) > diffs.LIMIT:
        raise InputError(f"--diff {diff}: is larger than {megabytes(diffs.LIMIT)}; split it")
    return text
