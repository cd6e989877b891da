"""The master program of a round: solved in doubles, and what its multipliers prove."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from dalenius.designs.exchange.bound import MasterBound, master_bound
from dalenius.designs.exchange.gap import NOTHING
from dalenius.designs.exchange.goal import Goal
from dalenius.designs.oracle import Prior
from dalenius.programs.base import Named
from dalenius.programs.mechanism_update import MechanismUpdate

__all__ = ["Master"]

CONIC = 300  # bytes that the conic form takes for a mass of a prior and an output
FINEST = 1e-9  # relative gap of a master that is always enough
SHARE = 0.02  # of the exchange's gap that a master may leave
SOLVER = "CLARABEL"  # where our own method stalls; not SCS, which would swallow Ctrl-C and write to standard output


class Master:
    """Makes and solves the programs over the priors found so far."""

    def __init__(self, goal: Goal, room: float = math.inf) -> None:
        self.goal, self.room = goal, room

    def program(self, priors: Sequence[Prior]) -> MechanismUpdate:
        """The program over these priors."""
        program = self.goal.program([prior.masses for prior in priors])
        program.room = self.room
        return program

    def solved(self, program: MechanismUpdate, seconds: float) -> tuple[Named, Named]:
        """A point and multipliers that are close together: from our own interior-point method, the quickest, where it can."""
        program.wanted, program.deadline = max(SHARE * self.goal.gap, FINEST), time.monotonic() + seconds
        point, multipliers = program.improve(*program.start())
        value, bound = program.value(point), program.bound(multipliers)
        left = program.deadline - time.monotonic()
        conic = CONIC * program.leakages.masses.size * program.cost.shape[1] <= self.room
        if left <= 0.0 or not conic or value - bound <= program.wanted * max(abs(value), abs(bound)) + NOTHING:
            return point, multipliers
        answer = program.solve(gap=program.wanted, time_limit=left, solver=SOLVER)
        return dict(answer.point), dict(answer.multipliers)

    def bound(self, program: MechanismUpdate, priors: Sequence[Prior], multipliers: Named) -> MasterBound | None:
        """What the multipliers prove; None if that is nothing."""
        return master_bound(program, priors, self.goal.writable(multipliers))
