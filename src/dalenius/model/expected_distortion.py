"""What mechanisms distort on average: E(Q) = sum_x p(x) sum_y Q(x,y) d(x,y), exactly, and its least values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.model.distortions.base import Whole
from dalenius.model.mechanism_classes import TiedEntries

__all__ = ["ExpectedDistortion"]

CEILING = 10**300  # of costs in doubles


@dataclass(frozen=True, eq=False)
class ExpectedDistortion:
    """The expected distortion of the mechanisms of a class, as a function of the rows that describe one.

    Parameters
    ----------
    whole : (inputs, outputs)
        d(x,y) = whole(x,y) / denominator, whole numbers.
    denominator : int
    weights : (inputs,)
        Whole numbers proportional to p(x).
    tied : TiedEntries
        Which entries of a mechanism are one number.

    >>> from dalenius.model.mechanism_classes import Additive
    >>> flips = np.array([[0, 1], [1, 0]], dtype=object)
    >>> free, noise = (ExpectedDistortion(flips, 1, (3, 1), tied) for tied in (TiedEntries.free(2, 2), Additive().tied(2, 2)))
    >>> free.of([[Fraction(1), Fraction(0)]] * 2), free.of_constant, noise.of_constant
    (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    """

    whole: Whole
    denominator: int
    weights: tuple[int, ...]
    tied: TiedEntries

    # ------------------------------------------------------------ what it is made of

    @cached_property
    def cost(self) -> Floats:
        """d(x,y) in doubles: (inputs, outputs)."""
        whole = np.minimum(self.whole, CEILING * self.denominator)
        cost = np.asarray(whole / self.denominator, dtype=float)
        cost.flags.writeable = False
        return cost

    @cached_property
    def input_law(self) -> Floats:
        """p(x) in doubles: (inputs,), each entry correctly rounded."""
        total = sum(self.weights)
        law = np.array([weight / total for weight in self.weights])
        law.flags.writeable = False
        return law

    def exact_cost(self) -> list[tuple[Fraction, ...]]:
        """d(x,y), a row for every input."""
        known = {number: Fraction(number, self.denominator) for number in set(self.whole.ravel().tolist())}
        return [tuple(known[number] for number in row) for row in self.whole.tolist()]

    def exact_input_law(self) -> list[Fraction]:
        """p(x), for every input."""
        total = sum(self.weights)
        return [Fraction(weight, total) for weight in self.weights]

    # ------------------------------------------------------------ what it comes to

    @cached_property
    def _costs(self) -> Whole:
        """sum of w(x) d(x,y) over the entries that are one number, times the denominator: (rows, outputs)."""
        return self.tied.sums(np.array(self.weights, dtype=object)[:, None] * self.whole)

    def _averaged(self, total: int | Fraction) -> Fraction:
        """A sum of weights times whole costs as the average that it stands for."""
        return Fraction(total) / (sum(self.weights) * self.denominator)

    def costs(self) -> list[list[Fraction]]:
        """sum of p(x) d(x,y) over the entries that are one number: a row for every row that describes a mechanism."""
        return [[self._averaged(cost) for cost in row] for row in self._costs.tolist()]

    def of(self, rows: Sequence[Sequence[Fraction]]) -> Fraction:
        """E of the mechanism that these laws describe."""
        pairs = zip(rows, self._costs.tolist(), strict=True)
        return self._averaged(
            sum((q * d for row, costs in pairs for q, d in zip(row, costs, strict=True) if q and d), Fraction(0))
        )

    @cached_property
    def least(self) -> Fraction:
        """The least of all mechanisms: every row's mass at its best output."""
        return self._averaged(sum(self._costs.min(axis=1).tolist()))

    @property
    def constant(self) -> list[list[Fraction]]:
        """The rows of the constant mechanism of least distortion."""
        return self.tied.constant(self._costs)

    @cached_property
    def of_constant(self) -> Fraction:
        """The least of constant mechanisms."""
        return self.of(self.constant)
