"""How a search runs: limits, the clock and whom it tells, Ctrl-C, branch and bound, and the race of several trees."""

from dalenius.search.checkpoint import Checkpoint
from dalenius.search.clock import (
    PROVING,
    Clock,
    Progress,
    Stop,
    ended_with,
    hearing,
    stop_requested,
    stopped_by_interrupt,
)
from dalenius.search.crew import crew_of
from dalenius.search.run import SOLVERS, LimitOptions, Limits, Run, need_gap, need_solver

__all__ = [
    "PROVING",
    "SOLVERS",
    "Checkpoint",
    "Clock",
    "LimitOptions",
    "Limits",
    "Progress",
    "Run",
    "Stop",
    "crew_of",
    "ended_with",
    "hearing",
    "need_gap",
    "need_solver",
    "stop_requested",
    "stopped_by_interrupt",
]
