"""Which solver was asked how often, and whose answers were taken."""

from __future__ import annotations

from collections.abc import Mapping

from dalenius.outcome import SolverUse
from dalenius.programs.base import BlockSolution

__all__ = ["Tally"]


class Tally:
    """Counts the solves of programs by solver.

    >>> import numpy as np
    >>> from dalenius.programs import MarginalUpdate
    >>> tally = Tally()
    >>> tally.add("marginal", MarginalUpdate(np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2), 0.5).solve(solver="clarabel"))
    >>> [(use.block, use.solver, use.solves, use.ends) for use in tally.uses({"lower": ("marginal", "CLARABEL")})]
    [('marginal', 'clarabel', 1, ('lower',))]
    """

    def __init__(self) -> None:
        self._spent: dict[tuple[str, str], tuple[int, float]] = {}

    def add(self, block: str, solution: BlockSolution) -> None:
        """Count what was tried for one solution."""
        for made in solution.attempts:
            solves, seconds = self._spent.get((block, made.solver), (0, 0.0))
            self._spent[block, made.solver] = solves + 1, seconds + made.seconds

    def uses(self, ends: Mapping[str, tuple[str, str]]) -> tuple[SolverUse, ...]:
        """One entry a block and solver; `ends` says of an interval's ends whose answers they rest on."""
        return tuple(
            SolverUse(block, solver.lower(), *spent, tuple(end for end, by in ends.items() if by == (block, solver)))
            for (block, solver), spent in self._spent.items()
        )
