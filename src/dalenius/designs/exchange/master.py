"""Master programs solved, by whoever was chosen, and what their multipliers prove."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dalenius.designs.exchange.bound import MasterBound, master_bound
from dalenius.designs.exchange.gap import NOTHING
from dalenius.designs.exchange.goal import Goal
from dalenius.designs.exchange.statement import MasterStatement
from dalenius.designs.oracle import Prior
from dalenius.information.arrays import Floats
from dalenius.programs import BlockSolution
from dalenius.programs.base import Tally
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.programs.solvers import OWN

__all__ = ["Master", "MasterAnswer"]

FINEST = 1e-9  # relative gap of a master that is always enough
SHARE = 0.02  # of the exchange's gap that a master may leave
LARGE = (
    2.0**22
)  # bytes of the conic form above which our own method goes before Clarabel: it has something whenever it is stopped
FIRST = ("MOSEK", OWN, "CLARABEL", "SCS").index


@dataclass(frozen=True, eq=False)
class MasterAnswer:
    """A master program, and a solution of it with an interval in closed form, whoever found it."""

    statement: MasterStatement
    program: MechanismUpdate
    solution: BlockSolution

    @property
    def mechanism(self) -> Floats:
        """Q (inputs, outputs)."""
        return self.program.mechanism(self.solution.point)

    @property
    def value(self) -> float:
        """What the mechanism attains."""
        return self.program.value(self.solution.point)

    @property
    def least(self) -> float:
        """What the multipliers prove: no mechanism attains less."""
        return self.program.bound(self.solution.multipliers)


@dataclass
class Master:
    """Solves master programs with the chosen solvers, one after the other, until one is close enough.

    Parameters
    ----------
    goal : Goal
        What is asked of them.
    order : sequence of str
        The solvers to try in turn (`dalenius.programs.solvers.order_of`): any mixture of cvxpy's and our own method.
    room : float
        Bytes that a solve may take.

    Attributes
    ----------
    tally : Tally
        Which solver did how much.
    """

    goal: Goal
    order: Sequence[str]
    room: float = math.inf
    tally: Tally = field(default_factory=Tally)

    def solved(self, priors: Sequence[Prior], seconds: float) -> MasterAnswer:
        """The program over these priors, solved within so many seconds."""
        statement = self.goal.statement(priors)
        program = statement.program()
        program.room, program.negligible = self.room, NOTHING
        gap = max(SHARE * self.goal.gap, FINEST)
        order = self.order if program.conic_bytes <= LARGE else sorted(self.order, key=FIRST)
        solution = program.solve(solver=order, gap=gap, time_limit=max(seconds, 0.0))
        self.tally.add(program.name, solution)
        return MasterAnswer(statement, program, solution)

    def bound(self, answer: MasterAnswer) -> MasterBound | None:
        """What the multipliers prove; None if that is nothing."""
        multipliers = self.goal.writable(answer.solution.multipliers)
        found_by = answer.solution.found_by["multipliers"]
        return master_bound(answer.program, answer.statement.priors, multipliers, found_by)
