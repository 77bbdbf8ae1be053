"""Which pools of workers the known teams need, and how many processes each gets."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from common import teams
from common.contracts import Team
from common.errors import InputError

MOST = 64


def known(extra: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the pool of each specialist queue of all known teams, in order of their names."""
    folders = teams.folders(extra).values()
    return tuple(sorted({queue for folder in folders for queue in of(teams.load(folder))}))


def of(team: Team) -> tuple[str, ...]:
    """Return the pools of one team."""
    return tuple(sorted({team.queue(specialist) for specialist in team.specialists}))


def named(extra: tuple[Path, ...], specialists: Sequence[str]) -> list[str]:
    """Return the queues of these specialists, of whichever known team they are."""
    queues: dict[str, set[str]] = {}
    for folder in teams.folders(extra).values():
        team = teams.load(folder)
        for specialist in team.specialists:
            queues.setdefault(specialist, set()).add(team.queue(specialist))
    own = {queue: {queue} for each in queues.values() for queue in each}
    known_names = own | queues
    for name in specialists:
        if name not in known_names:
            known_list = ", ".join(sorted(known_names))
            raise InputError(f"no specialist {name!r} in any known team; known are: {known_list}")
    return sorted({queue for name in specialists for queue in known_names[name]})


def scaled(pools: Sequence[str], wishes: Iterable[str]) -> dict[str, int]:
    """Return the number of processes of each pool: one, unless a wish like `security=3` says."""
    sizes = dict.fromkeys(pools, 1)
    for wish in wishes:
        pool, _, number = wish.partition("=")
        if pool not in sizes:
            raise InputError(f"--scale {wish}: no pool {pool!r}; known are: {', '.join(pools)}")
        if not re.fullmatch(r"[0-9]{1,4}", number) or int(number) > MOST:
            raise InputError(
                f"--scale {wish}: the number of processes must be 0..{MOST}, as in {pool}=3"
            )
        sizes[pool] = int(number)
    return sizes
