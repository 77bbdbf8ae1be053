"""Whatever order events come in, and however often, the store stays sound."""

from collections.abc import Callable
from random import Random
from typing import Any

import fakeredis
from hypothesis import given, settings
from hypothesis import strategies as st

from common import names
from common.contracts import Failure, Result
from common.states import JobState, StepState
from common.store import Attempt, Decision, StepRecord, Store
from tests.unit.samples import (
    FINAL,
    JOB,
    OUT_OF_SCOPE,
    TRANSIENT,
    assignment,
    begun,
    claim,
    delivered,
    outcome,
    report,
    routed,
    started,
    step,
)

STEPS = ["a", "b", "c"]
QUEUES = ["security", "heavy"]
TOKENS = ["t1", "t2"]
BODIES = [Result(), TRANSIENT, TRANSIENT, TRANSIENT, FINAL, OUT_OF_SCOPE]
LOST = Failure(reason="lost", message="its pod was lost")


class AnyOrder:
    """Deliveries, joins, reconcilers and a person who cancels, all at once and none too careful."""

    def __init__(self) -> None:
        self.client: Any = fakeredis.FakeRedis(server=fakeredis.FakeServer(), decode_responses=True)
        self.store = Store(self.client, "redis://tests", patience=0, ttl=3600)
        self.counted: dict[str, str] = {}
        self.ended: dict[str, StepState] = {}
        self.attempts = dict.fromkeys(STEPS, 1)
        self.delivered = 0
        self.lost_for_good: list[str] = []
        started(self.store, *(step(name) for name in STEPS))

    def aim(self, chance: Random, *states: str) -> tuple[str, int, str]:
        """Mostly a step in one of these states, its attempt and its token; sometimes others."""
        records = self.records()
        apt = [name for name in STEPS if records[name].state in states]
        name = chance.choice(apt * 4 + STEPS)
        attempt = records[name].attempt + chance.choice([0] * 8 + [-1, 1])
        token = chance.choice([records[name].token or "t1"] * 4 + TOKENS)
        return name, max(1, attempt), token

    def dispatch(self, chance: Random) -> None:
        chosen = set(chance.sample(STEPS, chance.randint(1, 2)))
        queue = chance.choice(QUEUES)
        waiting = {s for s, r in self.records().items() if r.state is StepState.WAITING}
        active = self.state() is JobState.RUNNING

        taken = self.store.steps.dispatch(JOB, routed(*sorted(chosen), queue=queue))

        assert set(taken) == (chosen & waiting if active else set())

    def claim(self, chance: Random) -> None:
        token, seconds = chance.choice(TOKENS), chance.choice([0, 60])
        name, attempt, _ = self.aim(chance, "queued", "queued", "running")
        before = self.records()[name]

        got = claim(self.store, assignment(name, attempt), token, seconds)

        after = self.records()[name]
        if got in ("granted", "suspect"):
            assert (after.state, after.token, after.attempt) == ("running", token, attempt)
            assert before.state in ("queued", "running")
        else:
            assert after == before

    def finish(self, chance: Random) -> None:
        body = chance.choice(BODIES)
        name, attempt, token = self.aim(chance, "running")
        before = self.records()[name]
        mine = (before.attempt, before.token) == (attempt, token)
        known = names.attempt_field(name, attempt) in self.counted

        counted = self.store.steps.finish(outcome(name, body, attempt=attempt), token)

        assert counted == (mine and (known or before.state is StepState.RUNNING))

    def decide(self, chance: Random) -> None:
        action: Any = chance.choice(["retry", "retry", "retry", "failed", "escalated"])
        name, attempt, _ = self.aim(chance, "undecided")
        self.decided(Decision(name, attempt, action, "w"))

    def skip(self, chance: Random) -> None:
        name, attempt, _ = self.aim(chance, "waiting")
        self.decided(Decision(name, attempt, "skipped", "w", state=StepState.WAITING))

    def decided(self, decision: Decision) -> None:
        before = self.records()[decision.step]
        holds = (before.state, before.attempt) == (decision.state, decision.attempt)
        active = self.state() is JobState.RUNNING

        carried = self.store.steps.decide(JOB, [decision, decision])

        assert carried == ([decision.step] if holds and active else [])

    def lose(self, chance: Random) -> None:
        tries, blame = chance.choice([1, 9]), chance.random() < 0.5
        name, attempt, token = self.aim(chance, "running")

        before = self.records()[name]
        mine = (before.attempt, before.token, before.state) == (attempt, token, "running")

        loss = self.store.steps.lose(
            Attempt(JOB, name, attempt, token),
            outcome(name, LOST, attempt=attempt),
            tries,
            blame=blame,
        )

        assert mine or loss == "stale"
        if loss == "over":
            self.lost_for_good.append(names.attempt_field(name, attempt))

    def withdraw(self, chance: Random) -> None:
        name, attempt, _ = self.aim(chance, "queued")
        before = self.records()[name]

        taken = self.store.steps.withdraw(Attempt(JOB, name, attempt), 1e12, "move", "w")

        assert taken == ((before.state, before.attempt) == (StepState.QUEUED, attempt))

    def conclude(self, _chance: Random) -> None:
        unfinished = any(not record.state.ended for record in self.records().values())

        concluded = self.store.jobs.conclude(JOB)

        assert not (concluded and unfinished)
        assert concluded == (self.state() is JobState.AGGREGATING)

    def deliver(self, _chance: Random) -> None:
        before = self.state()

        done = delivered(self.store, report())

        assert done == (before is JobState.AGGREGATING)
        self.delivered += done

    def stop(self, chance: Random) -> None:
        why: Any = chance.choice(["cancelled", "deadline"])

        self.store.jobs.stop(JOB, why)

    def stray_events(self, chance: Random) -> None:
        """What was delivered once more, or comes long after its time."""
        name, token = chance.choice(STEPS), chance.choice(TOKENS)
        attempt = chance.randint(1, 4)
        before = self.records()[name]
        if (before.attempt, before.token) == (attempt, token) or before.state == "queued":
            return

        counted = self.store.steps.finish(outcome(name, attempt=attempt), token)
        carried = self.store.steps.decide(JOB, [Decision(name, attempt + 4, "failed", "w")])

        assert (counted, carried) == (False, [])
        assert self.records()[name] == before

    def start_again(self, _chance: Random) -> None:
        plan = self.store.jobs.get(JOB).plan
        assert plan is not None

        assert not begun(self.store, plan)

    def records(self) -> dict[str, StepRecord]:
        return self.store.steps.records(JOB)

    def state(self) -> JobState:
        return self.store.jobs.state(JOB)

    def an_outcome_is_counted_once_and_stays(self) -> None:
        stored = self.client.hgetall(names.outcomes(JOB))
        assert self.counted.items() <= stored.items()
        self.counted = stored
        events = [event for event in self.store.trace.read(JOB) if event.event == "outcome"]
        told = [names.attempt_field(e.step, e.data["attempt"]) for e in events]
        assert sorted(told + self.lost_for_good) == sorted(stored)

    def the_open_steps_are_those_that_have_not_ended(self) -> None:
        unfinished = {s for s, r in self.records().items() if not r.state.ended}
        assert self.client.smembers(names.open_steps(JOB)) == unfinished

    def a_step_is_on_a_queue_or_leased_or_due_or_none_of_them(self) -> None:
        queued, leased, due = set(), set(), set()
        at_work = dict.fromkeys(QUEUES, 0)
        for name, record in self.records().items():
            attempt = names.attempt_field(name, record.attempt)
            if record.state is StepState.QUEUED:
                queued.add((record.queue, f"{JOB} {attempt}"))
            elif record.state is StepState.RUNNING:
                leased.add(names.lease_member(JOB, name, record.attempt, record.token))
                at_work[record.queue] += 1
            elif record.state is StepState.WAITING and record.attempt > 1:
                due.add(f"{JOB} {name}")
        waiting = {
            (queue, member)
            for queue in QUEUES
            for member in self.client.zrange(names.waiting(queue), 0, -1)
        }
        leases = self.client.zrange(names.LEASES, 0, -1)
        running = self.client.hmget(names.RUNNING, QUEUES)
        assert waiting == queued
        assert {lease for lease in leases if "/" in lease} == leased
        assert set(self.client.zrange(names.DUE, 0, -1)) == due
        assert [int(number or 0) for number in running] == [at_work[queue] for queue in QUEUES]

    def what_has_ended_stays_ended_and_attempts_only_grow(self) -> None:
        for name, record in self.records().items():
            assert record.attempt in (self.attempts[name], self.attempts[name] + 1)
            self.attempts[name] = record.attempt
            if name in self.ended:
                assert record.state is self.ended[name]
            elif record.state.ended:
                self.ended[name] = record.state
            if record.state is StepState.SUCCEEDED:
                assert names.attempt_field(name, record.attempt) in self.counted

    def a_job_never_aggregates_while_a_step_is_open(self) -> None:
        if self.state() is not JobState.RUNNING:
            assert all(record.state.ended for record in self.records().values())

    def a_job_is_delivered_once(self) -> None:
        told = [e for e in self.store.trace.read(JOB) if e.event == "delivered"]
        assert len(told) == self.delivered <= 1


