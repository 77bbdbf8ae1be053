"""The words that all readable forms of a report share."""

from itertools import groupby

from common.contracts import Conflict, Evidence, MergedFinding, Report, Span

BY_ENGINES = {
    frozenset({"rules"}): "by rules, without a model",
    frozenset({"claude"}): "by Claude",
    frozenset({"claude", "rules"}): "by Claude and, in part, by rules without a model",
}
NO_ENGINE = "without running any step"


def engine(report: Report) -> str:
    """Say who did the work: the honest label of the report."""
    return BY_ENGINES.get(frozenset(report.engines), NO_ENGINE)


def by_file(report: Report) -> list[tuple[str, list[MergedFinding]]]:
    """Return the findings of each file together; files and findings keep the report's order."""
    order = {f.path: place for place, f in reversed(list(enumerate(report.findings)))}
    ordered = sorted(report.findings, key=lambda f: order[f.path])
    return [(path, list(found)) for path, found in groupby(ordered, key=lambda f: f.path)]


def lines(span: Span | None) -> str:
    """Say a range of lines; empty when there is none."""
    if span is None:
        return ""
    return f"{span.start}" if span.start == span.end else f"{span.start}-{span.end}"


def agreement(finding: MergedFinding) -> str:
    """Say who found a problem."""
    names = ", ".join(finding.found_by)
    return f"found by {names}" + (" in agreement" if len(finding.found_by) > 1 else "")


def place(evidence: Evidence) -> str:
    """Say where a statement comes from."""
    at = lines(evidence.span)
    return f"{evidence.path}:{at}" if at else evidence.path


def conflict(report: Report, settled: Conflict) -> str:
    """Say who contradicted whom about what, and how it was settled."""
    found = next((f for f in report.findings if f.fingerprint == settled.fingerprint), None)
    where = f"{found.path}:{lines(found.span)}" if found else settled.fingerprint
    said = ", ".join(f"{who} says {severity}" for who, severity in settled.severities)
    return f"{where}: {said}; settled as {settled.settled}: {settled.rule}"


def timings(report: Report) -> str:
    """Say how long it took and what working in parallel gained."""
    t = report.timings
    return (
        f"{t.makespan:.2f} s for {t.work:.2f} s of work, {t.speedup:.1f} times as fast as one "
        f"after the other; critical path {t.critical_path:.2f} s"
    )


def below_threshold(report: Report) -> str:
    """Say how many findings the threshold took out; empty when none."""
    n = report.below_threshold
    return f"{n} {'finding' if n == 1 else 'findings'} below the confidence asked for" if n else ""


def usage(report: Report) -> str:
    """Say what a model was used for; empty when none was."""
    u = report.usage
    if not u.input_tokens and not u.output_tokens:
        return ""
    return f"{u.input_tokens} tokens in, {u.output_tokens} tokens out, ${u.usd:.4f}"
