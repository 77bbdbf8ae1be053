"""Commands that review code: what to look at is collected here, and travels with the job."""

import difflib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from chargehand import collect
from chargehand.cli.output import Format, write
from chargehand.client import Client
from chargehand.collect import diffs
from chargehand.progress import shown
from chargehand.stack import local
from common.contracts import Job, Plan, Report, Severity, Team
from common.errors import ChargehandError, InputError
from common.settings import settings
from common.store import JobRecord
from supervisor import plan as planning
from supervisor.merge import RANK
from supervisor.submit import team_of

TEAM = "code_review"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pull_request"

Paths = Annotated[list[Path] | None, typer.Argument(help="Files or folders to review whole.")]
Base = Annotated[str | None, typer.Option(help="Review what changed since this git ref.")]
Diff = Annotated[
    str | None, typer.Option(help="Review a unified diff: a file, or - for standard input.")
]
Lens = Annotated[
    list[str] | None, typer.Option(help="Only these specialists, as in security,style.")
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
    report = reviewed(job)
    write(format, report)
    raise typer.Exit(exit_code(report, fail_on))


def plan(
    paths: Paths = None,
    base: Base = None,
    diff: Diff = None,
    lens: Lens = None,
    min_confidence: MinConfidence = 0,
) -> None:
    """Print the plan of a review as JSON; run nothing."""
    job = _job(paths, base, diff, lens, min_confidence)
    typer.echo(planning.make(job, team_of(job, settings().teams)).model_dump_json(indent=2))


def demo() -> None:
    """Review the example pull request that ships with the source."""
    job = example()
    team = team_of(job, settings().teams)
    console = Console(stderr=True)
    console.print(plan_table(planning.make(job, team)))
    report = reviewed(job)
    write("text", report)
    raise typer.Exit(0 if report.state == "complete" else 3)


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


def reviewed(job: Job) -> Report:
    """Run a review to its end, on the running stack or on one for this review alone."""
    team = team_of(job, settings().teams)
    with stack(team) as url:
        record = followed(Client(url, settings().teams), job)
    if record.report is None:
        raise ChargehandError(f"job {record.id} {record.state}: {record.error}")
    return record.report


@contextmanager
def stack(team: Team) -> Iterator[str]:
    """Give the URL of the stack to use; one that has to be started is stopped again."""
    url = local.connect()
    if url is not None:
        yield url
        return
    with local.one_shot(team) as own:
        yield own


def followed(client: Client, job: Job) -> JobRecord:
    """Submit a job, show its progress on standard error, and return it when it has ended."""
    job_id = client.submit(job)
    console = Console(stderr=True)
    try:
        for _ in shown(client.events(job_id), console):
            pass
    except KeyboardInterrupt:
        client.cancel(job_id)
        console.print(f"cancelled job {job_id}")
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
    table = Table(title=plan.goal, title_justify="left", box=None, pad_edge=False)
    for name in ("step", "specialist", "looks at"):
        table.add_column(name, overflow="fold")
    for step in plan.steps:
        table.add_row(step.id, step.specialist, ", ".join(part.path for part in step.inputs))
    return table


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
        specialists=tuple(name for part in lens or () for name in part.split(",") if name),
        min_confidence=min_confidence,
    )


def _read(diff: str) -> bytes:
    """Read a diff, a little beyond what is accepted at the most: the rest is refused anyway."""
    limit = diffs.LIMIT + 1
    if diff == "-":
        return sys.stdin.buffer.read(limit)
    try:
        with Path(diff).open("rb") as file:
            return file.read(limit)
    except OSError as error:
        raise InputError(f"--diff {diff}: cannot be read: {error.strerror}") from None
