"""The graph of a plan's steps: who waits for whom. Pure functions over ids."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from common.contracts import Step


@dataclass(frozen=True)
class Graph:
    """A plan's steps by id, with what depends on what."""

    steps: Mapping[str, Step]
    dependents: Mapping[str, frozenset[str]] = field(repr=False)

    @classmethod
    def of(cls, steps: Iterable[Step]) -> "Graph":
        """Return the graph of these steps; their ids are unique and known."""
        by_id = {step.id: step for step in steps}
        dependents: dict[str, set[str]] = {step: set() for step in by_id}
        for step in by_id.values():
            for needed in step.depends_on:
                dependents[needed].add(step.id)
        return cls(by_id, {s: frozenset(d) for s, d in dependents.items()})

    @cached_property
    def _joined(self) -> dict[frozenset[str], list[str]]:
        groups: dict[frozenset[str], list[str]] = {}
        for step, dependents in self.dependents.items():
            groups.setdefault(dependents, []).append(step)
        return groups

    def roots(self) -> list[Step]:
        """Return the steps that need no other."""
        return [step for step in self.steps.values() if not step.depends_on]

    def sinks(self) -> list[Step]:
        """Return the steps that no other needs."""
        return [self.steps[s] for s in self._joined.get(frozenset(), [])]

    def joined_with(self, step: str) -> list[str]:
        """Return all steps that feed the same dependents as this one, itself included."""
        return self._joined[self.dependents[step]]

    def groups(self, ready: Iterable[Step]) -> list[list[Step]]:
        """Group steps that are ready together by what they feed: each group is one chord."""
        groups: dict[frozenset[str], list[Step]] = {}
        for step in ready:
            groups.setdefault(self.dependents[step.id], []).append(step)
        return list(groups.values())

    def below(self, steps: Iterable[str]) -> set[str]:
        """Return everything that depends on these steps, directly or not."""
        found: set[str] = set()
        frontier = list(steps)
        while frontier:
            fresh = self.dependents[frontier.pop()] - found
            found |= fresh
            frontier += fresh
        return found

    def longest_path(self, seconds: Mapping[str, float]) -> float:
        """Return the length of the longest chain of dependent steps."""
        ends: dict[str, float] = {}
        for step in self.ordered():
            start = max((ends[n] for n in self.steps[step].depends_on), default=0.0)
            ends[step] = start + seconds.get(step, 0.0)
        return max(ends.values(), default=0.0)

    def ordered(self) -> list[str]:
        """Return the ids level by level, so that each stands behind all it needs.

        The order is the same in every process; steps in a cycle are left out.
        """
        needs = {s: len(set(step.depends_on)) for s, step in self.steps.items()}
        ordered = sorted(s for s, n in needs.items() if n == 0)
        # The list grows while it is read: what became free goes behind all of the level before.
        for step in ordered:
            for dependent in sorted(self.dependents[step]):
                needs[dependent] -= 1
                if needs[dependent] == 0:
                    ordered.append(dependent)
        return ordered

    def cyclic(self) -> list[str]:
        """Return the ids of the steps that can never start, in a stable order."""
        return sorted(set(self.steps) - set(self.ordered()))


def ready(graph: Graph, waiting: Collection[str], ended: Collection[str]) -> list[Step]:
    """Return the waiting steps whose dependencies have all ended, in a stable order."""
    over = set(ended)
    steps = [graph.steps[step] for step in sorted(waiting)]
    return [step for step in steps if over.issuperset(step.depends_on)]
