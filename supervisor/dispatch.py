"""Publish steps that are ready: one chord for those that feed the same dependents."""

from collections.abc import Mapping, Sequence

from common import crash, names
from common.broker import Message, join_call
from common.contracts import Assignment, Document, Result, Step, Upstream
from common.store import blobs
from supervisor.office import Case, Office
from supervisor.route import route


def dispatch(office: Office, case: Case, steps: Sequence[Step]) -> None:
    """Publish these steps. A step that is not waiting any more is left alone."""
    routed = {r.step: r for r in route(steps, case.team)}
    taken = office.store.steps.dispatch(case.id, list(routed.values()))
    crash.point("dispatch-stored")
    ready = [step for step in steps if step.id in taken]
    upstream = _upstream(office, case, ready)
    documents = {document.path: document for document in case.spec.documents}
    for group in case.graph.groups(ready):
        headers = [
            _message(
                assignment(case, step, taken[step.id], documents, upstream), routed[step.id].queue
            )
            for step in group
        ]
        office.broker.publish_chord(headers, join_call(case.id, group[0].id))
        crash.point("dispatch-halfway")


def assignment(
    case: Case,
    step: Step,
    attempt: int,
    documents: Mapping[str, Document],
    upstream: Mapping[str, Upstream],
) -> Assignment:
    """Return the contract of an attempt at a step: its own slice of the job and nothing else."""
    paths = dict.fromkeys(part.path for part in step.inputs)
    return Assignment(
        job=case.id,
        step=step.id,
        attempt=attempt,
        team=case.team.name,
        specialist=step.specialist,
        tools=case.team.specialists[step.specialist].tools,
        instruction=step.instruction,
        context=step.context,
        criterion=step.criterion,
        documents=tuple(documents[path] for path in paths),
        slices=step.inputs,
        upstream=tuple(upstream[needed] for needed in step.depends_on),
        budget=step.budget,
        tier=step.tier,
    )


def _message(contract: Assignment, queue: str) -> Message:
    label = (
        f"job={contract.job} step={contract.step} try={contract.attempt} "
        f"team={contract.team} specialist={contract.specialist}"
    )
    task_id = names.task_id(contract.job, contract.step, contract.attempt)
    body = contract.model_dump(mode="json", exclude_defaults=True)
    return Message(names.WORK, queue, {"assignment": {"v": contract.v, **body}}, label, task_id)


def _upstream(office: Office, case: Case, steps: Sequence[Step]) -> dict[str, Upstream]:
    """Return what the steps that these depend on came to."""
    needed = sorted({n for step in steps for n in step.depends_on})
    records = office.store.steps.records(case.id, needed)
    outcomes = office.store.steps.outcomes(case.id, {n: records[n].attempt for n in needed})
    found = {}
    for name in needed:
        specialist = case.graph.steps[name].specialist
        outcome = outcomes.get(name)
        result = outcome.answer if outcome else None
        found[name] = _packed(office, name, specialist, result, records[name].state)
    return found


def _packed(
    office: Office, step: str, specialist: str, result: Result | None, state: str
) -> Upstream:
    if result is None:
        return Upstream(step=step, specialist=specialist, lost=state)
    text = result.model_dump_json()
    if len(text.encode()) <= blobs.INLINE_LIMIT:
        return Upstream(step=step, specialist=specialist, result=result)
    office.store.blobs.put([text])
    return Upstream(step=step, specialist=specialist, ref=blobs.ref(text))
