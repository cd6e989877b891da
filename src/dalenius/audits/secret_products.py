"""What a secret is told of under laws of independent records, from below: an ascent, one record's law after another.

I(g; Y | w) is neither concave nor convex in a record's law, the others' fixed, so that a better law may be missed: what is found is
attained, and nothing else is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dalenius.evidence import vector_text
from dalenius.evidence.lower import ProductLaw
from dalenius.information.arrays import Floats
from dalenius.model import Records
from dalenius.reduction import SecretCells
from dalenius.search import Clock

__all__ = ["SecretProducts"]

STARTS = 4  # random ones of either kind
ROUNDS, STALLED = 40, 1e-7  # of all records, and the least relative gain of one
LONGEST, SHORTEST = 2.0**20, 2.0**-20  # steps
NOTHING = 1e-15  # a probability that is left out


@dataclass
class SecretProducts:
    """One secret against all laws of independent records; `lower` is in nats.

    Attributes
    ----------
    cells : SecretCells
    rows : (inputs, outputs)
    records : Records
    factors : list of (letters,) or None
        The records' laws of the best law found.
    """

    cells: SecretCells
    rows: Floats
    records: Records
    lower: float = 0.0
    factors: list[Floats] | None = field(default=None, repr=False)

    def run(self, clock: Clock, rng: np.random.Generator) -> None:
        """Climb from uniform laws, and from random ones, also near to the faces."""
        for start in self._starts(rng):
            if clock.expired:
                break
            self.climb(start, clock)

    def _starts(self, rng: np.random.Generator) -> Iterator[list[Floats]]:
        sizes = self.records.alphabets
        yield [np.full(size, 1.0 / size) for size in sizes]
        for spread in (1.0, 0.1):
            for _ in range(STARTS):
                yield [rng.dirichlet(np.full(size, spread)) for size in sizes]

    def near(self, law: Floats) -> list[Floats]:
        """The records' own laws under a law on the datasets: that law itself, if its records are independent."""
        table = law.reshape(self.records.alphabets)
        return [table.sum(axis=tuple(k for k in range(table.ndim) if k != j)) for j in range(table.ndim)]

    def climb(self, start: list[Floats], clock: Clock) -> None:
        """Up from these laws of the records, then to a single letter of each record for which that is better, and up again."""
        factors, told = self._ascend([_cleaned(q) for q in start], clock)
        factors, told = self._ascend(self._corners(factors, told, clock), clock)
        if told > self.lower:
            self.lower, self.factors = told, factors

    def _ascend(self, factors: list[Floats], clock: Clock) -> tuple[list[Floats], float]:
        """Each record's law in turn times e^(step x its slope), the step halved until more is told."""
        told, steps = self._told(factors), [1.0] * len(factors)
        for _ in range(ROUNDS):
            before = told
            for j in range(len(factors)):
                if clock.expired or np.count_nonzero(factors[j]) == 1:
                    continue
                slope, step, better = self._slope(factors, j), min(8.0 * steps[j], LONGEST), told
                while step >= SHORTEST and better <= told:
                    step /= 2.0
                    moved = _tilted(factors[j], step * slope)
                    better = self._told([*factors[:j], moved, *factors[j + 1 :]])
                steps[j] = step
                if better > told:
                    factors, told = [*factors[:j], moved, *factors[j + 1 :]], better
            if clock.expired or told <= before * (1.0 + STALLED):
                break
        return factors, told

    def _corners(self, factors: list[Floats], told: float, clock: Clock) -> list[Floats]:
        """With a record's law on one letter, wherever no less is told."""
        for j, size in enumerate(self.records.alphabets):
            for letter in np.eye(size):
                moved = [*factors[:j], letter, *factors[j + 1 :]]
                if not clock.expired and (better := self._told(moved)) >= told:
                    factors, told = moved, better
        return factors

    @property
    def law(self) -> Floats:
        """The best law found, of the datasets."""
        assert self.factors is not None
        return _product(self.factors)

    @property
    def prior(self) -> ProductLaw:
        """How a certificate writes it."""
        assert self.factors is not None
        return ("product", tuple(vector_text(q) for q in self.factors))

    def _told(self, factors: list[Floats]) -> float:
        return self.cells.information(_product(factors), self.rows)

    def _slope(self, factors: list[Floats], record: int) -> Floats:
        """The derivative of what is told by each probability of this record's law."""
        sizes = self.records.alphabets
        others = _product(
            [np.ones(size) if j == record else q for j, (q, size) in enumerate(zip(factors, sizes, strict=True))]
        )
        terms = (others * self.cells.slope(_product(factors), self.rows)).reshape(sizes)
        return np.asarray(terms.sum(axis=tuple(k for k in range(terms.ndim) if k != record)))


def _product(factors: list[Floats]) -> Floats:
    """P(x) = product of q_j(x_j), in lexicographic order of the datasets."""
    law = np.ones(1)
    for q in factors:
        law = np.multiply.outer(law, q).reshape(-1)
    return law


def _tilted(law: Floats, exponents: Floats) -> Floats:
    """The law times e^exponents."""
    known = law > 0.0
    weights = np.where(known, law * np.exp(np.where(known, exponents - exponents[known].max(), 0.0)), 0.0)
    return _cleaned(weights)


def _cleaned(weights: Floats) -> Floats:
    """A law without probabilities that are rounding errors."""
    law = weights / weights.sum()
    law = np.where(law > NOTHING, law, 0.0)
    return np.asarray(law / law.sum())
