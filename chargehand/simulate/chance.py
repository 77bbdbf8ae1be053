"""What is left to chance: when steps come and how long they take; the same for the same seed."""

import math
from collections.abc import Callable, Iterator
from random import Random

from chargehand.simulate.scenario import Arrivals, StepTime


def times(given: StepTime, chance: Random) -> Callable[[], float]:
    """Return what gives the seconds of one step after the other."""
    mean = given.mean
    match given.shape:
        case "exponential":
            return lambda: chance.expovariate(1 / mean)
        case "lognormal":
            middle = math.log(mean) - given.spread**2 / 2
            return lambda: chance.lognormvariate(middle, given.spread)
    return lambda: mean


def arrivals(given: Arrivals, seconds: float, chance: Random) -> Iterator[float]:
    """Yield the times at which jobs come, in order."""
    match given.pattern:
        case "burst":
            return _bursts(given.every, seconds)
        case "wave":
            return _wave(given, seconds, chance)
    return _steady(given.rate / given.batch, seconds, chance)


def _bursts(every: float | None, seconds: float) -> Iterator[float]:
    yield 0.0
    for number in range(1, int(seconds // every) + 1 if every else 0):
        yield number * (every or 0.0)


def _steady(rate: float, seconds: float, chance: Random) -> Iterator[float]:
    now = chance.expovariate(rate)
    while now < seconds:
        yield now
        now += chance.expovariate(rate)


def _wave(given: Arrivals, seconds: float, chance: Random) -> Iterator[float]:
    """Yield those of a steady stream at the highest rate that the wave lets through."""
    turn = 2 * math.pi / given.period
    peak = 1 + given.swing
    for now in _steady(peak * given.rate / given.batch, seconds, chance):
        # It begins at its lowest, as a day does.
        if chance.random() * peak < 1 - given.swing * math.cos(turn * now):
            yield now
