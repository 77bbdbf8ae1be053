"""Choose a queue for each step. A pure function of the steps and the load of each queue.

Steps fill primaries and backups like water: each goes where it would wait least, once its own
specialist would let it wait for longer than the team allows. So a burst is shared out evenly, and a
backup that is worse off is left alone.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from common.contracts import Step, Team
from common.store import Load, Routed
from common.store.loads import UNKNOWN_SECONDS

MARGIN = 0.9
"""A backup must promise this share of the primary's wait at the most; equals stay where they are.

There is no memory of earlier choices, and none is needed: a step that was placed is moved only when
its queue has no pod or its specialist is broken, so nothing can go to and fro.
"""


@dataclass(frozen=True)
class Refused:
    """A step that nobody is to do now, and why."""

    step: str
    why: str


Probe = Callable[[str], bool]
"""Asks for the one step that may test a specialist whose breaker is open."""


def route(
    steps: Iterable[Step],
    team: Team,
    loads: Mapping[str, Load],
    broken: Collection[str] = (),
    probe: Probe = lambda _: False,
) -> list[Routed | Refused]:
    """Return for each step its queue and the reason for it, or why nobody does it."""
    router = _Router(team, loads, broken, probe)
    return [router.choose(step) for step in steps]


class _Router:
    """Chooses step by step, counting what it has put on each queue."""

    def __init__(
        self, team: Team, loads: Mapping[str, Load], broken: Collection[str], probe: Probe
    ) -> None:
        self._team = team
        self._loads = loads
        self._broken = broken
        self._probe = probe
        self._added: Counter[str] = Counter()
        self._told: dict[str, str] = {}
        # A queue on which no step has ended yet is taken to be like the others.
        known = [load.mean for load in loads.values() if load.mean is not None]
        self._unknown = sum(known) / len(known) if known else UNKNOWN_SECONDS

    def choose(self, step: Step) -> Routed | Refused:
        """Return where a step goes."""
        primary = step.specialist
        if primary in self._broken:
            return self._around_breaker(step)
        if self._team.routing.by == "static":
            return self._to(step, primary, "primary")
        if self._slots(primary) == 0:
            backup = self._best(self._working(step))
            if backup is not None and self._slots(backup) > 0:
                return self._to(step, backup, "no live pod")
            return self._to(step, primary, "primary")
        return self._by_wait(step)

    def _by_wait(self, step: Step) -> Routed:
        wait = self._wait(step.specialist)
        if wait > self._team.routing.overflow_seconds:
            backup = self._best(self._working(step))
            if backup is not None and self._wait(backup) < wait * MARGIN:
                return self._to(step, backup, "overflow")
        return self._to(step, step.specialist, "primary")

    def _around_breaker(self, step: Step) -> Routed | Refused:
        if self._probe(step.specialist):
            return self._to(step, step.specialist, "probe")
        backup = self._best(self._working(step))
        if backup is not None:
            return self._to(step, backup, "breaker open")
        return Refused(step.id, f"breaker open: {step.specialist} failed again and again lately")

    def _working(self, step: Step) -> list[str]:
        backups = self._team.specialists[step.specialist].backups
        return [name for name in backups if name not in self._broken]

    def _best(self, specialists: list[str]) -> str | None:
        return min(specialists, key=self._wait, default=None)

    def _load(self, specialist: str) -> Load:
        queue = self._team.queue(specialist)
        return self._loads.get(queue, Load(queue))

    def _slots(self, specialist: str) -> int:
        return self._load(specialist).slots

    def _wait(self, specialist: str) -> float:
        load = self._load(specialist)
        return load.wait(self._added[load.queue], self._unknown)

    def _to(self, step: Step, specialist: str, reason: str) -> Routed:
        load = self._load(specialist)
        before = self._added[load.queue]
        self._added[load.queue] += 1
        seen = f"{self._seen(step.specialist)}; {before} put on {load.queue} just before"
        return Routed(step.id, load.queue, specialist, reason, seen)

    def _seen(self, primary: str) -> str:
        """Say what the choices were made from, in a few words; the same for all of a call."""
        if primary not in self._told:
            named = (primary, *self._team.specialists[primary].backups)
            self._told[primary] = "; ".join(map(self._describe, named))
        return self._told[primary]

    def _describe(self, specialist: str) -> str:
        load = self._load(specialist)
        mean = "?" if load.mean is None else f"{load.mean:.2f}"
        return (
            f"{specialist}: {load.waiting} waiting, {load.running} running, {load.slots} slots, "
            f"{mean} s a step, {load.wait(unknown=self._unknown):.2f} s to wait"
        )
