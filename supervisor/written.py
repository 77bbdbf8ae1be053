"""What a writer makes of findings, and the report that follows from it. Pure functions."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from common.contracts import Conflict, Finding, MergedFinding, Report, Severity
from supervisor.merge import RANK


class Form(BaseModel):
    """What a model fills in."""

    model_config = ConfigDict(extra="forbid")


class VerdictForm(Form):
    """How a contradiction is judged."""

    id: str
    severity: Severity
    why: str


class WrittenForm(Form):
    """What the writer makes of the findings, which it names by their ids."""

    summary: str = Field(description="a few sentences for the reader; cite findings as [id]")
    ranking: list[str] = Field(description="all ids, the most important first")
    same: list[list[str]] = Field(default=[], description="ids that are one and the same problem")
    verdicts: list[VerdictForm] = Field(default=[], description="for the contradictions")


def written(form: WrittenForm, report: Report) -> Report:
    """Return the report with the writer's summary, in the writer's order."""
    verdicts = {v.id: v for v in form.verdicts}
    judged = [_judged(f, verdicts.get(f.fingerprint)) for f in report.findings]
    place = {name: n for n, name in reversed(list(enumerate(form.ranking)))}
    merged = _merged(judged, form.same, place)
    ranked = sorted(merged, key=lambda f: place.get(f.fingerprint, len(place)))
    return report.model_copy(
        update={
            "writer": "claude",
            "summary": form.summary.strip() or report.summary,
            "findings": tuple(ranked),
            "conflicts": tuple(_settled(c, verdicts.get(c.fingerprint)) for c in report.conflicts),
        }
    )


def _merged(
    findings: Sequence[MergedFinding], same: Sequence[Sequence[str]], place: dict[str, int]
) -> list[MergedFinding]:
    """Merge findings that the model says are one; the gravest and most certain speaks for all."""
    by_name = {f.fingerprint: f for f in findings}
    gone: set[str] = set()
    for group in same:
        members = [by_name[i] for i in dict.fromkeys(group) if i in by_name and i not in gone]
        if len(members) < 2:
            continue
        best = min(members, key=lambda f: (RANK[f.severity], -f.confidence))
        by_name[best.fingerprint] = _joined(best, members)
        # It stands where the first of them was ranked.
        places = [place[m.fingerprint] for m in members if m.fingerprint in place]
        if places:
            place[best.fingerprint] = min(places)
        gone |= {m.fingerprint for m in members} - {best.fingerprint}
    return [by_name[f.fingerprint] for f in findings if f.fingerprint not in gone]


def _joined(best: MergedFinding, members: Sequence[MergedFinding]) -> MergedFinding:
    reports: list[Finding] = [e for member in members for e in member.evidence]
    found_by = tuple(sorted({e.specialist for e in reports}))
    return best.model_copy(update={"found_by": found_by, "evidence": tuple(reports)})


def _judged(finding: MergedFinding, verdict: VerdictForm | None) -> MergedFinding:
    return finding if verdict is None else finding.model_copy(update={"severity": verdict.severity})


def _settled(conflict: Conflict, verdict: VerdictForm | None) -> Conflict:
    if verdict is None:
        return conflict
    rule = f"judged: {verdict.why.strip() or 'no reason given'}"
    return conflict.model_copy(update={"settled": verdict.severity, "rule": rule})
