"""The bound of a constrained design as the lines of a certificate, on the problem's own inputs, and what these lines prove."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dalenius.designs.constrained.bound import ConstrainedBound
from dalenius.designs.constrained.region import Region
from dalenius.designs.constrained.rows import BUDGET, PRIVACY
from dalenius.designs.exchange.bound import WeightedPrior, on_inputs
from dalenius.evidence import matrix_text, short_text
from dalenius.evidence.lines import (
    AlsoLine,
    ConeLine,
    DualLine,
    InputLaw,
    LowerLine,
    Matrix,
    MultiplierLine,
    PriorLine,
    RatioLine,
)
from dalenius.exact import fraction_text
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion, MinLeakage
from dalenius.model.constraints import LeakageLimit, Rows, SecondOrderCone

__all__ = ["OwnBound", "inside_cone"]

DIGITS = 16


class OwnBound:
    """A bound's multipliers on the problem's own inputs, rows and cones: those of what is alike on orbits are shared out evenly.

    Attributes
    ----------
    priors : list of (number of the limit, or None; weighted prior)
    prices : dict of constraint -> dict of row -> multiplier
        Also of the budget and of the privacy notion, by their numbers.
    cones : dict of constraint -> (t, u...)
    """

    def __init__(self, bound: ConstrainedBound, region: Region, *, infeasible: bool = False) -> None:
        self.problem, self.numbered, self.infeasible = region.problem, region.numbered, infeasible
        self.priors: list[tuple[int | None, WeightedPrior]] = [
            (number, own) for number, part in bound.priors for own in on_inputs(part, region.orbits)
        ]
        self.prices: dict[int, dict[int, float]] = {}
        for row, price in zip(
            region.rows, [] if bound.prices is None else bound.prices.tolist(), strict=bound.prices is not None
        ):
            for j, r in row.members if price else ():
                self.prices.setdefault(j, {})[r] = price / len(row.members)
        self.cones = {
            cone.number: inside_cone(both)
            for cone, both in zip(region.cones, bound.cones, strict=bool(bound.cones))
            if any(both)
        }

    # ------------------------------------------------------------ as lines

    def lines(self) -> tuple[LowerLine, ...]:
        """In the order of docs/certificate-format.md."""
        budget = self.prices.get(BUDGET, {}).get(0, 0.0)
        return (
            DualLine(short_text(budget)),
            *(PriorLine(*_written(part)) for number, part in self.priors if number is None),
            *self._ratios(),
            *(
                MultiplierLine(j, tuple((r, short_text(price)) for r, price in sorted(rows.items())))
                for j, rows in sorted(self.prices.items())
                if j >= 0
            ),
            *(
                ConeLine(j, fraction_text(both[0]), tuple(map(fraction_text, both[1:])))
                for j, both in sorted(self.cones.items())
            ),
            *(AlsoLine(number, *_written(part)) for number, part in self.priors if number is not None),
        )

    def _ratios(self) -> Iterator[RatioLine]:
        """Multipliers of the privacy notion, by output and by what entries are compared with: an input, or a listed law."""
        priced, problem = self.prices.get(PRIVACY, {}), self.problem
        if not priced:
            return
        assert isinstance(problem, MinDistortion)
        found: dict[tuple[int, int], dict[int, float]] = {}
        for r, (y, x, reference) in enumerate(_comparisons(problem, self.numbered[PRIVACY])):
            if r in priced:
                found.setdefault((y, reference), {})[x] = priced[r]
        listed = problem.references[0].law is not None
        for (y, reference), prices in sorted(found.items()):
            above = tuple(short_text(prices.get(x, 0.0)) for x in range(problem.input_count))
            point = tuple("1" if x == reference else "0" for x in range(problem.input_count))
            yield RatioLine(y, reference if listed else point, above)

    # ------------------------------------------------------------ what they prove

    def value(self) -> tuple[float, float]:
        """The bound of docs/certificate-format.md in doubles, and the size of all that is summed."""
        problem = self.problem
        cost = problem.input_law[:, None] * problem.cost
        matrix = cost.copy() if isinstance(problem, MinDistortion) and not self.infeasible else np.zeros(cost.shape)
        size, spent = abs(matrix), 0.0
        limits = {j: c.nats for j, c in enumerate(problem.own_constraints) if isinstance(c, LeakageLimit)}
        if isinstance(problem, MinDistortion) and problem.adversary is not None:
            limits[-1] = problem.max_leakage_nats
        own = sum(part.weight for number, part in self.priors if number is None)
        for number, part in self.priors:
            share = own if isinstance(problem, MinLeakage) and number is None else 1.0
            scores = part.scores() / share
            matrix, size = matrix + scores, size + abs(scores)
            spent += part.weight * limits.get(-1 if number is None else number, 0.0)
        added, more, terms = self._priced(cost.shape)
        matrix, size, spent = matrix + added, size + more, spent + terms
        least = problem.tied.sums(matrix).min(axis=1)
        return float(np.sum(least)) - spent, float(np.sum(problem.tied.sums(size).max(axis=1)) + abs(spent))

    def _priced(self, shape: tuple[int, ...]) -> tuple[Floats, Floats, float]:
        """What rows and cones add to the matrix, its size, and what they subtract."""
        problem, matrix, size, spent = self.problem, np.zeros(shape), np.zeros(shape), 0.0
        for j, prices in self.prices.items():
            rows = self.numbered[j]
            for r, price in prices.items():
                spent += price * float(rows.ends[r])
                for (x, y), c in rows.above[r].items():
                    matrix[x, y] += price * float(c)
                    size[x, y] += abs(price * float(c))
        for j, both in self.cones.items():
            cone = problem.own_constraints[j]
            assert isinstance(cone, SecondOrderCone)
            for multiplier, part in zip(both, (cone.bound, *cone.norm), strict=True):
                spent += float(multiplier * part.offset)
                for (x, y), c in part.summed.items():
                    matrix[x, y] -= float(multiplier * c)
                    size[x, y] += abs(float(multiplier * c))
        return matrix, size, spent


def _written(part: WeightedPrior) -> tuple[str, int, InputLaw, Matrix]:
    """The fields of a prior's line."""
    prior = part.prior
    masses = matrix_text(prior.masses) if prior.hint is None else prior.hint
    return short_text(part.weight), prior.record, masses, matrix_text(part.posteriors)


def _comparisons(problem: MinDistortion, rows: Rows) -> list[tuple[int, int, int]]:
    """Of every row of the privacy notion the output, the input, and with what it is compared: an input, or a listed law's number."""
    if problem.references[0].law is None:
        return [(y, x, rows.scaled[r][0][0]) for r, ((x, y, _),) in enumerate(rows.terms)]
    laws = [
        k
        for k, reference in enumerate(problem.references)
        for _ in reference.inputs
        for _ in range(problem.output_count)
    ]
    return [(y, x, k) for ((x, y, _),), k in zip(rows.terms, laws, strict=True)]


def inside_cone(both: Floats) -> tuple[Fraction, ...]:
    """(t, u) in rationals with |u| <= t exactly: the squares decide."""
    t, *u = (Fraction(round(float(x) * 10**DIGITS), 10**DIGITS) for x in both)
    t = max(t, Fraction(0))
    squared = sum((x * x for x in u), Fraction(0))
    while squared > t * t:
        t += max(t / 10**12, Fraction(1, 10**DIGITS))
    return (t, *u)
