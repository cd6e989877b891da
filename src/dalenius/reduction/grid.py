"""A count rounded at random to a multiple of a step: a smaller question, any bound of which is one of the larger (docs/theory.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dalenius.information.arrays import Integers
from dalenius.model import WorstCaseLeakage
from dalenius.model.adversaries import EntropyAtLeast
from dalenius.model.mechanisms import Geometric
from dalenius.model.problems.large import WideCount
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.records import Records


@dataclass(frozen=True)
class _Steps(AdditiveQuery):
    """How many whole steps are in the count of some records and a number below the step, the letter of one more record."""

    kind: ClassVar[str] = "steps"
    contributions: tuple[int, ...]
    records: int
    step: int

    def of_records(self, records: Records) -> Query:
        """As it is: no model file has it."""
        return self

    def values(self, records: Records) -> Integers:
        return np.arange(-(-self.records // self.step) + 1)

    def varies_by_record(self) -> bool:
        return True

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return self.contributions if record < self.records else tuple(range(self.step))

    def index_of_sum(self, sums: Integers, records: Records) -> Integers:
        return np.asarray(sums // self.step)


@dataclass(frozen=True)
class Grid:
    """The multiples of a step around a count with two-sided geometric noise.

    Attributes
    ----------
    count : WideCount
    step : int
        w, from 1 to the number of records.

    >>> from fractions import Fraction
    >>> grid = Grid(WideCount(5000, 2, Fraction(1, 500), (0, 1)), 10)
    >>> grid.problem(3.5).channel.shape, round(grid.share, 7)
    ((501, 501), 0.99995)
    """

    count: WideCount
    step: int

    @property
    def share(self) -> float:
        """The weight of the rounded count's channel in the count's own: e^-(epsilon w)^2/8."""
        return math.exp(-((float(self.count.epsilon) * self.step) ** 2) / 8.0)

    @property
    def spread(self) -> float:
        """The variance that rounding adds, as a share of the uniform prior's."""
        n, part = self.count.records, self.count.counted / self.count.letters
        return (self.step**2 - 1) / 6.0 / (n * part * (1.0 - part))

    def problem(self, knowledge: float) -> WorstCaseLeakage:
        """The question about the rounded count, of which the adversary knows so many nats."""
        count = self.count
        records = Records(alphabets=[count.letters] * count.records + [self.step])
        return WorstCaseLeakage(
            records=records,
            query=_Steps(count.contributions, count.records, self.step),
            mechanism=Geometric(count.epsilon * self.step),
            adversary=EntropyAtLeast(max(records.log_datasets - knowledge, 0.0), units="nats"),
        )

    def lift(self, bound: float) -> float:
        """A bound for the rounded count, in nats, as one for the count."""
        return self.share * bound + (1.0 - self.share) * math.log(self.count.letters)

    def apply(self, bound: float) -> float:
        """The bound for the rounded count that is lifted to this one."""
        return (bound - (1.0 - self.share) * math.log(self.count.letters)) / self.share
