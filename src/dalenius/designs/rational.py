"""Exact numbers of designs: from doubles to a mechanism that meets its budget exactly, and linear systems in rationals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.linalg import qr

from dalenius.evidence import double_above, short_text
from dalenius.information.arrays import Floats

DENOMINATOR = 10**13
WRITABLE = 1200  # bits of p and q together that 400 characters always hold


def rational_rows(Q: Floats) -> list[list[Fraction]]:
    """Rows of multiples of 1e-13 near those of Q, with sum 1 exactly: the largest entry takes what rounding leaves.

    >>> [[str(x) for x in row] for row in rational_rows(np.array([[1 / 3, 2 / 3], [0.0, 1.0]]))]
    [['3333333333333/10000000000000', '6666666666667/10000000000000'], ['0', '1']]
    """
    whole = np.floor(np.maximum(Q, 0.0) / Q.sum(axis=1, keepdims=True) * DENOMINATOR).astype(np.int64)
    rows = np.arange(len(whole))
    whole[rows, Q.argmax(axis=1)] += DENOMINATOR - whole.sum(axis=1)
    return [[Fraction(weight, DENOMINATOR) for weight in row] for row in whole.tolist()]


def weight_texts(rows: Sequence[Sequence[Fraction]], common: int = 1) -> tuple[tuple[str, ...], ...]:
    """The rows as whole weights, each row with the same sum, a multiple of `common`; as a certificate has them.

    >>> weight_texts([[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 3)]])
    (('3', '3'), ('2', '4'))
    """
    whole = math.lcm(common, *(entry.denominator for row in rows for entry in row))
    return tuple(tuple(str(int(entry * whole)) for entry in row) for row in rows)


def at_most_one(shares: Sequence[tuple[float, Fraction]]) -> list[float]:
    """Multipliers v, each with a w > 0, lowered alike by as little as makes sum v / w <= 1 exactly, as they are written.

    >>> at_most_one([(0.25, Fraction(1)), (0.5, Fraction(1))]), at_most_one([(0.1, Fraction(1, 10)), (1e-17, Fraction(1))])[0] < 0.1
    ([0.25, 0.5], True)
    """
    lowered, less = [v for v, _ in shares], 2.0**-52
    while sum((Fraction(short_text(v)) / w for v, (_, w) in zip(lowered, shares, strict=True)), Fraction(0)) > 1:
        lowered, less = [v * (1.0 - less) for v, _ in shares], 2.0 * less
    return lowered


def writable(values: Iterable[Fraction]) -> bool:
    """Whether these numbers, at least 0, can be written over one denominator.

    >>> writable([Fraction(1, 2), Fraction(1, 3)]), writable([Fraction(1, 3**1000)])
    (True, False)
    """
    largest, common = Fraction(0), 1
    for value in values:
        largest, common = max(largest, value), math.lcm(common, value.denominator)
        if common.bit_length() > WRITABLE:
            return False
    return math.ceil(largest * common).bit_length() + common.bit_length() <= WRITABLE


def short_above(value: Fraction) -> Fraction:
    """The number, or one just above it that can be written.

    >>> short_above(Fraction(1, 3)), 0 < short_above(Fraction(1, 3**1000)) < Fraction(1, 10**40)
    (Fraction(1, 3), True)
    """
    return value if writable([value]) else Fraction(double_above(value))


def mixtures(Q: Floats, other: Floats, share: float) -> Iterator[Floats]:
    """Mixtures of Q with at least this share of the other mechanism, ever more of it, the other one itself last."""
    extra = 1e-13
    while share + extra < 1.0:
        mixed = min(share + extra, 1.0) if share > 0.0 or extra > 1e-13 else 0.0
        yield (1.0 - mixed) * Q + mixed * other
        extra *= 30.0
    yield other


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
