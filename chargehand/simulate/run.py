"""Run a scenario: one heap of events, and the functions that decide in a real fleet.

Events are tuples of time, a number that keeps their order, what to do, and its arguments.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

from chargehand.simulate import chance
from chargehand.simulate.fleet import Pod, Pool
from chargehand.simulate.scenario import Loss, Scenario
from chargehand.simulate.summary import Summary, summarise
from common.contracts import Step
from common.pulse import LEASE
from common.scale import Pace
from common.store import Load, Routed
from supervisor.route import route

LOOK = 1.0
"""Seconds from one look at the loads to the next, where pools grow and shrink."""

Event = tuple[float, int, Callable[..., None], tuple[Any, ...]]


def run(scenario: Scenario) -> Summary:
    """Return what becomes of a scenario; the same each time."""
    simulation = _Simulation(scenario)
    simulation.go()
    return summarise(scenario, simulation.pools, simulation.reasons, simulation.ended)


class _Simulation:
    """A fleet at work."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._chance = Random(scenario.seed)  # noqa: S311 - repeatable, and no secret
        self._events: list[Event] = []
        self._order = count()
        self._team = scenario.team()
        self._overhead = scenario.overhead
        self._jobs = chance.arrivals(scenario.arrivals, scenario.seconds, self._chance)
        self._coming = True
        self.now = self.ended = 0.0
        self.reasons: Counter[str] = Counter()
        self.pools = self._make_pools()
        self._steps = {name: _step(name) for name in self.pools}
        shares = {name: pool.share for name, pool in scenario.pools.items() if pool.share}
        self._asked, self._weights = list(shares), list(shares.values())
        named = {n: (n, *scenario.pools[n].backups) for n in self._asked}
        self._seen = sorted({n for each in named.values() for n in each})

    def go(self) -> None:
        """Let time pass until nothing is left to happen."""
        for loss in self._scenario.lost:
            self._at(loss.at, self._lose, loss)
        self._next_job()
        if self._scenario.autoscale:
            self._at(0.0, self._look)
        events, pop = self._events, heapq.heappop
        while events:
            self.now, _, act, given = pop(events)
            act(*given)

    def _at(self, time: float, act: Callable[..., None], *given: Any) -> None:
        heapq.heappush(self._events, (time, next(self._order), act, given))

    def _make_pools(self) -> dict[str, Pool]:
        made = {}
        policy = self._scenario.autoscale.policy() if self._scenario.autoscale else None
        for name, given in self._scenario.pools.items():
            pace = Pace(policy, given.slots, 0.0) if policy else None
            pool = Pool(name, given.slots, chance.times(given.step, self._chance), pace)
            made[name] = pool
            # Those that are there at the start have started before.
            for _ in range(given.pods):
                self._ready(self._new_pod(pool))
            pool.sizes.note(len(pool.pods), 0.0)
        return made

    def _new_pod(self, pool: Pool) -> Pod:
        pod = Pod(pool, self.now)
        pool.pods.append(pod)
        return pod

    def _ready(self, pod: Pod) -> None:
        """A pod has started, unless it was told to leave before."""
        pool = pod.pool
        if not pod.wanted:
            return
        pod.live = True
        pool.announced += 1
        for _ in range(pool.slots):
            self._free(pod)

    # What comes.

    def _next_job(self) -> None:
        time = next(self._jobs, None)
        if time is None:
            self._coming = False
        else:
            self._at(time, self._arrive)

    def _arrive(self) -> None:
        """Route the steps of a job, and put them on their queues."""
        size = self._scenario.arrivals.batch
        if len(self._asked) == 1:
            steps = [self._steps[self._asked[0]]] * size
        else:
            chosen = self._chance.choices(self._asked, self._weights, k=size)
            steps = [self._steps[name] for name in chosen]
        for choice in route(steps, self._team, self._loads()):
            if isinstance(choice, Routed):
                self.reasons[choice.reason] += 1
                self._put(self.pools[choice.queue], self.now)
        self._next_job()

    def _loads(self) -> dict[str, Load]:
        return {name: self.pools[name].load() for name in self._seen}

    def _put(self, pool: Pool, arrived: float) -> None:
        pod = None if pool.waiting else pool.free_pod()
        if pod is None:
            pool.waiting.append(arrived)
        else:
            self._start(pool, pod, arrived)

    # What is done.

    def _start(self, pool: Pool, pod: Pod, arrived: float) -> None:
        seconds = pool.next_time() + self._overhead
        pool.running += 1
        pod.steps += 1
        now = self.now
        pool.waits.append(now - arrived)
        event = (now + seconds, next(self._order), self._finish, (pool, pod, seconds))
        heapq.heappush(self._events, event)

    def _finish(self, pool: Pool, pod: Pod, seconds: float) -> None:
        pool.running -= 1
        pod.steps -= 1
        pool.busy += seconds
        pool.learn(seconds)
        self.ended = self.now
        if pod.live:
            self._free(pod)
        elif not pod.steps:
            self._gone(pod)

    def _free(self, pod: Pod) -> None:
        """Give a free slot of a pod the next step that waits."""
        pool = pod.pool
        if pool.waiting:
            self._start(pool, pod, pool.waiting.popleft())
        else:
            pool.free.append(pod)

    # What happens to pods.

    def _look(self) -> None:
        """Let each pool grow or shrink, as long as there is something to do."""
        for pool in self.pools.values():
            if pool.pace is not None:
                wish = pool.pace.look(pool.load(), len(pool.pods), self.now)
                self._resize(pool, wish.pods)
        if self._coming or any(p.waiting or p.running for p in self.pools.values()):
            self._at(self.now + LOOK, self._look)

    def _resize(self, pool: Pool, size: int) -> None:
        while len(pool.pods) < size:
            self._at(self.now + self._scenario.start_up, self._ready, self._new_pod(pool))
        while len(pool.pods) > size:
            self._retire(pool.pods.pop())
        pool.sizes.note(len(pool.pods), self.now)

    def _retire(self, pod: Pod) -> None:
        """Let a pod finish its steps and leave."""
        pod.pool.announced -= pod.live
        pod.live = pod.wanted = False
        if not pod.steps:
            self._gone(pod)

    def _gone(self, pod: Pod) -> None:
        pod.pool.paid += self.now - pod.began

    def _lose(self, loss: Loss) -> None:
        """Let pods die: others start in their place, and their steps come back when missed."""
        pool = self.pools[loss.pool]
        for _ in range(min(loss.pods, len(pool.pods))):
            pod = pool.pods.pop(self._chance.randrange(len(pool.pods)))
            announced = pod.live
            pod.live = pod.wanted = False
            self._gone(pod)
            self._at(self.now + LEASE, self._miss, pool, self._unfinished(pod), announced)
            self._at(self.now + self._scenario.start_up, self._ready, self._new_pod(pool))

    def _unfinished(self, pod: Pod) -> int:
        """Take the steps of a pod that died off the events; return how many there are."""
        kept = [e for e in self._events if e[2] != self._finish or e[3][1] is not pod]
        lost = len(self._events) - len(kept)
        heapq.heapify(kept)
        self._events[:] = kept
        return lost

    def _miss(self, pool: Pool, lost: int, announced: bool) -> None:
        """The leases of a dead pod have expired: its steps are put on their queue again."""
        pool.announced -= announced
        pool.running -= lost
        self.reasons["lost with its pod"] += lost
        for _ in range(lost):
            self._put(pool, self.now)


def _step(pool: str) -> Step:
    text = "Take part in a simulation."
    return Step(id="step", specialist=pool, instruction=text, criterion=text)
