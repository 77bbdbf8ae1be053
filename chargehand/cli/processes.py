"""Commands that start processes: one each for a deployment, or all of them on this machine."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from chargehand import doctor as diagnosis
from chargehand import flower as launch
from chargehand import serve
from chargehand.cli import scaling
from chargehand.cli.output import put
from chargehand.stack import local, pools
from chargehand.stack.port import check_free
from common.errors import InputError
from common.settings import settings

Slots = Annotated[int, typer.Option(min=1, help="Steps that one process runs at once.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (up, supervisor, worker, flower, doctor):
        app.command()(command)


def up(
    scale: Annotated[
        list[str] | None,
        typer.Option(help="Processes of a pool, as in security=3; may be repeated."),
    ] = None,
    slots: Slots = local.SLOTS,
    flower_port: Annotated[int, typer.Option(help="Where Flower listens.")] = local.FLOWER_PORT,
    autoscale: scaling.Autoscale = False,
    least: scaling.Least = None,
    most: scaling.Most = None,
    target_wait: scaling.TargetWait = None,
    cool_down: scaling.CoolDown = None,
) -> None:
    """Start the whole local stack, and keep it running until Ctrl-C."""
    bounds = {"least": least, "most": most, "target_wait": target_wait, "cool_down": cool_down}
    policy = scaling.policy(autoscale=autoscale, limit=pools.MOST, **bounds)
    if policy and scale:
        raise InputError("--scale and --autoscale exclude each other; give --min and --max")
    local.up(local.layout(scale or (), flower_port, slots, policy), sys.stderr)


def supervisor(
    slots: Annotated[int, typer.Option(min=1, help="Jobs that it plans or joins at once.")] = 4,
) -> None:
    """Start one supervisor process."""
    serve.supervise(slots)


def worker(
    specialists: Annotated[list[str], typer.Argument(help="Specialists whose steps it takes.")],
    slots: Slots = local.SLOTS,
) -> None:
    """Start one worker process for one or more specialists."""
    serve.work(pools.named(settings().teams, specialists), slots)


def flower(
    port: Annotated[int, typer.Option(help="The port to listen on.")] = local.FLOWER_PORT,
    address: Annotated[
        str, typer.Option(help="The address to listen on; beyond this machine with a password.")
    ] = "127.0.0.1",
    db: Annotated[
        Path | None, typer.Option(help="The file that keeps tasks; else one below the home.")
    ] = None,
    writable: Annotated[
        bool, typer.Option("--writable", help="Let it control workers and tasks.")
    ] = False,
) -> None:
    """Start Flower, which shows tasks and workers."""
    if not find_spec("flower"):
        raise InputError(
            "Flower is not installed; it comes with `pip install 'chargehand[flower]'`"
        )
    check_free(port, "--port")
    launch.serve(address, port, db=db, writable=writable)


def doctor() -> None:
    """Say what is missing or misconfigured on this machine."""
    checks = diagnosis.examine(settings())
    put(f"{diagnosis.render(checks)}\n")
    raise typer.Exit(diagnosis.exit_code(checks))
