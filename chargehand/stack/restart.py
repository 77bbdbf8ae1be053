"""When a process that died starts again: a pure decision."""

from dataclasses import dataclass

FIRST, LONGEST = 0.5, 10.0
HEALTHY = 60.0
AT_ONCE = 5.0
HOPELESS = 3


@dataclass(frozen=True)
class Streak:
    """The deaths of one process in a row, and how many of them came at once after its start."""

    deaths: int = 0
    at_once: int = 0

    def after(self, lived: float) -> "Streak":
        """Return the streak after one more death; a minute of health ends the old streak."""
        deaths = 1 if lived >= HEALTHY else self.deaths + 1
        return Streak(deaths, self.at_once + 1 if lived < AT_ONCE else 0)

    @property
    def delay(self) -> float:
        """Seconds to wait before the next start."""
        return float(min(FIRST * 2 ** min(self.deaths - 1, 10), LONGEST))

    @property
    def worth_saying(self) -> bool:
        """Whether it is time to say plainly that this process cannot run."""
        return self.at_once > 0 and self.at_once % HOPELESS == 0
