"""Make one report out of a job's outcomes, reconciled and not pasted together, and deliver it."""

from collections import Counter
from collections.abc import Mapping

from common import crash
from common.contracts import (
    Escalation,
    Evidence,
    Failure,
    Gap,
    MergedFinding,
    Outcome,
    Report,
    Result,
    Team,
    Usage,
)
from common.errors import ModelError
from common.settings import settings
from common.states import JobState, StepState
from common.store import JobRecord, StepRecord
from supervisor.ended import ended
from supervisor.graph import Graph
from supervisor.merge import merge
from supervisor.office import Office
from supervisor.timings import timings


def aggregate(office: Office, job: str) -> None:
    """Deliver the report of a job whose steps have all ended; one that was delivered stays so."""
    with office.phase(job, "aggregate") as token:
        if token is None:
            return
        record = office.store.jobs.get(job)
        steps = office.store.steps.records(job)
        outcomes = office.store.steps.outcomes(job, {s: r.attempt for s, r in steps.items()})
        state = JobState.CANCELLED if record.stopped == "cancelled" else JobState.DONE
        made = report(record, steps, outcomes)
        if settings().thinks() and not record.stopped:
            made = _written(office, record.team, made)
        crash.point("aggregating")
        if office.store.jobs.deliver(job, made, state, token):
            ended(record, state, partial=made.state == "partial")
        crash.point("delivered")


def _written(office: Office, team: Team, made: Report) -> Report:
    """Let a model rank and sum up; without an answer the report stands, with all that was used."""
    # The model's part is loaded only where a model is asked.
    from supervisor.asking import spent
    from supervisor.write import write

    if team.prompts.write and made.findings:
        try:
            made = write(office, made, team.prompts.write, critique=team.critique)
        except ModelError as error:
            office.store.trace.add(made.job, "fell_back", {"phase": "report", "why": str(error)})
    return made.model_copy(update={"usage": spent(office, made.job)})


def report(
    job: JobRecord, steps: Mapping[str, StepRecord], outcomes: Mapping[str, Outcome]
) -> Report:
    """Return the report of a job. A pure function."""
    if job.plan is None:
        raise ValueError(f"job {job.id!r} has no plan to report on")
    graph = Graph.of(job.plan.steps)
    results = answers(graph, outcomes)
    findings, conflicts = merge(f for r in results.values() for f in r.findings)
    kept = [f for f in findings if f.confidence >= job.spec.min_confidence]
    names = {f.fingerprint for f in kept}
    gaps = [
        gap
        for step in sorted(steps)
        if (gap := gap_of(step, graph, steps[step], outcomes.get(step), job.stopped)) is not None
    ]
    partial = bool(job.stopped) or any(gap.kind == "lost" for gap in gaps)
    return Report(
        job=job.id,
        team=job.team.name,
        state="partial" if partial else "complete",
        engines=tuple(sorted({outcome.engine for outcome in outcomes.values()})),
        planner=job.plan.planner,
        summary=summary(kept, gaps, len(steps), job.stopped),
        text=text(graph, results),
        findings=tuple(kept),
        evidence=evidence(results),
        conflicts=tuple(c for c in conflicts if c.fingerprint in names),
        gaps=tuple(gaps),
        excluded=job.plan.excluded,
        below_threshold=len(findings) - len(kept),
        confidence=confidence(graph, results, gaps),
        usage=usage(outcomes),
        timings=timings(graph, steps, outcomes),
    )


def answers(graph: Graph, outcomes: Mapping[str, Outcome]) -> dict[str, Result]:
    """Return what there is to report for each step, in the order of the plan.

    What was only gathered for a model, by a specialist that can not judge it, is no answer.
    """
    found = {}
    for step in graph.steps:
        outcome = outcomes.get(step)
        if outcome is None or outcome.answer is None:
            continue
        body = outcome.body
        if isinstance(body, Escalation) and body.reason == "out_of_scope":
            continue
        found[step] = outcome.answer
    return found


def gap_of(
    step: str, graph: Graph, record: StepRecord, outcome: Outcome | None, stopped: str
) -> Gap | None:
    """Return what a step leaves open, or None when it gave a result."""
    body = outcome.body if outcome else None
    if isinstance(body, Result):
        return None
    specialist = graph.steps[step].specialist
    if isinstance(body, Escalation):
        kind = "not_covered" if body.reason == "out_of_scope" else "lost"
        return Gap.model_validate(
            {
                "step": step,
                "specialist": specialist,
                "kind": kind,
                "reason": body.reason,
                "message": body.message,
            }
        )
    reason, message = _lost(record, body, stopped)
    return Gap(step=step, specialist=specialist, kind="lost", reason=reason, message=message)


def _lost(record: StepRecord, body: Failure | None, stopped: str) -> tuple[str, str]:
    if body is not None:
        return body.reason, f"{body.message} (try {record.attempt})"
    if record.state is StepState.CANCELLED:
        return stopped, record.why or "the job was stopped before this step had ended"
    return record.state, record.why or "it was not run"


def text(graph: Graph, results: Mapping[str, Result]) -> str:
    """Return the text of the steps that end the graph: what the others wrote went into theirs."""
    endings = [results[s.id].text.strip() for s in graph.sinks() if s.id in results]
    texts = list(dict.fromkeys(ending for ending in endings if ending))
    if texts or not results:
        return "\n\n".join(texts)
    # The last word was lost: the best there is comes from as far down the graph as there is any.
    last = [s for s in graph.ordered() if s in results and results[s].text]
    return results[last[-1]].text if last else ""


def evidence(results: Mapping[str, Result]) -> tuple[Evidence, ...]:
    """Return where the statements come from, each place once."""
    return tuple(dict.fromkeys(e for result in results.values() for e in result.evidence))


def confidence(graph: Graph, results: Mapping[str, Result], gaps: list[Gap]) -> int:
    """Return the confidence of the least certain ending step, less the share of lost steps."""
    ending = [results[s.id].confidence for s in graph.sinks() if s.id in results]
    lost = sum(gap.kind == "lost" for gap in gaps)
    return round(min(ending, default=0) * (1 - lost / max(1, len(graph.steps))))


def usage(outcomes: Mapping[str, Outcome]) -> Usage:
    """Return what all steps consumed together."""
    return sum((outcome.usage for outcome in outcomes.values()), Usage())


def summary(findings: list[MergedFinding], gaps: list[Gap], steps: int, stopped: str) -> str:
    """Say in a sentence what the report holds."""
    severities = Counter(finding.severity for finding in findings)
    counted = ", ".join(f"{n} {s}" for s in ("critical", "warning", "info") if (n := severities[s]))
    files = len({finding.path for finding in findings})
    said = [f"{_count(steps, 'step')} run"]
    if findings:
        said.append(f"{_count(len(findings), 'finding')} ({counted}) in {_count(files, 'file')}")
    lost = sum(gap.kind == "lost" for gap in gaps)
    not_covered = len(gaps) - lost
    if not_covered:
        said.append(f"{not_covered} not covered by this engine")
    if lost:
        said.append(f"{lost} lost")
    if stopped:
        said.append(f"stopped: {stopped}")
    return "; ".join(said)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
