"""A report for a terminal."""

import io

from rich.console import Console
from rich.text import Text

from chargehand.formats import safe, words
from common.contracts import MergedFinding, Report

COLOURS = {"critical": "bold red", "warning": "yellow", "info": "cyan"}
WIDTH = 100


def render(report: Report, *, colour: bool = False, width: int = WIDTH) -> str:
    """Return a report for people; coloured when the caller knows that a terminal shows it."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        legacy_windows=False,
    )
    for part in _parts(report):
        # A terminal wraps at words; elsewhere a line stays whole, so that it can be searched for.
        console.print(part, soft_wrap=not colour)
    return out.getvalue().rstrip("\n") + "\n"


def _parts(report: Report) -> list[Text]:
    parts = [_title(report)]
    if report.text:
        parts += [Text(), Text(safe.block(report.text).rstrip())]
    for path, findings in words.by_file(report):
        parts += [Text(), Text(safe.name(path), style="bold underline")]
        parts += [line for finding in findings for line in _finding(finding)]
    parts += _section("Sources", _evidence(report))
    parts += _section("Contradictions", [words.conflict(report, c) for c in report.conflicts])
    parts += _section("Not covered", _gaps(report))
    parts += _section("Left out", [f"{safe.name(e.path)}: {e.reason}" for e in report.excluded])
    return parts + _footer(report)


def _title(report: Report) -> Text:
    title = Text(safe.line(report.summary), style="bold")
    if report.state == "partial":
        title.append("  (partial: some work was lost)", style="bold red")
    return title


def _finding(finding: MergedFinding) -> list[Text]:
    head = Text("  ")
    head.append(f"{words.lines(finding.span):>9}", style="dim")
    head.append(f"  {finding.severity:<8}", style=COLOURS[finding.severity])
    head.append(f"  {safe.line(finding.message)}")
    indent = " " * 23
    lines = [head]
    if suggestion := safe.line(finding.suggestion):
        lines.append(Text(f"{indent}suggestion: {suggestion}", style="green"))
    about = f"{safe.line(finding.rule)}, confidence {finding.confidence}"
    lines.append(Text(f"{indent}{about}, {words.agreement(finding)}", style="dim"))
    return lines


def _evidence(report: Report) -> list[str]:
    return [f"{safe.name(words.place(e))}: {safe.line(e.quote)}" for e in report.evidence]


def _gaps(report: Report) -> list[str]:
    said = {"not_covered": "not covered", "lost": "lost"}
    return [f"{g.specialist} ({g.step}), {said[g.kind]}: {g.message}" for g in report.gaps]


def _section(title: str, items: list[str]) -> list[Text]:
    if not items:
        return []
    return [Text(), Text(title, style="bold"), *(Text(f"  - {safe.line(i)}") for i in items)]


def _footer(report: Report) -> list[Text]:
    label = f"Made {words.engine(report)}; confidence {report.confidence}."
    rest = [words.below_threshold(report), words.usage(report), words.timings(report)]
    return [Text(), Text(label, style="bold"), *(Text(line, style="dim") for line in rest if line)]
