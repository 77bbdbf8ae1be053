"""Figures as documents give them: numbers with their measure, scope, unit and period.

It reads what rules can read for certain; a number whose measure is not plain is left out.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from common.contracts import Evidence
from workers.tools.documents import HEADING, ROW_LIMIT, STOP_WORDS, stem, terms, words

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
