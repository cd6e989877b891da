"""How a search runs: limits, the clock and whom it tells, branch and bound, and the race of several trees."""

from dalenius.search.clock import Clock, Progress

__all__ = ["Clock", "Progress"]
