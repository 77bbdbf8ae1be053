"""The repository's own written rules, as an aid: whether code keeps them takes judgement."""

import re

from common.contracts import Document, Evidence, Result, Span
from workers.desk import Desk
from workers.tools import source, tool

MOST_RULES = 60
RULE = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?P<item>\S.*)$")
BINDING = re.compile(
    r"\b(must|never|always|every|each|all|should|shall|do not|don't|avoid|prefer|use|required?|"
    r"only|no)\b",
    re.IGNORECASE,
)


@tool("guidelines", "The rules that the repository's own documents state.", analyser=False)
def run(desk: Desk) -> Result:
    """List the written rules with where they stand."""
    written = [d for d in desk.assignment.documents if d.role == "guideline"]
    rules = [rule for document in written for rule in _rules(document)][:MOST_RULES]
    lines = [f"{r.path}:{r.span.start if r.span else 1}: {r.quote}" for r in rules]
    text = "\n".join(["Rules that this repository has written down:", *lines]) if lines else ""
    return Result(text=text, evidence=tuple(rules))


def _rules(document: Document) -> list[Evidence]:
    found: list[Evidence] = []
    fenced = False
    for number, line in enumerate(source.text(document).splitlines(), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        match = None if fenced else RULE.match(line)
        if match and BINDING.search(match["item"]):
            span = Span(start=number, end=number)
            found.append(Evidence(path=document.path, span=span, quote=match["item"].strip()))
    return found
