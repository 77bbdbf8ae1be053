"""Passages of the job's documents that bear on its request, ranked by BM25 over light stems.

A quote is laid out so that it can be read alone: one line for each heading above the passage,
for a table row the table's header, then the passage in one line.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import log

from common.contracts import Document, Evidence, Result, Span
from workers.desk import Desk
from workers.tools import tool

PASSAGES = 60
PER_DOCUMENT = 24
PIECE = 600
ROW_LIMIT = 2000
WEAKEST = 0.15
"""The share of the best score that a passage needs."""
OPENING = 4
"""How many passages of each document are taken when the request names no subject."""
OPENING_CONFIDENCE = 20
"""What an unranked start of each document is worth as an answer."""


def words(text: str) -> frozenset[str]:
    """Return the set of a text's words, which makes a long list of them readable."""
    return frozenset(text.split())


STOP_WORDS = words(
    """a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does during each few for from further had has have here how
    i if in into is it its just me more most my no nor not of off on once only or other our out over
    own per please same shall should since so some such than that the their them then there these
    they this those through to too under until up us very was we were what when where which while
    who why will with would you your first second third fourth
    brief describe document explain file give many much say show summarise summarize summary tell
    write"""
)
IMPLIED = {"why": frozenset({"caus", "reason"})}
"""Stems that an answer to such a question often has."""
HEADING_WORTH = 0.5
"""What a term in a heading above a passage is worth against one in the passage itself."""
WORD = re.compile(r"[^\W_]+")
ENDING = re.compile(r"(?<=\w{3})(?:ies|ied|ing|ed|es|ly|s|(?<![aeiou])y|e)$")
HEADING = re.compile(r"#{1,6}\s+\S")
ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)|(?=[A-Z][\w /()-]{1,40}:\s+\S)")
RULE = re.compile(r"[|\s:+=*_-]+$")
PIECES = re.compile(rf".{{1,{PIECE}}}(?:(?<=[.!?])\s|$)|.{{1,{PIECE}}}(?:\s|$)|.{{1,{PIECE}}}")
# Control characters break terminals and JSON readers; the others reorder or break displayed lines.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class Passage:
    """A paragraph, list item or table row, and what stands above it."""

    path: str
    span: Span
    above: tuple[str, ...]
    body: str

    def quote(self) -> str:
        """Return the passage below its headings and table header."""
        return "\n".join((*self.above, self.body))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return a word without its ending, the same for `delivery`, `deliveries` and `delivered`."""
    word = word.casefold()
    if word.endswith("ss") or word.isdigit():
        return word
    bare = ENDING.sub("", word)
    doubled = bare != word and len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "ls"
    return bare[:-1] if doubled else bare


def terms(text: str) -> list[str]:
    """Return the stems of a text's words, without those that say nothing about its subject."""
    return [stem(w) for w in WORD.findall(text.casefold()) if not _empty(w)]


def _empty(word: str) -> bool:
    return word in STOP_WORDS or word.removesuffix("s") in STOP_WORDS or len(word) < 2


def passages(document: Document) -> Iterator[Passage]:
    """Yield a document's passages from top to bottom."""
    lines = re.split(r"\r\n|\r|\n", UNPRINTABLE.sub(" ", document.text or ""))
    delimited = document.path.lower().endswith((".csv", ".tsv"))
    above: list[str] = []
    header = ""
    paragraph: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        row = (delimited or line.lstrip().startswith("|")) and len(line) <= ROW_LIMIT
        heading = not delimited and HEADING.match(line)
        if not row or not line.strip():
            # A table ends with its last row, except that a file of rows may have empty lines.
            header = header if delimited else ""
        if paragraph and (row or heading or not line.strip() or ITEM.match(line)):
            yield from _pieces(document.path, above, paragraph)
            paragraph = []
        if not line.strip() or (RULE.match(line) and not delimited):
            continue
        if heading:
            above = [h for h in above if _level(h) < _level(line)] + [_one_line(line)[:PIECE]]
        elif row and not header:
            header = line.strip(" ")
        elif row:
            span = Span(start=number, end=number)
            yield Passage(document.path, span, (*above, header), line.strip(" "))
        else:
            paragraph.append((number, line))
    if paragraph:
        yield from _pieces(document.path, above, paragraph)


