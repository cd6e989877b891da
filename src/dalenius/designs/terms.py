"""The terms of what a design minimises: its own leakage or distortion, and those of its objective."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius.designs.rational import at_most_one, short_above
from dalenius.exact import magnitude
from dalenius.model import Adversary, DesignProblem
from dalenius.model.distortions import ExpectedDistortion
from dalenius.model.objectives import DistortionTerm, LeakageTerm, Objective, WeightedMaximum
from dalenius.outcome import TermValue
from dalenius.units import Quantity

End = float | Fraction


@dataclass(frozen=True, eq=False)
class Terms:
    """w_0 T_0 + w_1 T_1 + ..., or the largest of them; without an objective T_0 alone, w_0 = 1.

    Attributes
    ----------
    objective : Objective or None
    distortions : dict of j -> ExpectedDistortion
    adversaries : dict of j -> Adversary
        To whom the others leak.
    """

    objective: Objective | None
    distortions: Mapping[int, ExpectedDistortion]
    adversaries: Mapping[int, Adversary]

    @classmethod
    def of(cls, problem: DesignProblem) -> Terms:
        """Of a design, with an objective or without."""
        objective = problem.objective
        distortions, adversaries = dict[int, ExpectedDistortion](), dict[int, Adversary]()
        if problem.distortion_budget is None:
            distortions[0] = problem.distortions
        elif problem.adversary is not None:
            adversaries[0] = problem.adversary
        for j, term in enumerate(() if objective is None else objective.terms, start=1):
            if isinstance(term, DistortionTerm):
                distortions[j] = problem.expected(term.distortion)
            elif isinstance(term, LeakageTerm):
                adversaries[j] = term.adversary
        return cls(objective, distortions, adversaries)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """w_j > 0."""
        return (Fraction(1),) if self.objective is None else self.objective.weights

    @property
    def largest(self) -> bool:
        """True if the largest counts, and not the sum."""
        return isinstance(self.objective, WeightedMaximum)

    @property
    def count(self) -> int:
        return len(self.weights)

    @cached_property
    def as_distortion(self) -> ExpectedDistortion | None:
        """A sum of distortions as one: sum_j w_j d_j; None where there is something else in it, or it is a maximum."""
        if self.adversaries or self.largest:
            return None
        parts = [(self.weights[j] / each.denominator, each.whole) for j, each in sorted(self.distortions.items())]
        common = math.lcm(*(share.denominator for share, _ in parts))
        whole = sum(int(share * common) * costs for share, costs in parts)
        return ExpectedDistortion(
            np.asarray(whole, dtype=object), common, self.distortions[0].weights, self.distortions[0].tied
        )

    @cached_property
    def scale(self) -> float:
        """A power of 2 of the size of the largest term: a search that divides all weights by it is one whatever their unit."""
        sizes = {j: Fraction(float(distortion.cost.max())) for j, distortion in self.distortions.items()}
        largest = max(w * (sizes.get(j) or 1) for j, w in enumerate(self.weights))
        return 2.0 ** magnitude(largest) if self.count > 1 else 1.0

    def weight(self, j: int) -> float:
        """w_j in doubles, as a share of the scale."""
        return float(self.weights[j] / Fraction(self.scale))

    def combined(self, values: Mapping[int, float]) -> float:
        """The sum, or the largest, in doubles, as a share of the scale."""
        weighted = [self.weight(j) * value for j, value in values.items()]
        return max(weighted) if self.largest else sum(weighted)

    def exactly(self, values: Sequence[Fraction]) -> Fraction:
        """The same exactly, of all terms in their order."""
        return values[0] if self.objective is None else self.objective.of(values)

    def ends(self, rows: Sequence[Sequence[Fraction]], leaks: Mapping[int, Fraction]) -> tuple[Fraction, ...]:
        """U_j of a mechanism whose terms that are leakages come to so much; of several terms as numbers that can be written."""
        exact = {j: distortion.of(rows) for j, distortion in self.distortions.items()}
        distorted = exact if self.objective is None else {j: short_above(end) for j, end in exact.items()}
        return tuple((distorted | dict(leaks))[j] for j in range(self.count))

    def values(self, ends: Mapping[int, tuple[End, End]], weights: Mapping[int, float]) -> tuple[TermValue, ...]:
        """Value of each term of an objective, and its weight in the bound."""
        distortion, leakage = ("distortion", Quantity.DISTORTION.units), ("leakage", "nats")
        found = []
        for j, weight in enumerate(self.weights):
            kind, units = distortion if j in self.distortions else leakage
            found.append(TermValue(j, kind, weight, *ends[j], weights[j], units))
        return tuple(found)

    def allowed(self, multipliers: Sequence[tuple[int, float]]) -> list[float]:
        """Multipliers (j, v) lowered by as little as makes their sums v_j keep v_j <= w_j, or sum v_j / w_j <= 1, as they are written.

        *Bound because* of just that: sum_j v_j T_j is then at most the sum, or the largest, of w_j T_j, no T_j being negative.
        """
        found, terms = [v for _, v in multipliers], [j for j, _ in multipliers]
        groups = (
            [[*range(len(terms))]] if self.largest else [[k for k, i in enumerate(terms) if i == j] for j in {*terms}]
        )
        for group in groups:
            lowered = at_most_one([(found[k], self.weights[terms[k]]) for k in group])
            for k, v in zip(group, lowered, strict=True):
                found[k] = v
        return found
