"""The options that bound how pools grow and shrink; `up` and `simulate` have the same."""

from typing import Annotated

import typer

from common.errors import InputError
from common.scale import Policy

_DEFAULT = Policy()

Autoscale = Annotated[
    bool, typer.Option("--autoscale", help="Let pools grow and shrink by expected wait.")
]
Least = Annotated[
    int | None,
    typer.Option("--min", min=0, help=f"Fewest pods of a pool.  [default: {_DEFAULT.least}]"),
]
Most = Annotated[
    int | None,
    typer.Option("--max", min=1, help=f"Most pods of a pool.  [default: {_DEFAULT.most}]"),
]
TargetWait = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help=f"A pool grows when a step would wait longer.  [default: {_DEFAULT.target_wait:g}]",
    ),
]
CoolDown = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help=f"Pods leave after they were spare for so long.  [default: {_DEFAULT.cool_down:g}]",
    ),
]
NAMES = {
    "least": "--min",
    "most": "--max",
    "target_wait": "--target-wait",
    "cool_down": "--cool-down",
}


def policy(*, autoscale: bool, limit: int, **bounds: float | None) -> Policy | None:
    """Return what the options say, or None without `--autoscale`."""
    given = {name: value for name, value in bounds.items() if value is not None}
    if not autoscale:
        for name in given:
            raise InputError(f"{NAMES[name]} bounds what --autoscale does; give that, too")
        return None
    # typer has checked and converted each of them.
    made = Policy(**given)  # type: ignore[arg-type]
    if made.least > made.most:
        raise InputError(f"--min {made.least} is above --max {made.most}; lower it")
    if made.most > limit:
        raise InputError(f"--max {made.most} is above {limit}; lower it")
    return made
