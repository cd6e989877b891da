"""The squared error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.exact import Numbers
from dalenius.model.distortions.base import Distortion, Whole, as_outputs, differences
from dalenius.model.queries.base import Integers

__all__ = ["Squared"]


@dataclass(frozen=True)
class Squared(Distortion):
    """d(v, y) = (v - o_y)^2, in squared units of the query's values.

    Parameters
    ----------
    outputs : list of numbers, optional
        o_0 < o_1 < ..., what the outputs stand for, exact; left out: the query's values.

    Raises
    ------
    InputError
        If the outputs are no ascending numbers.

    >>> import numpy as np
    >>> Squared().whole(np.array([0, 5, 7]))[0].tolist()
    [[0, 25, 49], [25, 0, 4], [49, 4, 0]]
    """

    kind: ClassVar[str] = "squared"
    outputs: tuple[Fraction, ...] | None = None

    def __init__(self, outputs: Numbers | None = None) -> None:
        object.__setattr__(self, "outputs", as_outputs(outputs))

    def output_count(self, values: Integers) -> int:
        return super().output_count(values) if self.outputs is None else len(self.outputs)

    def numbers(self, values: Integers) -> tuple[Fraction, ...] | None:
        return super().numbers(values) if self.outputs is None else self.outputs

    def whole(self, values: Integers) -> tuple[Whole, int]:
        whole, common = differences(values, self.outputs)
        return whole**2, common**2
