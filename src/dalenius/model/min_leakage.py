"""Problem 2: the least leakage within a budget of distortion."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.exact import Number, as_fraction
from dalenius.model.adversaries import Adversary
from dalenius.model.design_problem import DesignProblem

__all__ = ["MinLeakage"]


@dataclass(frozen=True, kw_only=True)
class MinLeakage(DesignProblem):
    """min over the mechanisms Q of a class with E(Q) <= max_distortion of L(Q), the worst-case leakage of one record, in nats.

    Parameters
    ----------
    records, query, distortion, law, adversary, mechanism, constraints, objective, title, source
        As `DesignProblem` says.
    max_distortion : number
        The budget, in units of the distortion; exact: 0.1 is 1/10. One that no mechanism meets makes the problem infeasible.

    Raises
    ------
    InputError
        If the parts do not fit together, or the budget is no number.

    >>> import dalenius as dl
    >>> problem = dl.MinLeakage(
    ...     records=dl.Records(4, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.1,
    ...     law=dl.Iid([0.3, 0.7]), adversary=dl.EntropyAtLeast(2.2))
    >>> problem.exact_input_law(), problem.feasible, problem.constant_distortion
    ([Fraction(641, 1250), Fraction(609, 1250)], True, Fraction(609, 1250))
    >>> rows = [[0.9, 0.1], [0.1, 0.9]]
    >>> problem.expected_distortion(rows), problem.release(rows).channel.tolist()
    (Fraction(1, 10), [[0.9, 0.1], [0.1, 0.9]])
    """

    kind: ClassVar[str] = "min_leakage"
    budget_key: ClassVar[str] = "max_distortion"
    adversary: Adversary
    max_distortion: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_distortion", as_fraction(self.max_distortion, "max_distortion"))
        super().__post_init__()

    @property
    def budget(self) -> Fraction:
        """The largest expected distortion allowed."""
        assert isinstance(self.max_distortion, Fraction)
        return self.max_distortion

    @property
    def feasible(self) -> bool:
        """Whether some mechanism of the class distorts no more than the budget; decided exactly."""
        return self.least_distortion <= self.budget
