"""Weights of extreme rays that tell most, by a linear program, and the prices of the inputs that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from dalenius.designs.extreme.rays import Rays
from dalenius.designs.linear.rational import LinearSystem
from dalenius.designs.rational import writable
from dalenius.information.arrays import Floats, Integers
from dalenius.information.entropies import x_log_x
from dalenius.model.problems.max_information import MaxInformation

__all__ = ["Extreme"]

Rows = list[list[Fraction]]
USED = 1e-11  # weights below are 0
FEASIBLE = 1e-10
GRID = 10**12
MOST = Fraction(10**15)  # e^epsilon taken to be at most: more tells no more, in doubles
SHORT = 10**14  # a rational e^epsilon just below an irrational one, so that mechanisms can be written


@dataclass(frozen=True, eq=False)
class Extreme:
    """What the program found.

    Attributes
    ----------
    rows : a private mechanism, exactly
    attained : float
        What it tells, in nats.
    prices : (inputs,)
        lambda(x) in doubles, which every ray meets up to rounding.
    slack : float
        By how much a ray may tell more than it costs, for each unit that it has in all.
    """

    rows: Rows
    attained: float
    prices: Floats
    slack: float

    @classmethod
    def of(cls, problem: MaxInformation) -> Extreme:
        """Solve.

        Raises
        ------
        InputError
            If there are too many rays.
        """
        below, above = (min(factor, MOST) for factor in problem.privacy.factor())
        if above == 1 and not _told_freely(problem):  # all rows that count are one, which tells nothing
            return cls([[Fraction(1)] for _ in range(problem.input_count)], 0.0, np.zeros(problem.input_count), 0.0)
        c = below if below == above else Fraction(int(below * SHORT), SHORT)
        rays = Rays.of(problem, float(above))
        joint = np.array(problem.joint.masses, dtype=float)
        told = information(rays.values, joint)
        found = linprog(
            -told,
            A_eq=rays.values.T,
            b_eq=np.ones(rays.values.shape[1]),
            method="highs-ds",
            options={"primal_feasibility_tolerance": FEASIBLE, "dual_feasibility_tolerance": FEASIBLE},
        )
        if found.status == 0:
            weights, prices = np.asarray(found.x), -np.asarray(found.eqlin.marginals)
        else:  # a bound and a mechanism all the same
            weights, prices = np.zeros(len(told)), _whole(joint)
        used = np.flatnonzero(weights > USED)
        prices = _sharpened(prices, rays.values, told, used)
        slack = float(((told - rays.values @ prices) / rays.values.sum(axis=1)).max(initial=0.0))
        rows = _mechanism(problem, rays, weights, used, c)
        columns = np.array([[float(entry) for entry in row] for row in rows]).T
        return cls(rows, float(information(columns, joint).sum()), prices, slack)


def information(columns: Floats, joint: Floats) -> Floats:
    """f(v) = sum_u m_u log( m_u / (pi_u r) ) of each column v of a mechanism, m = P v, r = sum_u m_u: what it adds to I(U;Y).

    >>> information(np.eye(2), np.eye(2) / 2).round(6).tolist()
    [0.346574, 0.346574]
    """
    masses = columns @ joint.T
    pi = joint.sum(axis=1)
    held = masses[:, pi > 0.0]
    expected = held.sum(axis=1, keepdims=True) * pi[pi > 0.0]
    ratio = np.divide(held, expected, out=np.ones_like(held), where=held > 0.0)
    return np.asarray((expected * x_log_x(ratio)).sum(axis=1))


def _told_freely(problem: MaxInformation) -> bool:
    """Whether an input that privacy leaves free, one outside the prior's support, has mass."""
    compared = problem.reference.inputs
    return any(mass for row in problem.joint.masses for x, mass in enumerate(row) if x not in compared)


def _whole(joint: Floats) -> Floats:
    """Prices that need no search: what each input alone tells."""
    return information(np.eye(joint.shape[1]), joint)


def _sharpened(prices: Floats, values: Floats, told: Floats, used: Integers) -> Floats:
    """Prices at which what is used costs what it tells, but for rounding: a solver's are true to its tolerance only."""
    if not len(used):
        return prices
    rest = told[used] - values[used] @ prices
    nearer = prices + np.linalg.lstsq(values[used], rest, rcond=None)[0]
    worst, before = (float((told - values @ each).max()) for each in (nearer, prices))
    return nearer if nearer.sum() + worst <= prices.sum() + before else prices


def _mechanism(problem: MaxInformation, rays: Rays, weights: Floats, used: Integers, c: Fraction) -> Rows:
    """The mechanism of these weights: at the vertex itself, or near it, with an output for what rounding leaves."""
    columns = [rays.exact(int(ray), c) for ray in used]
    system = LinearSystem(len(columns))
    for x in range(problem.input_count):
        system.add({j: column[x] for j, column in enumerate(columns)}, Fraction(1))
    solved = system.solved() if columns else None
    if solved is not None and all(weight >= 0 for weight in solved):
        rows = [[w * column[x] for w, column in zip(solved, columns, strict=True)] for x in range(problem.input_count)]
        if all(sum(row) == 1 for row in rows) and _fits(problem, rows):
            return rows
    share = Fraction(1, GRID)
    while columns and share < 1:
        near = [Fraction(int(weights[ray] * GRID), GRID) * (1 - share) for ray in used]
        rows = [[w * column[x] for w, column in zip(near, columns, strict=True)] for x in range(problem.input_count)]
        rows = [[*row, 1 - sum(row, Fraction(0))] for row in rows]
        if _fits(problem, rows):
            return rows
        share *= 10
    return [[Fraction(1)] for _ in range(problem.input_count)]


def _fits(problem: MaxInformation, rows: Rows) -> bool:
    """Whether these rows are laws, private, and can be written."""
    if any(min(row) < 0 for row in rows) or not all(writable(row) for row in rows):
        return False
    level = problem.exp_epsilon(rows)
    return level is not None and level <= problem.privacy.factor()[0]