EVENTS: dict[Callable[[AnyOrder, Random], None], float] = {
    AnyOrder.dispatch: 10,
    AnyOrder.claim: 10,
    AnyOrder.finish: 8,
    AnyOrder.decide: 8,
    AnyOrder.lose: 3,
    AnyOrder.withdraw: 2,
    AnyOrder.conclude: 2,
    AnyOrder.deliver: 2,
    AnyOrder.skip: 1,
    AnyOrder.stop: 0.5,
    AnyOrder.stray_events: 2,
    AnyOrder.start_again: 1,
}
"""What can happen, and how often it does."""
INVARIANTS = [
    AnyOrder.an_outcome_is_counted_once_and_stays,
    AnyOrder.the_open_steps_are_those_that_have_not_ended,
    AnyOrder.a_step_is_on_a_queue_or_leased_or_due_or_none_of_them,
    AnyOrder.what_has_ended_stays_ended_and_attempts_only_grow,
    AnyOrder.a_job_never_aggregates_while_a_step_is_open,
    AnyOrder.a_job_is_delivered_once,
]


@settings(max_examples=40)
@given(st.randoms(use_true_random=True))
def test_no_order_of_events_breaks_an_invariant(chance: Random) -> None:
    store = AnyOrder()

    for event in chance.choices(list(EVENTS), list(EVENTS.values()), k=60):
        event(store, chance)

        for holds in INVARIANTS:
            holds(store)
