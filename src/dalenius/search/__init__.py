"""How a search runs: limits, the clock and whom it tells, Ctrl-C, branch and bound, and the race of several trees."""

from dalenius.search.clock import Clock, Progress
from dalenius.search.interrupt import Stop, hearing, stop_requested, stopped_by_interrupt
from dalenius.search.limits import LimitOptions, Limits, need_gap
from dalenius.search.run import Run

__all__ = [
    "Clock",
    "LimitOptions",
    "Limits",
    "Progress",
    "Run",
    "Stop",
    "hearing",
    "need_gap",
    "stop_requested",
    "stopped_by_interrupt",
]
