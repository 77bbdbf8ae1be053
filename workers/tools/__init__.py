"""Tools: one module each, found by name. A module registers its tools with `@tool`."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from common.contracts import Result
from workers.desk import Desk, ToolMissing


@dataclass(frozen=True)
class Tool:
    """Something that a specialist can use on its desk."""

    name: str
    description: str
    run: Callable[[Desk], Result]
    analyser: bool
    """Whether its result is an answer by itself; otherwise it only aids a model's judgement."""


_registered: dict[str, Tool] = {}


def tool(
    name: str, description: str, *, analyser: bool = True
) -> Callable[[Callable[[Desk], Result]], Callable[[Desk], Result]]:
    """Register a function as the tool of this name."""

    def register(run: Callable[[Desk], Result]) -> Callable[[Desk], Result]:
        if name in _registered:
            raise ValueError(f"two tools are named {name!r}; rename one")
        _registered[name] = Tool(name, description, run, analyser)
        return run

    return register


@cache
def known() -> dict[str, Tool]:
    """Return all tools by name; importing this package's modules is what registers them."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(_registered)


def find(name: str) -> Tool:
    """Return the tool of this name, or say that this pod lacks it."""
    if name not in known():
        raise ToolMissing(
            f"no tool {name!r} on this pod; it has: {', '.join(sorted(known())) or 'none'}"
        )
    return known()[name]
