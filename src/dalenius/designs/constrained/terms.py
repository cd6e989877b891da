"""The terms of what a design minimises: its own leakage or distortion, and those of its objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dalenius.designs.claims import need_workable
from dalenius.designs.rational import at_most_one
from dalenius.errors import DaleniusError
from dalenius.model import Adversary, DesignProblem, MinDistortion
from dalenius.model.expected_distortion import ExpectedDistortion
from dalenius.model.objectives import DistortionTerm, LeakageTerm, WeightedMaximum

__all__ = ["Terms"]

SMALLEST, NEGLIGIBLE = Fraction(1, 10**100), Fraction(1, 10**15)  # weights, absolutely and beside one another


@dataclass(frozen=True, eq=False)
class Terms:
    """w_0 T_0 + w_1 T_1 + ..., or the largest of them; without an objective T_0 alone, w_0 = 1.

    Attributes
    ----------
    weights : tuple of Fraction
        w_j > 0.
    largest : bool
        Whether the largest counts, and not the sum.
    distortions : dict of j -> ExpectedDistortion
    adversaries : dict of j -> Adversary
        To whom the others leak.
    """

    weights: tuple[Fraction, ...]
    largest: bool
    distortions: Mapping[int, ExpectedDistortion]
    adversaries: Mapping[int, Adversary]

    @classmethod
    def of(cls, problem: DesignProblem) -> Terms:
        """Of a design, with an objective or without."""
        objective = problem.objective
        distortions, adversaries = dict[int, ExpectedDistortion](), dict[int, Adversary]()
        if isinstance(problem, MinDistortion):
            distortions[0] = problem.distortions
        elif problem.adversary is not None:
            adversaries[0] = problem.adversary
        for j, term in enumerate(() if objective is None else objective.terms, start=1):
            if isinstance(term, DistortionTerm):
                distortions[j] = problem.expected(term.distortion)
            elif isinstance(term, LeakageTerm):
                adversaries[j] = term.adversary
        weights = (Fraction(1),) if objective is None else objective.weights
        return cls(weights, isinstance(objective, WeightedMaximum), distortions, adversaries)

    @property
    def count(self) -> int:
        return len(self.weights)

    def need_workable(self) -> None:
        """`DaleniusError` if weights, or distortions, are beyond what doubles can work with."""
        for distortion in self.distortions.values():
            need_workable(distortion)
        least, largest = min(self.weights), max(self.weights)
        if not SMALLEST < largest < 1 / SMALLEST or least < NEGLIGIBLE * largest:
            raise DaleniusError(
                "nothing can be computed about this design: the weights of its objective should be between 1e-100 and 1e100, and none "
                "less than 1e-15 of another; leave out what weighs so little, or measure in another unit"
            )

    @property
    def scale(self) -> float:
        """A power of 2 of the size of the largest weight: a search that divides all of them by it is one whatever their unit."""
        largest = max(self.weights)
        return 2.0 ** (largest.numerator.bit_length() - largest.denominator.bit_length()) if self.count > 1 else 1.0

    def weight(self, j: int) -> float:
        """w_j in doubles, as a share of the scale."""
        return float(self.weights[j] / Fraction(self.scale))

    def combined(self, values: Mapping[int, float]) -> float:
        """The sum, or the largest, in doubles, as a share of the scale."""
        weighted = [self.weight(j) * value for j, value in values.items()]
        return max(weighted) if self.largest else sum(weighted)

    def exactly(self, values: Sequence[Fraction]) -> Fraction:
        """The same exactly, of all terms in their order."""
        weighted = [w * value for w, value in zip(self.weights, values, strict=True)]
        return max(weighted) if self.largest else sum(weighted, Fraction(0))

    def allowed(self, multipliers: Sequence[tuple[int, float]]) -> list[float]:
        """Multipliers (j, v) lowered by as little as makes their sums v_j keep v_j <= w_j, or sum v_j / w_j <= 1, as they are written.

        *Bound because* of just that: sum_j v_j T_j is then at most the sum, or the largest, of w_j T_j, no T_j being negative.
        """
        shares = [(v, self.weights[j]) for j, v in multipliers]
        if self.largest:
            return at_most_one(shares)
        found = dict[int, list[float]]()
        for j in {j for j, _ in multipliers}:
            found[j] = at_most_one([share for (k, _), share in zip(multipliers, shares, strict=True) if k == j])[::-1]
        return [found[j].pop() for j, _ in multipliers]
