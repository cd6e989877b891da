"""A solver's answer to the linear program of a private design, in doubles: where the exact one is looked for."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from dalenius.designs.linear.program import PrivateDesign
from dalenius.information.arrays import Floats
from dalenius.search import Clock

__all__ = ["DoubleSolution", "answered", "solved_in_doubles"]

# the interior-point method, with crossover to a vertex, is the quicker from 100 inputs on
METHODS = ("highs-ipm", "highs-ds")
FEASIBLE = 1e-10
LOOK = 0.05  # seconds between two looks at the clock


@dataclass(frozen=True, eq=False)
class DoubleSolution:
    """A point, and the multipliers of its constraints in units of the program's scale.

    Attributes
    ----------
    exp_epsilon : float
        The e^epsilon that it was solved for.
    q : (variables,)
    s : (comparisons,)
    a, b : list of (entries,)
        Of q <= s, and of s <= e^epsilon q where any law averages, by comparison.
    of_q, of_s
        Of q >= 0 and of s >= 0.
    """

    exp_epsilon: float
    q: Floats
    s: Floats
    a: list[Floats]
    b: list[Floats]
    of_q: Floats
    of_s: Floats


def solved_in_doubles(program: PrivateDesign, exp_epsilon: float, clock: Clock) -> DoubleSolution | None:
    """What a solver says; None if it fails, or is stopped."""
    found = answered(clock, lambda: _solve(program, exp_epsilon, clock))
    return None if found is None else _solution(program, exp_epsilon, found)


def answered(clock: Clock, solve: Callable[[], OptimizeResult]) -> OptimizeResult | None:
    """What a solver answers before the clock has run out, which it does at Ctrl-C, too; None if it fails, or is stopped."""
    answers = list[OptimizeResult]()
    thread = threading.Thread(target=lambda: answers.append(solve()), daemon=True)
    thread.start()
    while thread.is_alive() and not clock.expired:
        thread.join(LOOK)
    return answers[0] if answers and answers[0].status == 0 and answers[0].x is not None else None


def _solve(program: PrivateDesign, exp_epsilon: float, clock: Clock) -> OptimizeResult:
    given = program.matrices(exp_epsilon)
    for method in METHODS:
        found = linprog(
            given.costs,
            A_ub=given.A,
            b_ub=np.zeros(given.A.shape[0]),
            A_eq=given.B,
            b_eq=given.e,
            method=method,
            options={
                "time_limit": max(clock.remaining, 0.01) if math.isfinite(clock.remaining) else None,
                "primal_feasibility_tolerance": FEASIBLE,
                "dual_feasibility_tolerance": FEASIBLE,
            },
        )
        if found.status == 0 or clock.expired:
            break
    return found


def _solution(program: PrivateDesign, exp_epsilon: float, found: OptimizeResult) -> DoubleSolution:
    count = len(program.cost)
    sizes = [len(comparison.entries) for comparison in program.comparisons]
    a, b = np.split(-found.ineqlin.marginals, [sum(sizes)])
    own = sizes if program.any_law else [0] * len(sizes)
    return DoubleSolution(
        exp_epsilon=exp_epsilon,
        q=found.x[:count],
        s=found.x[count:],
        a=np.split(a, np.cumsum(sizes)[:-1]),
        b=np.split(b, np.cumsum(own)[:-1]),
        of_q=found.lower.marginals[:count],
        of_s=found.lower.marginals[count:],
    )
