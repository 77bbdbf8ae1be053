"""Pools and pods in simulated time."""

from array import array
from collections import deque
from collections.abc import Callable

from common.scale import Pace
from common.store import Load

LEARNING = 10
"""The mean of a queue's times is that of about so many steps, as the store keeps it."""


class Pod:
    """One worker process: live once it has started, and wanted until it is to leave."""

    __slots__ = ("began", "live", "pool", "steps", "wanted")

    def __init__(self, pool: "Pool", began: float) -> None:
        self.pool = pool
        self.began = began
        self.live = False
        self.wanted = True
        self.steps = 0


class Pool:
    """A queue with its pods. `free` has one entry for each free slot, some of pods that left."""

    def __init__(
        self, name: str, slots: int, next_time: Callable[[], float], pace: Pace | None
    ) -> None:
        self.name = name
        self.slots = slots
        self.next_time = next_time
        self.pace = pace
        self.waiting: deque[float] = deque()
        self.running = 0
        self.free: deque[Pod] = deque()
        self.pods: list[Pod] = []
        self.announced = 0
        """Pods that have said that they are there, and have not been missed yet."""
        self.mean: float | None = None
        self.waits = array("d")
        self.busy = 0.0
        """Seconds for which slots worked."""
        self.paid = 0.0
        """Seconds for which pods that are gone were there."""
        self.sizes = Sizes()

    def load(self) -> Load:
        """Return what routing and scaling see."""
        slots = self.announced * self.slots
        waiting = len(self.waiting)
        return Load(self.name, waiting, self.running, slots, self.announced, self.mean)

    def learn(self, seconds: float) -> None:
        """Take the time of a step into the mean."""
        if self.mean is None:
            self.mean = seconds
        else:
            self.mean += (seconds - self.mean) / LEARNING

    def free_pod(self) -> Pod | None:
        """Return a pod with a free slot, which is taken with that."""
        while self.free:
            pod = self.free.popleft()
            if pod.live:
                return pod
        return None


class Sizes:
    """How many pods there were over time."""

    def __init__(self) -> None:
        self.least = self.most = self._size = 0
        self._since = self._sum = 0.0
        self._began = False

    def note(self, size: int, now: float) -> None:
        """Take in that there are so many from now on."""
        self._sum += self._size * (now - self._since)
        self._size, self._since = size, now
        self.least = min(self.least, size) if self._began else size
        self.most = max(self.most, size)
        self._began = True

    def mean(self, end: float) -> float:
        """Return how many there were in the mean, until the end."""
        total = self._sum + self._size * (end - self._since)
        return total / end if end else float(self._size)
