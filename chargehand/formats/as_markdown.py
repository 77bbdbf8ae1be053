"""A report in Markdown, to paste into a pull request's comment."""

import re

from chargehand.formats import safe, words
from common.contracts import MergedFinding, Report

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~<>&$-])")
# A name after an at sign would call a person; the zero width space between them prevents it.
_MENTION = re.compile(r"@(?=\w)")
SIGNS = {"critical": "🔴", "warning": "🟠", "info": "🔵"}


def render(report: Report) -> str:
    """Return a report in Markdown in which nothing of a reviewed file acts as markup."""
    parts = [f"## {inline(report.summary)}", _label(report)]
    if report.text:
        parts.append(prose(report.text))
    for path, findings in words.by_file(report):
        parts += [f"### {code(safe.name(path))}", "\n".join(_finding(f) for f in findings)]
    if not report.findings and not report.text:
        parts.append("No problem was found.")
    parts += _section("Sources", [_cited(words.place(e), e.quote) for e in report.evidence])
    parts += _section(
        "Contradictions", [inline(words.conflict(report, c)) for c in report.conflicts]
    )
    parts += _section("Not covered", [_cited(g.specialist, g.message) for g in report.gaps])
    parts += _section("Left out", [_cited(e.path, e.reason) for e in report.excluded])
    return "\n\n".join([*parts, _footer(report)]) + "\n"


def inline(text: str) -> str:
    """Return a text as one line in which nothing is markup."""
    return _MENTION.sub("@\u200b", _SPECIAL.sub(r"\\\1", safe.line(text))).replace("\\<", "&lt;")


def code(text: str) -> str:
    """Return a text as code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def prose(text: str) -> str:
    """Return Markdown that a team wrote, without HTML, images and calls of people."""
    written = safe.block(text).strip().replace("&", "&amp;").replace("<", "&lt;")
    return _MENTION.sub("@\u200b", written.replace("![", "!\\["))


def _label(report: Report) -> str:
    state = "" if report.state == "complete" else " **Partial: some work was lost.**"
    return f"*Made {words.engine(report)}; confidence {report.confidence}.*{state}"


def _finding(finding: MergedFinding) -> str:
    several = finding.span.end > finding.span.start
    where = f"{'lines' if several else 'line'} {words.lines(finding.span)}"
    head = f"- {SIGNS[finding.severity]} **{finding.severity}**, {where}: {inline(finding.message)}"
    about = f"confidence {finding.confidence}, {words.agreement(finding)}"
    lines = [head]
    if finding.suggestion.strip():
        lines.append(f"  **Suggestion:** {inline(finding.suggestion)}")
    lines.append(f"  <sub>{code(safe.line(finding.rule))}, {about}</sub>")
    # Two spaces at the end of a line keep the next one apart from it.
    return "  \n".join(lines)


def _cited(where: str, said: str) -> str:
    return f"{code(safe.name(where))}: {inline(said)}"


def _section(title: str, items: list[str]) -> list[str]:
    if not items:
        return []
    listed = "\n".join(f"- {item}" for item in items)
    return [f"<details>\n<summary>{title} ({len(items)})</summary>\n\n{listed}\n\n</details>"]


def _footer(report: Report) -> str:
    parts = (words.below_threshold(report), words.usage(report), words.timings(report))
    return f"<sub>{'; '.join(part for part in parts if part)}</sub>"
