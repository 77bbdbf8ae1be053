"""The command that simulates a fleet, from a file or from options."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from chargehand import simulate as simulation
from chargehand.cli import scaling
from chargehand.cli.output import add_row, line, put, put_table, table
from chargehand.simulate import Scenario, Summary
from chargehand.simulate.scenario import check
from chargehand.simulate.summary import Waits
from common.errors import InputError

MOST = 100_000
POOL, BACKUP = "primary", "backup"


def simulate(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A scenario; else options make one.")
    ] = None,
    pattern: Annotated[
        Literal["steady", "burst", "wave"] | None, typer.Option(help="How steps come.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Steps a second, in the mean.")] = None,
    batch: Annotated[int | None, typer.Option(help="Steps of one job or burst.")] = None,
    seconds: Annotated[float | None, typer.Option(help="How long steps come.")] = None,
    step_seconds: Annotated[float | None, typer.Option(help="What a step takes, mean.")] = None,
    shape: Annotated[
        Literal["constant", "exponential", "lognormal"] | None,
        typer.Option(help="How step times vary."),
    ] = None,
    pods: Annotated[int | None, typer.Option(help="Pods of the pool at the start.")] = None,
    slots: Annotated[int | None, typer.Option(help="Steps that one pod runs at once.")] = None,
    backup_pods: Annotated[int | None, typer.Option(help="Pods of a backup pool.")] = None,
    overflow: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Wait from which a backup is taken.")
    ] = None,
    start_up: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="What a pod takes to start.")
    ] = None,
    lose: Annotated[
        list[float] | None, typer.Option(metavar="SECONDS", help="When a pod dies; repeatable.")
    ] = None,
    pod_price: Annotated[float | None, typer.Option(help="Price of a pod for an hour.")] = None,
    step_price: Annotated[float | None, typer.Option(help="Price of a step's tokens.")] = None,
    autoscale: scaling.Autoscale = False,
    least: scaling.Least = None,
    most: scaling.Most = None,
    target_wait: scaling.TargetWait = None,
    cool_down: scaling.CoolDown = None,
    seed: Annotated[int | None, typer.Option(help="Another one gives another run.")] = None,
    format: Annotated[  # noqa: A002 - it names the option
        Literal["text", "json"], typer.Option(help="How to print it.")
    ] = "text",
) -> None:
    """Simulate a fleet with the real routing and scaling; print waits, overflow and cost."""
    bounds = {"least": least, "most": most, "target_wait": target_wait, "cool_down": cool_down}
    policy = scaling.policy(autoscale=autoscale, limit=MOST, **bounds)
    step = _given(mean=step_seconds, shape=shape)
    pool = _given(pods=pods, slots=slots, step=step)
    given = _given(
        seconds=seconds,
        start_up=start_up,
        arrivals=_given(pattern=pattern, rate=rate, batch=batch),
        routing=_given(overflow_seconds=overflow),
        price=_given(pod_hour=pod_price, step=step_price),
        lost=[{"at": at, "pool": POOL} for at in lose or ()],
        autoscale=policy
        and {
            "min": policy.least,
            "max": policy.most,
            "target_wait": policy.target_wait,
            "cool_down": policy.cool_down,
        },
    )
    scenario = _scenario(file, given, pool, backup_pods)
    if seed is not None:
        scenario = scenario.model_copy(update={"seed": seed})
    _print(simulation.run(scenario), format)


def _given(**values: Any) -> dict[str, Any]:
    """Return what was given, and not what was left out."""
    return {name: value for name, value in values.items() if value not in (None, {}, [])}


def _scenario(
    file: Path | None, given: dict[str, Any], pool: dict[str, Any], backup_pods: int | None
) -> Scenario:
    if file is None:
        pools = {POOL: pool}
        if backup_pods is not None:
            pools[POOL] = {**pool, "backups": [BACKUP]}
            pools[BACKUP] = {**pool, "share": 0, "pods": backup_pods}
        return check({**given, "pools": pools}, "options")
    if given or pool or backup_pods is not None:
        raise InputError(f"{file} is the whole scenario; only --seed and --format go with a file")
    return simulation.read(file)


def _print(summary: Summary, form: str) -> None:
    if form == "json":
        put(summary.model_dump_json(indent=2) + "\n")
        return
    rows = table(
        "pool", "steps", "wait mean", "p50", "p95", "p99", "longest", "pods", "busy", "pod hours"
    )
    for name, part in summary.pools.items():
        pods = f"{part.pods_min} / {part.pods_mean:g} / {part.pods_max}"
        tail = (pods, f"{part.utilisation:.0%}", f"{part.pod_hours:,.1f}")
        add_row(rows, name, f"{part.steps:,}", *_waits(part.waits), *tail)
    if len(summary.pools) > 1:
        hours = f"{summary.pod_hours:,.1f}"
        add_row(rows, "all", f"{summary.steps:,}", *_waits(summary.waits), "", "", hours)
    put_table(rows, Text(), *map(line, _sentences(summary)))


def _waits(waits: Waits) -> list[str]:
    return [f"{w:.2f} s" for w in (waits.mean, waits.p50, waits.p95, waits.p99, waits.longest)]


def _sentences(summary: Summary) -> list[str]:
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in summary.reasons.items())
    lines = [
        f"{summary.steps:,} steps, the last done after {summary.makespan:,.1f} s; {reasons}",
        f"{summary.overflow:.1%} went to a backup",
    ]
    if summary.unfinished:
        lines.append(f"{summary.unfinished:,} steps still wait: there is no pod for them")
    if summary.cost.total:
        cost = summary.cost
        lines.append(f"cost: {cost.total:,.2f} (pods {cost.pods:,.2f}, steps {cost.steps:,.2f})")
    return lines
