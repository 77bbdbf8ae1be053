"""Publish steps that are ready: one chord for those that feed the same dependents."""

from collections.abc import Mapping, Sequence
from functools import partial

from common import crash, names, telemetry
from common.broker import Message, join_call
from common.contracts import Assignment, Document, Result, Step, Team, Upstream
from common.states import StepState
from common.store import Decision, Routed, blobs
from supervisor.decide import skips
from supervisor.office import Case, Office
from supervisor.route import Refused, route


def dispatch(office: Office, case: Case, steps: Sequence[Step]) -> None:
    """Publish these steps. A step that is not waiting any more is left alone."""
    if steps:
        with telemetry.span("dispatch", case.id, steps=len(steps)):
            _dispatch(office, case, steps)


def _dispatch(office: Office, case: Case, steps: Sequence[Step]) -> None:
    upstream = _upstream(office, case, steps)
    steps = _runnable(office, case, steps, upstream)
    choices = choose(office, case, steps)
    routed = {choice.step: choice for choice in choices if isinstance(choice, Routed)}
    taken = office.store.steps.dispatch(case.id, list(routed.values()))
    crash.point("dispatch-stored")
    ready = [step for step in steps if step.id in taken]
    documents = {document.path: document for document in case.spec.documents}
    for group in case.graph.groups(ready):
        headers = []
        for step in group:
            to = routed[step.id]
            made = assignment(case, step, to.specialist, taken[step.id], documents, upstream)
            headers.append(_message(made, to.queue))
        office.broker.publish_chord(headers, join_call(case.id, group[0].id))
        crash.point("dispatch-halfway")
    _refuse(office, case, [choice for choice in choices if isinstance(choice, Refused)])


def _runnable(
    office: Office, case: Case, steps: Sequence[Step], upstream: Mapping[str, Upstream]
) -> Sequence[Step]:
    """Return the steps that have what they need; where the team says so, the others are skipped."""
    if case.team.when_lost == "run":
        return steps
    lost = {name for name, each in upstream.items() if each.lost}
    doomed = {step.id for step in steps if not lost.isdisjoint(step.depends_on)}
    if doomed:
        records = office.store.steps.records(case.id, doomed)
        decisions = skips(case.graph, case.team, lost, records)
        for step in office.store.steps.decide(case.id, decisions):
            office.broker.publish(join_call(case.id, step, alone=True))
    return [step for step in steps if step.id not in doomed]


def choose(
    office: Office, case: Case, steps: Sequence[Step], *, probing: bool = True
) -> list[Routed | Refused]:
    """Return where each step goes now; one that only asks must not take up a probe."""
    team, store = case.team, office.store
    asked = {step.specialist for step in steps}
    named = asked.union(*(team.specialists[name].backups for name in asked))
    loads = store.loads.read(sorted({team.queue(name) for name in named}))
    broken = store.breakers.open(team.name, named)
    probe = partial(store.breakers.probe, team.name) if probing else _no_probe
    return route(steps, team, loads, broken, probe)


def _no_probe(_specialist: str) -> bool:
    return False


def _refuse(office: Office, case: Case, refused: Sequence[Refused]) -> None:
    """Fail steps that nobody is to do now, and have what hangs on them decided."""
    if not refused:
        return
    records = office.store.steps.records(case.id, [each.step for each in refused])
    failed = [
        Decision(r.step, records[r.step].attempt, "failed", r.why, state=StepState.WAITING)
        for r in refused
    ]
    for step in office.store.steps.decide(case.id, failed):
        office.broker.publish(join_call(case.id, step, alone=True))


def assignment(
    case: Case,
    step: Step,
    specialist: str,
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
        specialist=specialist,
        tools=case.team.specialists[specialist].tools,
        prompts=prompt_refs(case.team, specialist),
        instruction=step.instruction,
        context=step.context,
        criterion=step.criterion,
        documents=tuple(documents[path] for path in paths),
        slices=step.inputs,
        upstream=tuple(upstream[needed] for needed in step.depends_on),
        validate_below=case.team.validate_below,
        budget=step.budget,
        tier=step.tier,
    )


def prompt_refs(team: Team, specialist: str) -> tuple[str, str]:
    """Return where the team's and a specialist's prompts are stored."""
    return blobs.ref(team.prompts.shared), blobs.ref(team.specialists[specialist].prompt)


def _message(contract: Assignment, queue: str) -> Message:
    label = (
        f"job={contract.job} step={contract.step} try={contract.attempt} "
        f"team={contract.team} specialist={contract.specialist} queue={queue}"
    )
    task_id = names.task_id(contract.job, contract.step, contract.attempt)
    body = contract.model_dump(mode="json", exclude_defaults=True)
    return Message(names.WORK, queue, {"assignment": {"v": contract.v, **body}}, label, task_id)


def _upstream(office: Office, case: Case, steps: Sequence[Step]) -> dict[str, Upstream]:
    """Return what the steps that these depend on came to.

    A step's message takes so much inline; what is larger, or comes on top of that, is stored.
    """
    needed = sorted({n for step in steps for n in step.depends_on})
    records = office.store.steps.records(case.id, needed)
    outcomes = office.store.steps.outcomes(case.id, {n: records[n].attempt for n in needed})
    most = max((len(step.depends_on) for step in steps), default=1)
    found = {}
    for name in needed:
        outcome = outcomes.get(name)
        result = outcome.answer if outcome else None
        specialist = case.graph.steps[name].specialist
        if result is None:
            found[name] = Upstream(step=name, specialist=specialist, lost=records[name].state)
        else:
            room = blobs.INLINE_LIMIT // max(1, most)
            found[name] = _packed(office, name, specialist, result, room)
    return found


def _packed(office: Office, step: str, specialist: str, result: Result, room: int) -> Upstream:
    text = result.model_dump_json()
    if len(text.encode()) <= room:
        return Upstream(step=step, specialist=specialist, result=result)
    office.store.blobs.put([text])
    return Upstream(step=step, specialist=specialist, ref=blobs.ref(text))
