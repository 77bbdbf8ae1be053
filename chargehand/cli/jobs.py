"""Commands about jobs on a running stack."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from chargehand import collect, progress, timeline
from chargehand.cli import reach
from chargehand.cli.output import Format, Told, add_row, line, put, put_table, table, write
from common.contracts import Document, Job
from common.errors import ChargehandError, InputError
from common.states import JobState
from common.store import JobRecord

Id = Annotated[str, typer.Argument(metavar="ID", help="The job's id.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (submit, jobs, show, watch, trace, report, cancel, resume):
        app.command()(command)


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
    client = reach.client()
    job_id = client.submit(_job(team, request, input or [], key))
    if not wait:
        put(f"{job_id}\n")
        return
    progress.show(job_id, client.events(job_id), Told())
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
    rows = table("id", "team", "state", "submitted", "seconds", "request")
    for record in reach.client().recent(limit):
        seconds = f"{record.ended - record.created:.1f}" if record.ended else ""
        when, request = _clock(record.created), record.spec.request
        cells = (record.id, record.team.name, _state(record), when, seconds, request[:200])
        add_row(rows, *cells)
    put_table(rows)


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _state(record: JobRecord) -> str:
    partial = record.report is not None and record.report.state == "partial"
    return f"{record.state} (partial)" if partial else record.state


def show(job: Id) -> None:
    """Show where a job and its steps stand."""
    client = reach.client()
    record = client.get(job)
    rows = table("step", "state", "try", "queue", "pod", "seconds")
    for name, step in sorted(client.steps(job).items()):
        seconds = f"{step.ended - step.started:.2f}" if step.ended and step.started else ""
        cells = (name, step.state, str(step.attempt), step.queue, step.pod, seconds)
        add_row(rows, *cells)
    head = [f"{record.id}  {record.team.name}  {_state(record)}", f"request: {record.spec.request}"]
    put_table(*map(line, head + _error(record)), rows, *map(line, _told(record)))


def _error(record: JobRecord) -> list[str]:
    return [f"error: {record.error}"] if record.error else []


def _told(record: JobRecord) -> list[str]:
    if record.report is None:
        return []
    gaps = [f"gap: {gap.step}: {gap.reason}: {gap.message}" for gap in record.report.gaps]
    return [f"report: {record.report.summary}", *gaps]


def watch(job: Id) -> None:
    """Follow a job until it has ended."""
    client = reach.client()
    progress.show(job, client.events(job), Told())
    record = client.get(job)
    put(f"{record.id} {_state(record)}\n")
    raise typer.Exit(_exit_code(record))


def trace(
    job: Id,
    format: Annotated[  # noqa: A002 - it names the option
        Literal["json", "chrome"], typer.Option(help="JSON, or Chrome's timeline format.")
    ] = "json",
) -> None:
    """Print what happened to a job."""
    events = reach.client().trace(job)
    put(timeline.as_chrome(events) if format == "chrome" else timeline.as_json(events))


def report(
    job: Id,
    format: Format = "text",  # noqa: A002 - it names the option
) -> None:
    """Print the report of a job that has ended."""
    _print_report(reach.client().get(job), format)


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
    put(f"{job} {reach.client().cancel(job)}\n")


def resume(
    job: Id,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="STEP", help="Run this step again, and what depends on it."),
    ] = None,
) -> None:
    """Carry on a job that failed or came back partial; what is done is not done again."""
    put(f"{job} {reach.client().resume(job, start)}\n")
