"""Reconcile findings: the same problem reported several times becomes one. Pure functions."""

from collections import Counter
from collections.abc import Iterable, Sequence

from common.contracts import Conflict, Finding, MergedFinding, Severity

RANK: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}
RULE = "the most confident report decides; among equals the more severe one"


def merge(findings: Iterable[Finding]) -> tuple[list[MergedFinding], list[Conflict]]:
    """Return one finding for each problem, ranked, and the conflicts between their reports."""
    merged = sorted((_merged(group) for group in same_problem(findings)), key=_place)
    numbered = sorted(_distinct(merged), key=_rank)
    conflicts = [_conflict(finding) for finding in numbered]
    return numbered, [conflict for conflict in conflicts if conflict]


def same_problem(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings of the same kind whose lines overlap, in a stable order."""
    groups: list[list[Finding]] = []
    for finding in sorted(findings, key=_place):
        last = groups[-1] if groups else []
        if last and _same(last[0], finding):
            last.append(finding)
        else:
            groups.append([finding])
    return groups


def _same(first: Finding, other: Finding) -> bool:
    where = (first.path, first.category) == (other.path, other.category)
    return where and first.span.overlaps(other.span)


def _place(finding: Finding) -> tuple[str | int, ...]:
    """Return where a finding stands; no two that differ stand at the same place."""
    f, span = finding, finding.span
    place = (f.path, f.category, span.start, span.end, f.specialist, f.rule)
    return *place, f.message, -f.confidence, RANK[f.severity], f.suggestion, f.fingerprint


def _merged(reports: Sequence[Finding]) -> MergedFinding:
    best = min(reports, key=lambda f: (-f.confidence, RANK[f.severity], f.specialist, f.rule))
    suggestion = best.suggestion or next((f.suggestion for f in reports if f.suggestion), "")
    return MergedFinding(
        **best.model_dump(exclude={"suggestion"}),
        suggestion=suggestion,
        found_by=tuple(sorted({report.specialist for report in reports})),
        evidence=tuple(reports),
    )


def _distinct(findings: Iterable[MergedFinding]) -> list[MergedFinding]:
    """Number problems that look the same at different places, so that each has its own name."""
    seen: Counter[str] = Counter()
    distinct = []
    for finding in findings:
        seen[finding.fingerprint] += 1
        number = seen[finding.fingerprint]
        if number > 1:
            name = f"{finding.fingerprint}-{number}"
            finding = finding.model_copy(update={"fingerprint": name})
        distinct.append(finding)
    return distinct


def _rank(finding: Finding) -> tuple[int, int, str, int, str]:
    severity = RANK[finding.severity]
    return severity, -finding.confidence, finding.path, finding.span.start, finding.category


def _conflict(finding: MergedFinding) -> Conflict | None:
    said = sorted({(f.specialist, f.severity) for f in finding.evidence})
    if len({severity for _, severity in said}) < 2:
        return None
    return Conflict(
        fingerprint=finding.fingerprint,
        severities=tuple(said),
        settled=finding.severity,
        rule=RULE,
    )