def _level(heading: str) -> int:
    return len(heading) - len(heading.lstrip("#"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _pieces(path: str, above: list[str], lines: list[tuple[int, str]]) -> Iterator[Passage]:
    """Yield a paragraph in pieces of a length that can be quoted."""
    start, held = lines[0][0], ""
    for number, line in lines:
        text = _one_line(line)
        if held and len(held) + len(text) >= PIECE:
            yield Passage(path, Span(start=start, end=max(start, number - 1)), tuple(above), held)
            start, held = number, ""
        *full, rest = PIECES.findall(text) or [""]
        for piece in full:
            yield Passage(path, Span(start=number, end=number), tuple(above), piece.strip())
        held = f"{held} {rest}".strip()
    if held:
        yield Passage(path, Span(start=start, end=lines[-1][0]), tuple(above), held)


def rank(found: Iterable[Passage], wanted: frozenset[str]) -> list[tuple[float, Passage]]:
    """Return the passages that have a wanted term with their scores, the best first.

    Among equals the order of the documents stands.
    """
    counts: list[tuple[Passage, dict[str, float], int]] = []
    total = words = 0
    for passage in found:
        hits, length = _hits(passage, wanted)
        total, words = total + 1, words + length
        if hits:
            counts.append((passage, hits, length))
    spread = Counter(term for _, hits, _ in counts for term in hits)
    weight = {t: log(1 + (total - n + 0.5) / (n + 0.5)) for t, n in spread.items()}
    mean = words / total if total else 1.0
    scored = [
        (sum(weight[t] * _saturated(n, length / mean) for t, n in sorted(hits.items())), passage)
        for passage, hits, length in counts
    ]
    return sorted(scored, key=lambda pair: -pair[0])


def _hits(passage: Passage, wanted: frozenset[str]) -> tuple[dict[str, float], int]:
    """Return how often a passage has each wanted term, and how many terms it has in all."""
    headings = {t for line in passage.above if HEADING.match(line) for t in terms(line)}
    mine = terms("\n".join(a for a in (*passage.above, passage.body) if not HEADING.match(a)))
    hits = dict.fromkeys(headings & wanted, HEADING_WORTH)
    return hits | Counter(t for t in mine if t in wanted), len(mine)


def _saturated(count: float, length: float) -> float:
    """Return BM25's worth of a term that occurs so often in a passage of this relative length."""
    return count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length))


@tool("search-documents", "Find the passages of the job's documents that bear on its request.")
def search(desk: Desk) -> Result:
    """Return the best passages as a list and as evidence; nothing found has confidence 0."""
    wanted = frozenset(terms(desk.assignment.context))
    if wanted:
        asked = WORD.findall(desk.assignment.context.casefold())
        ranked = rank(_read(desk), wanted.union(*(IMPLIED.get(word, ()) for word in asked)))
        chosen = _best([p for score, p in ranked if score >= WEAKEST * ranked[0][0]], PER_DOCUMENT)
    else:
        chosen = _best(_read(desk), OPENING)
    if not chosen:
        return Result(text=_nothing(desk), confidence=0)
    covered = wanted & {t for p in chosen for t in terms(p.quote())}
    return Result(
        text="\n".join(f"- {place(p.path, p.span)}: {p.body}" for p in chosen),
        evidence=tuple(Evidence(path=p.path, span=p.span, quote=p.quote()) for p in chosen),
        confidence=len(covered) * 100 // len(wanted) if wanted else OPENING_CONFIDENCE,
    )


def place(path: str, span: Span | None) -> str:
    """Return `path:line`, or `path:first-last`, as editors and people read it."""
    if span is None:
        return path
    return f"{path}:{span.start}" + (f"-{span.end}" if span.end > span.start else "")


def _read(desk: Desk) -> Iterator[Passage]:
    """Yield every passage that this step answers for, as long as it has time."""
    for document in desk.subjects():
        for count, passage in enumerate(passages(document)):
            if count % 1000 == 0:
                desk.left()
            if desk.counts(document, passage.span):
                yield passage


def _best(ranked: Iterable[Passage], each: int) -> list[Passage]:
    """Return the first passages, so many of each document and none twice."""
    taken: Counter[str] = Counter()
    chosen: dict[tuple[str, str], Passage] = {}
    for passage in ranked:
        key = passage.path, passage.body
        if key not in chosen and taken[passage.path] < each and len(chosen) < PASSAGES:
            chosen[key] = passage
            taken[passage.path] += 1
    return list(chosen.values())


def _nothing(desk: Desk) -> str:
    paths = [d.path for d in desk.subjects()]
    if not paths:
        return "Nothing was found: the job has no documents."
    return f"Nothing was found on the request in {len(paths)} documents: {', '.join(paths[:10])}."
