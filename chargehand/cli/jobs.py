"""Commands about jobs on a running stack."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from chargehand import collect, timeline
from chargehand.cli.output import Format, write
from chargehand.client import Client
from chargehand.progress import shown
from chargehand.stack import local
from common.contracts import Document, Job
from common.errors import ChargehandError, InputError
from common.settings import settings
from common.states import JobState
from common.store import JobRecord

Id = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (submit, jobs, show, watch, trace, report, cancel):
        app.command()(command)


def _client() -> Client:
    return Client(local.require(), settings().teams)


def submit(
    team: Annotated[str, typer.Argument(help="The team that is to do it.")],
    request: Annotated[str, typer.Option(help="What is wanted.")],
    input: Annotated[  # noqa: A002 - it names the option
        list[Path] | None, typer.Option(help="A file or folder to work on; may be repeated.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait, and print the report.")] = False,
    key: Annotated[
        str | None, typer.Option(help="An idempotency key: the same one gives the same job.")
    ] = None,
) -> None:
    """Submit a job to a team; print its id."""
    client = _client()
    job_id = client.submit(_job(team, request, input or [], key))
    if not wait:
        typer.echo(job_id)
        return
    for _ in shown(client.events(job_id), Console(stderr=True)):
        pass
    _print_report(client.get(job_id), "text")


def _job(team: str, request: str, inputs: list[Path], key: str | None) -> Job:
    collected = collect.from_paths(inputs) if inputs else None
    documents: tuple[Document, ...] = collected.documents if collected else ()
    try:
        return Job(
            team=team,
            request=request,
            documents=documents,
            excluded=collected.excluded if collected else (),
            idempotency_key=key,
        )
    except ValidationError as error:
        faults = (f"{e['loc'][0] if e['loc'] else 'job'}: {e['msg']}" for e in error.errors())
        raise InputError(f"wrong job: {'; '.join(faults)}") from None


def jobs(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at the most.")] = 20,
) -> None:
    """List the newest jobs."""
    table = Table(box=None, pad_edge=False)
    for name in ("id", "team", "state", "submitted", "seconds", "request"):
        table.add_column(name, no_wrap=name == "id", overflow="ellipsis")
    for record in _client().recent(limit):
        seconds = f"{record.ended - record.created:.1f}" if record.ended else ""
        request = " ".join(record.spec.request.split())[:60]
        table.add_row(
            record.id, record.team.name, _state(record), _clock(record.created), seconds, request
        )
    Console().print(table)


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _state(record: JobRecord) -> str:
    partial = record.report is not None and record.report.state == "partial"
    return f"{record.state} (partial)" if partial else record.state


def show(job: Id) -> None:
    """Show where a job and its steps stand."""
    client = _client()
    record = client.get(job)
    console = Console()
    console.print(f"{record.id}  {record.team.name}  {_state(record)}", markup=False)
    console.print(f"request: {record.spec.request}", markup=False)
    if record.error:
        console.print(f"error: {record.error}", markup=False)
    table = Table(box=None, pad_edge=False)
    for name in ("step", "state", "try", "queue", "pod", "seconds"):
        table.add_column(name, overflow="fold")
    for name, step in sorted(client.steps(job).items()):
        seconds = f"{step.ended - step.started:.2f}" if step.ended and step.started else ""
        table.add_row(name, step.state, str(step.attempt), step.queue, step.pod, seconds)
    console.print(table)
    if record.report:
        console.print(f"report: {record.report.summary}", markup=False)
        for gap in record.report.gaps:
            console.print(f"gap: {gap.step}: {gap.reason}: {gap.message}", markup=False)


def watch(job: Id) -> None:
    """Follow a job until it has ended."""
    client = _client()
    for _ in shown(client.events(job), Console(stderr=True)):
        pass
    record = client.get(job)
    typer.echo(f"{record.id} {_state(record)}")
    raise typer.Exit(_exit_code(record))


def trace(
    job: Id,
    format: Annotated[  # noqa: A002 - it names the option
        Literal["json", "chrome"], typer.Option(help="JSON, or Chrome's timeline format.")
    ] = "json",
) -> None:
    """Print what happened to a job."""
    events = _client().trace(job)
    typer.echo(timeline.as_chrome(events) if format == "chrome" else timeline.as_json(events))


def report(
    job: Id,
    format: Format = "text",  # noqa: A002 - it names the option
) -> None:
    """Print the report of a job that has ended."""
    _print_report(_client().get(job), format)


def _print_report(record: JobRecord, form: str) -> None:
    if record.report is None:
        if not record.state.ended:
            remedy = f"wait for it with `chargehand watch {record.id}`"
            raise InputError(f"job {record.id} is {record.state}; {remedy}")
        raise ChargehandError(f"job {record.id} {record.state}: {record.error}")
    write(form, record.report)
    raise typer.Exit(_exit_code(record))


def _exit_code(record: JobRecord) -> int:
    complete = record.report is not None and record.report.state == "complete"
    return 0 if complete and record.state is JobState.DONE else 3


def cancel(job: Id) -> None:
    """Stop a job; its report will say what was done until then."""
    typer.echo(f"{job} {_client().cancel(job)}")
