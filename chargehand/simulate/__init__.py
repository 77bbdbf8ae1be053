"""What waits, overflow and cost would be: the real routing and scaling, in simulated time."""

from chargehand.simulate.run import run
from chargehand.simulate.scenario import Scenario, read
from chargehand.simulate.summary import Summary

__all__ = ["Scenario", "Summary", "read", "run"]
