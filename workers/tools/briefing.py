"""A brief in Markdown from what the steps before it found: selected, ordered and kept short."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from common.contracts import Evidence, Result, Span, Upstream
from workers.desk import Desk
from workers.tools import tool
from workers.tools.documents import HEADING, ITEM, STOP_WORDS, UNPRINTABLE, WORD, place, stem, terms

TITLE_LENGTH = 100
POINT_LENGTH = 260
POINTS = 7
POINTS_PER_DOCUMENT = 3
ROWS = 7
ENTRIES = 5
ALIKE = 0.6
"""The share of common terms from which two points say the same."""

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d])")
WITHOUT = {
    "gather": "it quotes no passages of the documents",
    "analyse": "it compares no figures and did not look for contradictions",
}


@tool("compose-brief", "Write a short brief with sources from the gathered passages and figures.")
def compose(desk: Desk) -> Result:
    """Return a brief of about 60 lines at the most, which names what was lost on the way."""
    request, upstream = desk.assignment.context, desk.assignment.upstream
    gathered, analysed = _result(upstream, "gather"), _result(upstream, "analyse")
    parts = sections(analysed.text)
    points = select(gathered.evidence, frozenset(terms(request)))
    cited = [evidence for _, evidence in points] + list(analysed.evidence)
    disputes = parts.get("Contradictions", [])
    bodies = {
        "Key points": [f"- {text} ({_cite(e, disputes)})" for text, e in points],
        "Figures": _figures(parts),
        "Contradictions": capped(disputes, ENTRIES),
        "Gaps": capped(list(_gaps(request, upstream, gathered, parts)), ENTRIES),
        "Sources": capped([f"- {line}" for line in sources(cited)], ROWS),
    }
    blocks = [f"# {title(request)}"]
    blocks += ["\n".join([f"## {name}", "", *lines]) for name, lines in bodies.items() if lines]
    return Result(
        text="\n\n".join(blocks) + "\n",
        evidence=tuple(dict.fromkeys(cited)),
        confidence=_confidence(upstream),
    )


def _cite(evidence: Evidence, disputes: list[str]) -> str:
    """Return where a point stands, with a warning when its figure is contradicted."""
    at = place(evidence.path, evidence.span)
    return at + ("; contradicted, see below" if any(f"({at})" in d for d in disputes) else "")


def _result(upstream: Iterable[Upstream], specialist: str) -> Result:
    """Return what a specialist found, or an empty result when it was lost."""
    found = (u.result for u in upstream if u.specialist == specialist and u.result)
    return next(found, Result(confidence=0))


def _confidence(upstream: tuple[Upstream, ...]) -> int:
    """Return the weakest confidence among the results in use, divided for each lost step."""
    known = [u.result.confidence for u in upstream if u.result and u.result.evidence]
    return min(known, default=0) // (1 + sum(bool(u.lost) for u in upstream))


def title(request: str) -> str:
    """Return the request's first sentence, cut at a word when it is long."""
    text = " ".join(UNPRINTABLE.sub(" ", request).split()).lstrip("#*->_` ")
    return _cut(SENTENCE.split(text)[0], TITLE_LENGTH) or "Brief"


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return text[:most].rsplit(" ", 1)[0].rstrip(",;:. ") + " …"


def sections(text: str) -> dict[str, list[str]]:
    """Return the lines of a Markdown text by heading; what stands before any is under `""`."""
    found: dict[str, list[str]] = defaultdict(list)
    name = ""
    for line in text.splitlines():
        if HEADING.match(line):
            name = line.lstrip("# ").rstrip()
        elif line.strip():
            found[name].append(line)
    return dict(found)


