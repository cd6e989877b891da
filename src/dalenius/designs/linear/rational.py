"""Linear systems in rationals, and numbers that certificates can hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.linalg import qr

__all__ = ["GRID", "TIGHT", "LinearSystem", "Terms", "whole_weights"]

Terms = dict[int, Fraction]  # unknowns and their factors
Equation = tuple[Terms, Fraction]
GRID = 10**30  # steps that numbers are rounded in
TIGHT = 1e-9  # what is smaller in doubles counts as 0
RANK = 1e-11
MOST = 1000  # unknowns of an exact system


class LinearSystem:
    """Linear equations in rationals, as many as one likes, of which enough independent ones are solved.

    >>> system = LinearSystem(2)
    >>> system.add({0: Fraction(1), 1: Fraction(1)}, Fraction(1))
    >>> system.add({0: Fraction(1), 1: Fraction(-2)}, Fraction(0))
    >>> system.solved()
    [Fraction(2, 3), Fraction(1, 3)]
    """

    def __init__(self, unknowns: int) -> None:
        self.unknowns = unknowns
        self._equations: dict[tuple[tuple[tuple[int, Fraction], ...], Fraction], Equation] = {}

    def another(self) -> int:
        """One more unknown."""
        self.unknowns += 1
        return self.unknowns - 1

    def add(self, terms: Terms, constant: Fraction) -> None:
        """sum of factor * unknown = constant."""
        kept = {unknown: factor for unknown, factor in terms.items() if factor}
        if kept:
            self._equations.setdefault((tuple(sorted(kept.items())), constant), (kept, constant))

    def solved(self) -> list[Fraction] | None:
        """The one solution of as many equations as are independent in doubles; None if there are too few, or too many unknowns."""
        equations, size = list(self._equations.values()), self.unknowns
        if len(equations) < size or size > MOST:
            return None
        chosen = _independent(equations, size)
        if chosen is None:
            return None
        matrix, ends = fmpq_mat(size, size), fmpq_mat(size, 1)
        for i, (terms, constant) in enumerate(chosen):
            ends[i, 0] = _fmpq(constant)
            for unknown, factor in terms.items():
                matrix[i, unknown] = _fmpq(factor)
        try:
            found = matrix.solve(ends)
        except ZeroDivisionError:
            return None
        return [Fraction(int(found[i, 0].p), int(found[i, 0].q)) for i in range(size)]


def _independent(equations: Sequence[Equation], size: int) -> list[Equation] | None:
    """So many equations that are independent in doubles; None if there are not so many."""
    dense = np.zeros((size, len(equations)))
    for j, (terms, _) in enumerate(equations):
        for unknown, factor in terms.items():
            dense[unknown, j] = float(factor)
    dense /= np.abs(dense).max(axis=0)
    triangle, order = qr(dense, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    if diagonal[size - 1] <= RANK * diagonal[0]:
        return None
    return [equations[j] for j in order[:size]]


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def whole_weights(row: Sequence[Fraction]) -> list[int]:
    """Whole weights near a law's, with sum 10^30: the largest takes what rounding leaves.

    >>> sum(whole_weights([Fraction(1, 3), Fraction(2, 3)])) == GRID
    True
    """
    positive = [max(entry, Fraction(0)) for entry in row]
    total = sum(positive)
    weights = [math.floor(entry / total * GRID) for entry in positive]
    weights[positive.index(max(positive))] += GRID - sum(weights)
    return weights
