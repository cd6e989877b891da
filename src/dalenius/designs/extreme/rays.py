"""The extreme rays of the columns that private mechanisms have: 1 or c under local differential privacy; 0 or c, but for one input,
under pointwise maximal leakage."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats, Integers
from dalenius.model.problems.max_information import MaxInformation

__all__ = ["Rays"]

ROUNDING = 1e-12  # by which the entry that is left over may be below 0 or above c


@dataclass(frozen=True, eq=False)
class Rays:
    """The rays, for e^epsilon = c: generators of the cone of all columns (Q(x,y) over x) that private mechanisms have.

    Each is divided by its largest entry, so that a solver sees like sizes whatever epsilon is.

    Parameters
    ----------
    values : (rays, inputs)
        In doubles.
    high : (rays, inputs)
        Which entries are c, before that.
    rest : (rays,)
        The one input whose entry is what the others leave, so that the average is 1; -1 where there is none.
    low : number of the entries of `inputs` that are neither
    inputs : of the mechanism that are compared; at the others a column may be anything, so each of them is a ray by itself
    law : of these inputs, None where the least entry is what counts
    """

    values: Floats
    high: NDArray[np.bool_]
    rest: Integers
    low: int
    inputs: tuple[int, ...]
    law: tuple[Fraction, ...] | None

    @classmethod
    def of(cls, problem: MaxInformation, c: float) -> Rays:
        """All of them."""
        reference = problem.reference
        inputs, law = reference.inputs, reference.law
        high, rest, compared = _compared(len(inputs)) if law is None else _averaged(np.array(law, dtype=float), c)
        low = 1 if law is None else 0
        entries = np.where(high, c, float(low))
        if compared is not None:
            entries[np.arange(len(entries)), rest] = compared
        values = np.zeros((len(entries), problem.input_count))
        values[:, inputs] = entries / entries.max(axis=1, keepdims=True)
        free = [x for x in range(problem.input_count) if x not in inputs]
        marks = np.zeros((len(values), problem.input_count), dtype=bool)
        marks[:, inputs] = high
        places = np.array(inputs, dtype=np.int64)[rest] if compared is not None else rest
        alone = np.eye(problem.input_count)[free]
        return cls(
            np.vstack([values, alone]),
            np.vstack([marks, np.zeros(alone.shape, dtype=bool)]),
            np.concatenate([places, np.full(len(free), -1)]),
            low,
            inputs,
            law,
        )

    def exact(self, ray: int, c: Fraction) -> list[Fraction]:
        """A ray in exact numbers; of the entry that the others leave, what is between 0 and c, before it is divided."""
        if not self.values[ray, list(self.inputs)].any():
            return [Fraction(int(entry)) for entry in self.values[ray]]
        entries = [Fraction(0)] * self.values.shape[1]
        for x in self.inputs:
            entries[x] = c if self.high[ray, x] else Fraction(self.low)
        if self.law is not None:
            x, place = int(self.rest[ray]), self.inputs.index(int(self.rest[ray]))
            others = sum((p * entries[z] for p, z in zip(self.law, self.inputs, strict=True) if z != x), Fraction(0))
            entries[x] = min(max((1 - others) / self.law[place], Fraction(0)), c)
        return [entry / max(entries) for entry in entries]


def _subsets(count: int) -> NDArray[np.bool_]:
    """All sets of so many things, a row each."""
    return (np.arange(2**count)[:, None] >> np.arange(count)[None, :]) & 1 == 1


def _compared(inputs: int) -> tuple[NDArray[np.bool_], Integers, None]:
    """Every entry 1 or c; all c is a multiple of all 1."""
    high = _subsets(inputs)[: max(2**inputs - 1, 1)]
    return high, np.full(len(high), -1), None


def _averaged(law: Floats, c: float) -> tuple[NDArray[np.bool_], Integers, Floats]:
    """Every entry but one 0 or c, and that one what makes the average 1, where that is from 0 to c."""
    others = _subsets(len(law) - 1)
    found = []
    for x, p in enumerate(law):
        high = np.insert(others, x, False, axis=1)
        left = (1.0 - c * (high @ law)) / p
        fits = (left >= -ROUNDING) & (left <= c * (1.0 + ROUNDING))
        found.append((high[fits], np.full(int(fits.sum()), x), np.clip(left[fits], 0.0, c)))
    highs, places, lefts = zip(*found, strict=True)
    return np.vstack(highs), np.concatenate(places), np.concatenate(lefts)
