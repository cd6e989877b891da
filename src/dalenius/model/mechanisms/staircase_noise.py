"""Staircase noise on whole numbers: of all noise that is as private, that which is least far off."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.model.fields import Exact, Given, Whole, declared, whole
from dalenius.model.mechanisms.base import ExactEntries, above_zero, distances, exp_ball
from dalenius.model.mechanisms.noise import AddedNoise
from dalenius.model.queries.base import MAX_INTEGER


@declared
class Staircase(AddedNoise):
    """The staircase mechanism of Geng and Viswanath (2012) for whole numbers: noise whose probabilities fall in steps.

    Output y of value v has probability P(y - v), y any integer, where with b = e^-epsilon, D = `sensitivity` and r = `top`

        P(k) = (1-b)/(2r + 2b(D-r) - (1-b)) b^s,      s = floor((|k| - r)/D) + 1:

    a step down at the distances r, r + D, r + 2D, ... The paper's gamma is r/D.

    Parameters
    ----------
    epsilon : number in (0, 1000]
        Privacy parameter, in nats, for values that one record moves by at most `sensitivity`.
    sensitivity : int
        D, how long a step is, at least 1.
    top : int
        r, from 1 to `sensitivity`: the top step has the distances below it.

    Raises
    ------
    InputError
        If a parameter is out of range, or one but epsilon is not given by name.

    Notes
    -----
    P(k + D) = b P(k) for k >= 0: of the outputs up to the least value, those a multiple of D apart have columns that are multiples
    of one another, and so have those from the largest value on. Merging them loses nothing. What is left are the D outputs up to the
    least value and the D from the largest on, each with those beyond it, P(y - v)/(1-b) in all, and the outputs between.

    >>> import numpy as np
    >>> staircase(1, sensitivity=2, top=1).channel(np.arange(2)).round(3).tolist()
    [[0.175, 0.475, 0.175, 0.175], [0.175, 0.175, 0.475, 0.175]]
    """

    kind: ClassVar[str] = "staircase"
    words: ClassVar[str] = "staircase noise"
    on_a_bit: ClassVar[bool] = True
    epsilon: Exact = Given(above_zero)
    sensitivity: Whole = Given(whole(at_least=1, at_most=MAX_INTEGER), kw_only=True)
    top: Whole = Given(whole(at_least=1), kw_only=True)

    def __post_init__(self) -> None:
        if self.top > self.sensitivity:
            raise InputError(f"mechanism: top must be at most the sensitivity {self.sensitivity}, got {self.top}")

    def span(self, values: Integers) -> tuple[int, int]:
        return int(values[0]) - self.sensitivity + 1, int(values[-1]) + self.sensitivity - 1

    def channel(self, values: Integers) -> Floats:
        if values.size == 1:
            return np.ones((1, 1))
        steps, merged = self._steps(values)
        epsilon, r = float(self.epsilon), self.top
        inside = -np.expm1(-epsilon)
        whole = 2.0 * r + 2.0 * np.exp(-epsilon) * (self.sensitivity - r) - inside
        return np.exp(-epsilon * steps) / whole * np.where(merged, 1.0, inside)

    def exact_entries(self, values: Integers) -> ExactEntries:
        if values.size == 1:
            return ExactEntries.of_rows([[Fraction(1)]])
        steps, merged = self._steps(values)
        inside, r = -arb(-rational(self.epsilon)).expm1(), self.top
        whole = 2 * r + 2 * exp_ball(-self.epsilon) * (self.sensitivity - r) - inside
        tails = [exp_ball(-self.epsilon * step) / whole for step in range(int(steps.max()) + 1)]
        return ExactEntries([number for tail in tails for number in (tail * inside, tail)], 2 * steps + merged)

    def output_labels(self, values: Integers) -> list[str]:
        if values.size == 1:
            return ["any"]
        low, high = self.span(values)
        beyond = {y: y - self.sensitivity for y in range(low, int(values[0]) + 1)}
        beyond |= {y: y + self.sensitivity for y in range(int(values[-1]), high + 1)}
        return [f"{y}, {beyond[y]}, ..." if y in beyond else str(y) for y in range(low, high + 1)]

    def _steps(self, values: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """Steps of each entry below the top, and the outputs that are merged."""
        low, high = self.span(values)
        outputs = np.arange(low, high + 1)
        steps = (distances(values, (low, high)) - self.top) // self.sensitivity + 1
        return steps, (outputs <= values[0]) | (outputs >= values[-1])


staircase = Staircase
