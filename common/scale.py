"""How many pods a pool is to have, by the expected wait that routing goes by too.

A pool grows at once, to what works off its queue within the target; it shrinks slowly, by a quarter
at the most, after it had pods to spare for a while. Between the two it stays as it is.
"""

import math
from dataclasses import dataclass, replace

from common.store.loads import UNKNOWN_SECONDS, Load

FULLEST = 0.8
"""The share of a pool's slots that may be busy after it shrank, so that it need not grow again."""
SLOWLY = 4
"""One in so many pods leaves at once."""


@dataclass(frozen=True)
class Policy:
    """The bounds of a pool, and when it changes."""

    least: int = 0
    most: int = 8
    target_wait: float = 5.0
    """Seconds that a step may wait before the pool grows."""
    cool_down: float = 10.0
    """Seconds for which pods must have been to spare before the pool shrinks."""


@dataclass(frozen=True)
class Wish:
    """How many pods there are to be, and why."""

    pods: int
    why: str


def enough(load: Load, slots: int, policy: Policy) -> int:
    """Return the pods, of so many slots, that keep up with a load and have some room left."""
    return min(math.ceil(_busy(load, policy) / FULLEST / slots), policy.most)


def desired(load: Load, pods: int, slots: int, policy: Policy, spare: float) -> Wish:
    """Return how many pods a pool of so many is to have now.

    Each has so many slots; some were to spare for so many seconds. Those of the load itself do not
    matter: pods that were asked for may still be on their way.
    """
    if not policy.least <= pods <= policy.most:
        bounded = min(max(pods, policy.least), policy.most)
        return Wish(bounded, f"the bounds are {policy.least} and {policy.most}")
    # The last of those that wait is the one that waits longest.
    wait = replace(load, slots=pods * slots).wait(-1) if load.waiting else 0.0
    if wait > policy.target_wait:
        return _more(load, pods, slots, policy, wait)
    return _fewer(load, pods, slots, policy, spare)


def _more(load: Load, pods: int, slots: int, policy: Policy, wait: float) -> Wish:
    wanted = max(pods + 1, math.ceil(_busy(load, policy) / slots))
    behind = f"{load.waiting} waiting"
    promised = "and no pod" if math.isinf(wait) else f"for {wait:.1f} s"
    why = f"{behind} {promised}, the target is {policy.target_wait:g} s"
    return Wish(min(wanted, policy.most), why)


def _fewer(load: Load, pods: int, slots: int, policy: Policy, spare: float) -> Wish:
    wanted = max(enough(load, slots, policy), policy.least, pods - max(1, pods // SLOWLY))
    if wanted >= pods or spare < policy.cool_down:
        return Wish(pods, "it fits")
    busy = f"{load.running} of {pods * slots} slots busy" if load.running else "idle"
    return Wish(wanted, f"{busy} for {spare:.0f} s")


def _busy(load: Load, policy: Policy) -> float:
    """Return the slots that go on with what runs, and finish what waits a step after the target."""
    mean = UNKNOWN_SECONDS if load.mean is None else load.mean
    return load.running + load.waiting * (mean / (policy.target_wait + mean) if mean else 0.0)


class Pace:
    """Remembers of one pool since when it has had pods to spare."""

    def __init__(self, policy: Policy, slots: int, now: float) -> None:
        self._policy = policy
        self._slots = slots
        self._since = now

    def look(self, load: Load, pods: int, now: float) -> Wish:
        """Return how many pods there are to be; the caller makes it so before the next look."""
        if enough(load, self._slots, self._policy) >= pods:
            self._since = now
        wish = desired(load, pods, self._slots, self._policy, now - self._since)
        if wish.pods != pods:
            self._since = now
        return wish
