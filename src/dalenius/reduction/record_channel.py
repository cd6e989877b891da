"""Problem 1 in its smallest form: one record against the rows that a release can select for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalenius.information.arrays import Floats

__all__ = ["RecordChannel"]

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class RecordChannel:
    """max I(A; Y) over the masses p(a,k) >= 0 with sum p = 1 and H(p) >= b, Y the output of the row R(k) that is selected.

    A class k stands for N(a,k) datasets with letter a, over which p(a,k) is spread evenly: H(p) = -sum p log p + sum p log N.

    Attributes
    ----------
    record, times : int
        The record, and how many records share this very channel: equally many completions of every letter to every row.
    log_uniform : (letters, classes)
        log(N(a,k) / |X|): the log masses of the uniform prior; -inf where letter a has no such completion.
    rows : (classes, outputs)
        R(k,y), row-stochastic.
    max_knowledge : float
        log |X| - b in nats: H(p) >= b says that the relative entropy of p to the uniform prior is at most this.
    """

    record: int
    times: int
    log_uniform: Floats
    rows: Floats
    max_knowledge: float

    @property
    def letters(self) -> int:
        return int(self.log_uniform.shape[0])

    @property
    def uniform(self) -> Floats:
        """The uniform prior, as masses p(a,k)."""
        return np.exp(self.log_uniform)

    @cached_property
    def granted(self) -> float:
        """`max_knowledge` and what doubles err by in the logarithm of a sum of masses.

        A bound of slope beta is beta times such a sum, and is off by beta times that.
        """
        least = float(self.log_uniform[np.isfinite(self.log_uniform)].min())
        return self.max_knowledge + 2.0 * EPS * (2.0 - least)
