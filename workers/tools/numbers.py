"""Figures in the passages that were gathered: read with measure and period, then compared.

It reads what rules can read for certain. A number whose measure is not plain is left out and
counted, and figures are compared only when measure, scope, unit and kind of period are the same.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, dropwhile, takewhile

from common.contracts import Evidence, Result
from workers.desk import Desk
from workers.tools import tool
from workers.tools.documents import HEADING, ROW_LIMIT, STOP_WORDS, place, stem, terms, words

CERTAINTY = 90
"""The most that rules may claim for their reading."""
ROUGH = 0.05
"""How far apart two figures may lie when one is given as `about`."""
REACH = 40
"""How many tokens before and after a number may tell what it means."""

CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP", "eur": "EUR", "usd": "USD", "gbp": "GBP"}
UNITS = (
    CURRENCIES
    | dict.fromkeys(words("% percent pct"), "%")
    | dict.fromkeys(words("s sec second seconds"), "s")
    | dict.fromkeys(words("min mins minute minutes"), "min")
    | dict.fromkeys(words("h hour hours"), "h")
    | dict.fromkeys(words("day days"), "days")
    | {"euro": "EUR", "euros": "EUR", "dollars": "USD", "ms": "ms", "km": "km", "kg": "kg"}
)
SPELT = {"avg": "average", "num": "number", "qty": "quantity"}
SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
HEDGES = words("about around approximately roughly nearly almost some over under")
SCOPES = words("at for from on after before among near without within")
BREAKS = frozenset((*",;()\u2013\u2014", "and", "but", "while", "whereas"))
LINKS = words(
    """: = of is are was were added amounted averaged came climbed cost counted decreased dropped
    fell grew had has increased lasted reached recorded remained rose stayed stood took totalled
    totaled went"""
)
FILLERS = HEDGES | words("to at by from in on for up down a an the total just only")
SILENT = LINKS | FILLERS | SCOPES | BREAKS | STOP_WORDS | UNITS.keys()
WEAK = frozenset(map(stem, words("count figure monthly number overall sum time total")))

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
QUARTERS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
YEAR = r"\b(?:19|20)\d\d\b"
PERIOD = re.compile(
    rf"""(?P<iso>{YEAR}-(?:0[1-9]|1[0-2])(?:-[0-3]\d)?)(?!\d|-\d)
    | (?:\bQ(?P<q>[1-4])|\b(?P<spelt>{"|".join(QUARTERS)})\ quarter)(?:\ (?:of\ )?(?P<qy>{YEAR}))?
    | (?P<yq>{YEAR})[ -]Q(?P<q2>[1-4])\b
    | (?:\b(?P<day>[0-3]?\d)\ )?\b(?P<month>{"|".join(MONTHS)})
      (?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember|\.)?(?!\w)(?:\ (?P<my>{YEAR}))?
    | (?:(?<=in\ )|(?<=of\ )|(?<=since\ )|(?<=until\ ))(?P<year>{YEAR})(?![,.]\d)""",
    re.VERBOSE,
)
TOKEN = re.compile(r"⟦[^⟧]*⟧|-?\d(?:[\w.,:'/-]*\w)?|[^\W\d_][\w'-]*|[^\w\s]")
NUMBER = re.compile(r"-?(?:\d{1,3}(?:[,']\d{3}){1,4}|\d{1,15})(?:[.,](?P<fraction>\d{1,9}))?")
PLAIN = str.maketrans({"⟦": "[", "⟧": "]", "\u2212": "-", "\u2019": "'"})
SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\d])")


@dataclass(frozen=True)
class Fact:
    """A number with what it measures, for when, and where it stands."""

    label: str
    scope: str
    period: str
    value: float
    decimals: int
    unit: str
    source: Evidence
    rough: bool = False

    def measure(self) -> tuple[frozenset[str], frozenset[str], str]:
        """Return what makes two facts speak of the same thing, however they word it."""
        return frozenset(terms(self.label)) - WEAK, frozenset(terms(self.scope)), self.unit

    def name(self) -> str:
        """Return the measure as a person reads it."""
        return self.label + (f" ({self.scope})" if self.scope else "")

    def agrees(self, other: "Fact") -> bool:
        """Tell whether two values are the same as far as both are written out."""
        near = 0.5 * 10.0 ** -min(self.decimals, other.decimals)
        if self.rough or other.rough:
            near = max(near, ROUGH * abs(self.value))
        return abs(self.value - other.value) < near

    def written(self) -> str:
        """Return the value with its unit."""
        return f"{self.value:,.{self.decimals}f} {self.unit}".rstrip()


def dated(text: str, year: str) -> str:
    """Return a text with each period in one form, such as `⟦2025-05⟧`; `year` fills in for none."""

    def normal(match: re.Match[str]) -> str:
        part = match.groupdict()
        own = part["qy"] or part["yq"] or part["my"] or year
        if part["iso"] or part["year"]:
            return f"⟦{part['iso'] or part['year']}⟧"
        if not own:
            return match[0]
        if part["month"]:
            day = f"-{int(part['day']):02}" if part["day"] else ""
            return f"⟦{own}-{MONTHS.index(part['month']) + 1:02}{day}⟧"
        return f"⟦{own}-Q{part['q'] or part['q2'] or QUARTERS[part['spelt']]}⟧"

    return PERIOD.sub(normal, text)


def facts(source: Evidence) -> Iterator[Fact | None]:
    """Yield a fact for each number of a passage, or None for one whose measure is not plain."""
    lines = source.quote.translate(PLAIN).splitlines()
    above = list(takewhile(HEADING.match, lines[:-1]))
    years = re.findall(YEAR, " ".join([lines[-1], *reversed(above), source.path.replace("_", " ")]))
    texts = [dated(text, years[0] if years else "") for text in (*lines, source.path)]
    outer = [p for text in (*reversed(texts[: len(above)]), texts[-1]) for p in _periods(text)]
    rows = texts[len(above) : -1]
    period = outer[0] if outer else ""
    if len(rows) == 2 and (cells := _cells(rows)):
        yield from _in_table(*cells, period, source)
    else:
        for sentence in SENTENCE.split(" ".join(rows)):
            tokens = TOKEN.findall(sentence)
            for at in (n for n, token in enumerate(tokens) if NUMBER.fullmatch(token)):
                before, after = tokens[max(0, at - REACH) : at], tokens[at + 1 : at + REACH]
                yield _in_prose(before, tokens[at], after, period, source)


def _periods(text: str) -> list[str]:
    return re.findall(r"⟦([^⟧]*)⟧", text)


def _cells(rows: list[str]) -> tuple[list[str], list[str]] | None:
    """Return the cells of a header and a row, or None when the lines are no table."""
    counts = {mark: rows[0].count(mark) for mark in "|\t;,"}
    mark = max(counts, key=lambda m: counts[m])
    if max(map(len, rows)) > 2 * ROW_LIMIT or not counts[mark]:
        return None
    lines = [row.strip().strip("|") if mark == "|" else row for row in rows]
    # Each line is read alone, so that a quotation mark left open cannot swallow the next one.
    header, row = ([c.strip() for c in next(csv.reader([x], delimiter=mark))] for x in lines)
    return (header, row) if len(header) == len(row) > 1 else None


def _in_table(
    header: list[str], row: list[str], outer: str, source: Evidence
) -> Iterator[Fact | None]:
    own = next((p for cell in row for p in _periods(cell)[:1]), outer)
    named = [c for c in row if c and not _value(c) and not _periods(c)]
    for title, cell in zip(header, row, strict=True):
        if not (read := _value(cell)):
            continue
        if period := next(iter(_periods(title)), ""):
            # Periods across the top: what is measured stands in the row.
            label, scope = named[0] if named else "", ""
        else:
            label, period, scope = title, own, named[0][:40] if named else ""
        name = [SPELT.get(w, w) for w in re.findall(r"%|[^\W\d_]+", label.lower())]
        unit = next((UNITS[w] for w in reversed(name) if w in UNITS), read[2])
        label = " ".join(w for w in name if w not in UNITS)
        yield Fact(label, scope, period, *read[:2], unit, source) if label else None


def _value(text: str) -> tuple[float, int, str] | None:
    """Return value, decimals and unit of a text that is a number and nothing else."""
    tokens = TOKEN.findall(text.lower())
    units = [UNITS[t] for t in tokens if t in UNITS]
    digits = [t for t in tokens if t not in UNITS]
    if len(digits) != 1 or not (match := NUMBER.fullmatch(digits[0])):
        return None
    fraction = match["fraction"] or ""
    # A comma before anything but three digits is a decimal comma.
    whole = re.sub(r"[,']", "", digits[0][: -len(fraction) - 1] if fraction else digits[0])
    value = float(f"{whole}.{fraction or 0}")
    return value, len(fraction), units[0] if units else ""


def _in_prose(
    before: list[str], token: str, after: list[str], outer: str, source: Evidence
) -> Fact | None:
    beside = [before.pop()] if before and before[-1].lower() in CURRENCIES else []
    scale = SCALES.get(after[0], 1.0) if after else 1.0
    after = after[scale > 1 :]
    beside += [after.pop(0)] if not beside and after and after[0].lower() in UNITS else []
    read = _value(" ".join([token, *beside]))
    label, scope = _label(before, after, bool(beside))
    follows = [t[1:-1] for t in takewhile(_goes_on, after) if t[0] == "⟦"]
    was = before[-1:] == ["from"] and not follows  # The value of a time that is not named.
    if not read or not label or was:
        return None
    earlier = [t[1:-1] for t in before if t[0] == "⟦"]
    period = (follows[:1] or earlier[-1:] or [outer])[0]
    label = f"change in {label}" if before[-1:] == ["by"] else label
    rough = scale > 1 or any(t.lower() in HEDGES for t in before[-2:])
    return Fact(label, scope, period, read[0] * scale, read[1], read[2], source, rough)


def _goes_on(token: str) -> bool:
    """Tell whether a token still belongs to the clause of the number before it."""
    return token not in BREAKS and token[0] not in ":." and not token[0].isdigit()


def _label(before: list[str], after: list[str], unit: bool) -> tuple[str, str]:
    """Return what a number counts and within what scope: the words after it, or its subject."""
    rest = after[1:] if unit and after[:1] in (["of"], ["in"]) else after
    if counted := _phrase(rest):
        return " ".join(counted).lower(), _scope(rest[len(counted) :])
    filled = list(takewhile(lambda t: t in FILLERS or t[0] in "⟦-" or t[0].isdigit(), before[::-1]))
    clause = before[: len(before) - len(filled)]
    if not clause or clause[-1] not in LINKS:
        return "", ""
    start = max((n + 1 for n, t in enumerate(clause) if t.lower() in BREAKS), default=0)
    rest = list(dropwhile(lambda t: not _phrase([t]), clause[start:]))
    subject = _phrase(rest)
    return " ".join(subject).lower(), _scope(rest[len(subject) :])


def _phrase(tokens: list[str]) -> list[str]:
    """Return the words at the start that name something, four at the most."""
    return list(takewhile(lambda t: t.lower() not in SILENT and t[0].isalpha(), tokens))[:4]


def _scope(tokens: list[str]) -> str:
    """Return what narrows a measure down, such as `north depot` of `at the North depot`."""
    if not tokens or tokens[0] not in SCOPES:
        return ""
    return " ".join(_phrase(tokens[2:] if tokens[1:2] == ["the"] else tokens[1:])).lower()


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
