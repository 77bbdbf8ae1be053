"""Figures in the passages that were gathered, compared and checked against each other.

Figures are compared only when measure, scope, unit and kind of period are the same; numbers whose
measure is not plain are counted.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from common.contracts import Result
from workers.desk import Desk
from workers.tools import tool
from workers.tools.documents import place, terms
from workers.tools.figures import Fact, facts

CERTAINTY = 90
"""The most that rules may claim for their reading."""


@dataclass(frozen=True)
class Series:
    """All facts of one measure for one kind of period, in the order of time."""

    facts: tuple[Fact, ...]

    def at(self) -> dict[str, tuple[Fact, ...]]:
        """Return the facts of each period, those written out furthest first."""
        periods = sorted({f.period for f in self.facts})
        exact = sorted(self.facts, key=lambda f: (f.rough, -f.decimals))
        return {p: tuple(f for f in exact if f.period == p) for p in periods}

    def settled(self) -> list[Fact]:
        """Return one fact for each period on which all sources agree."""
        return [same[0] for same in self.at().values() if all(map(same[0].agrees, same))]

    def unsettled(self) -> list[Fact]:
        """Return the facts of the periods on which the sources do not agree."""
        periods = {fact.period for fact in self.settled()}
        return [fact for fact in self.facts if fact.period not in periods]

    def comparable(self) -> bool:
        """Tell whether there is a course of time: days of several documents are only events."""
        known = self.settled()
        days = len(known[0].period) == len("2025-05-14") if known else False
        return len(known) > 1 and not (days and len({f.source.path for f in known}) == len(known))

    def contradictions(self) -> list[tuple[Fact, Fact]]:
        """Return each two facts of one period that differ between two documents."""
        return [
            (a, b)
            for same in self.at().values()
            for a, b in combinations(sorted(same, key=lambda f: f.source.path), 2)
            if a.period and a.source.path != b.source.path and not a.agrees(b)
        ]


def series(found: Iterable[Fact], wanted: frozenset[str]) -> list[Series]:
    """Return the facts by measure and kind of period, what was asked for and wholes first."""
    groups: dict[object, list[Fact]] = defaultdict(list)
    for fact in found:
        groups[fact.measure(), re.sub(r"\d", "0", fact.period)].append(fact)

    def order(one: Series) -> tuple[float, bool, str, str, str]:
        fact = one.facts[0]
        label = fact.measure()[0]
        share = len(label & wanted) / max(1, len(label))
        return -share, bool(fact.scope), fact.label, fact.scope, fact.unit

    return sorted((Series(tuple(group)) for group in groups.values()), key=order)


@tool("number-facts", "Read the figures in the gathered passages, compare and cross-check them.")
def compare(desk: Desk) -> Result:
    """Return figures, single values, contradictions and limits as sections; none: confidence 0."""
    gathered = [u.result for u in desk.assignment.upstream if u.result]
    sources = list(dict.fromkeys(e for result in gathered for e in result.evidence))
    read = [fact for source in sources for fact in facts(source)]
    plain = [fact for fact in read if fact]
    if not plain:
        said = f"No figure with a plain measure in {len(sources)} passages and {len(read)} numbers."
        return Result(text=said, confidence=0 if read or not sources else CERTAINTY)
    wanted = frozenset(terms(desk.assignment.context))
    return Result(
        text="\n\n".join(_sections(series(plain, wanted), len(read) - len(plain))),
        evidence=tuple(dict.fromkeys(fact.source for fact in plain)),
        confidence=CERTAINTY * len(plain) // len(read),
    )


def _sections(all_series: list[Series], unread: int) -> Iterator[str]:
    rows = [_row(s) for s in all_series if s.comparable()]
    if rows:
        head = "| Measure | From | To | Change | Lowest | Highest | Mean | Source |"
        yield "\n".join(["## Figures", "", head, "|---" * 8 + "|", *rows])
    single = [fact for s in all_series if not s.comparable() for fact in s.settled()]
    if single:
        yield "\n".join(["## Single figures", "", *(f"- {_said(f)}" for f in single)])
    pairs = [pair for s in all_series for pair in s.contradictions()]
    if pairs:
        lines = (f"- {_said(a)} against {b.written()} ({_place(b)})" for a, b in pairs)
        yield "\n".join(["## Contradictions", "", *dict.fromkeys(lines)])
    disputed = {fact for pair in pairs for fact in pair}
    unclear = sum(f not in disputed for s in all_series for f in s.unsettled())
    limits = [
        f"- Left out: {what}: {count}."
        for count, what in (
            (unread, "numbers without a plain measure"),
            (unclear, "figures of which one document has several for one time or for none"),
        )
        if count
    ]
    if limits:
        yield "\n".join(["## Limits", "", *limits])


def _row(one: Series) -> str:
    known = one.settled()
    first, last = known[0], known[-1]
    low, high = min(known, key=lambda f: f.value), max(known, key=lambda f: f.value)
    mean = f"{sum(f.value for f in known) / len(known):,.{first.decimals + 1}f} over {len(known)}"
    disputed = sorted({a.period for a, _ in one.contradictions()})
    name = first.name() + "".join(f", without the disputed {p}" for p in disputed)
    paths = ", ".join(dict.fromkeys(f.source.path for f in known))
    ends = (f"{f.written()} in {f.period}" for f in (first, last))
    cells = (name, *ends, _change(first, last), low.written(), high.written(), mean, paths)
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _change(first: Fact, last: Fact) -> str:
    if first.unit == "%":
        return f"{last.value - first.value:+,.1f} points"
    if first.value <= 0:
        return f"{last.value - first.value:+,.{last.decimals}f}"
    return f"{100 * (last.value / first.value - 1):+,.1f} %"


def _said(fact: Fact) -> str:
    when = f", {fact.period}" if fact.period else ""
    return f"{fact.name()}{when}: {fact.written()} ({_place(fact)})"


def _place(fact: Fact) -> str:
    return place(fact.source.path, fact.source.span)