def select(found: Iterable[Evidence], wanted: frozenset[str]) -> list[tuple[str, Evidence]]:
    """Return the points worth making with their evidence: prose, few of a document, none twice."""
    chosen: list[tuple[str, Evidence]] = []
    taken: Counter[str] = Counter()
    for evidence in found:
        text = _point(evidence, wanted)
        said = (t for t, _ in chosen)
        if (
            text
            and taken[evidence.path] < POINTS_PER_DOCUMENT
            and not any(alike(text, t) for t in said)
        ):
            chosen.append((text, evidence))
            taken[evidence.path] += 1
    return chosen[:POINTS]


def alike(one: str, other: str) -> bool:
    """Tell whether two texts say nearly the same with nearly the same words."""
    a, b = set(terms(one)), set(terms(other))
    return len(a & b) >= ALIKE * min(len(a), len(b))


def _point(evidence: Evidence, wanted: frozenset[str]) -> str:
    """Return a passage, or its best sentence when it is long; nothing for a table row or figure."""
    lines = [line for line in evidence.quote.splitlines() if not HEADING.match(line)]
    table = evidence.path.lower().endswith((".csv", ".tsv")) or any(x[:1] == "|" for x in lines)
    body = " ".join(lines)
    marker = ITEM.match(body)
    text = body[marker.end() :] if marker else body
    if table or len(text.split()) < 6:
        return ""
    if len(text) <= POINT_LENGTH:
        return text
    best = max(SENTENCE.split(text), key=lambda s: len(wanted.intersection(terms(s))))
    return _cut(best, POINT_LENGTH)


def _figures(parts: dict[str, list[str]]) -> list[str]:
    """Return the table of figures, then the single ones; an analysis without sections as it is."""
    lines = parts.get("Figures", [])
    rows = [*lines[:2], *capped(lines[2:], ROWS)]
    single = capped(parts.get("Single figures", []), ENTRIES)
    between = [""] if rows and single else []
    return rows + between + single or capped(parts.get("", []), ROWS)


def capped(lines: list[str], most: int) -> list[str]:
    """Return the first lines, and how many there are beyond them."""
    if len(lines) <= most:
        return lines
    more = f"{len(lines) - most} more are not shown."
    # A list takes one more entry; a table or a paragraph has to end first.
    return [*lines[:most], *([f"- {more}"] if lines[0].startswith("- ") else ["", more])]


def sources(cited: Iterable[Evidence]) -> list[str]:
    """Return each document with the lines that are cited, neighbours joined."""
    spans: dict[str, set[Span]] = defaultdict(set)
    for evidence in cited:
        spans[evidence.path].update([evidence.span] if evidence.span else [])
    return [", ".join(_ranges(path, spans[path])) or path for path in sorted(spans)]


def _ranges(path: str, spans: set[Span]) -> Iterator[str]:
    joined: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if joined and span.start <= joined[-1].end + 1:
            last = joined.pop()
            span = Span(start=last.start, end=max(last.end, span.end))
        joined.append(span)
    return (place(path, span) for span in joined)


def _gaps(
    request: str, upstream: tuple[Upstream, ...], gathered: Result, parts: dict[str, list[str]]
) -> Iterator[str]:
    for step in upstream:
        if step.lost:
            effect = WITHOUT.get(step.specialist, "its part is missing")
            reason = " ".join(UNPRINTABLE.sub(" ", step.lost).split())
            yield f"- The step `{step.step}` was lost, so {effect}: {_cut(reason, POINT_LENGTH)}"
    if not gathered.evidence and gathered.text:
        yield f"- {_cut(gathered.text, POINT_LENGTH)}"
    elif gathered.evidence and (missing := _unmentioned(request, gathered)):
        yield f"- No passage mentions: {', '.join(missing[:10])}."
    yield from parts.get("Limits", [])


def _unmentioned(request: str, gathered: Result) -> list[str]:
    """Return the request's words that no gathered passage has in any form."""
    known = {t for evidence in gathered.evidence for t in terms(evidence.quote)}
    asked = dict.fromkeys(WORD.findall(request.casefold()))
    return [w for w in asked if len(w) > 1 and w not in STOP_WORDS and stem(w) not in known]
