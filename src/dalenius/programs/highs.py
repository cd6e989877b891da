"""The one door to HiGHS: linear programs in doubles, whose answers prove nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.optimize import OptimizeResult, linprog

from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline

# the interior-point method, with crossover to a vertex, is several times quicker from 20 x 20 on
METHODS = ("highs-ipm", "highs-ds")
FEASIBLE = 1e-10
SETTLED = (0, 2)  # solved, or infeasible


def solved(costs: Floats, clock: Deadline, methods: Sequence[str] = METHODS, **given: object) -> OptimizeResult | None:
    """Answer of HiGHS; None if there is nothing to answer, it fails, or takes longer.

    Parameters
    ----------
    clock : Deadline
        Where it has expired, a hundredth of a second is left.
    methods : sequence of str
        To try in turn.
    given
        The rows, and bounds, of `scipy.optimize.linprog`.
    """
    for method in methods:
        limit = max(clock.remaining, 0.01) if math.isfinite(clock.remaining) else None
        tolerances = {"primal_feasibility_tolerance": FEASIBLE, "dual_feasibility_tolerance": FEASIBLE}
        found = linprog(costs, method=method, options={**tolerances, "time_limit": limit}, **given)
        if found.status in SETTLED or clock.expired:
            break
    return found if found.status == 0 and found.x is not None else None
