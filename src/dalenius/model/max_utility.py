"""The largest expected utility as a least distortion: what every output falls short of the best there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, as_list
from dalenius.model.distortions import Distortion, DistortionMatrix
from dalenius.model.min_distortion import MinDistortion

__all__ = ["MaxUtility"]


class HasEnds(Protocol):
    """An answer with two ends."""

    @property
    def lower(self) -> float: ...

    @property
    def upper(self) -> float: ...


@dataclass(frozen=True, kw_only=True)
class MaxUtility(MinDistortion):
    """max over the mechanisms Q of a class of sum_x p(x) sum_y Q(x,y) U(x,y), under a budget of leakage, privacy, or constraints.

    It *is* the `MinDistortion` with d = top - U, top the largest entry of U, so that everything works with it that works with that:
    its model file, certificates and answers speak of the distortion, and `utilities` translates an answer back.

    Parameters
    ----------
    utility : matrix of numbers
        U, a row for each of the query's values and a column for each output, of any sign; exact.
    records, query, law, adversary, max_leakage, privacy, mechanism, constraints, objective, title, source
        As of `MinDistortion`.

    Raises
    ------
    InputError
        If the utility is no matrix of numbers, or as `MinDistortion`.

    Two letters, and a gain for each that is told:

    >>> import dalenius as dl
    >>> problem = dl.MaxUtility(records=dl.Records(1, alphabet=2), query=dl.Identity(), utility=[[1, 0], [0, 3]],
    ...     privacy=dl.LocalDP("log 3"))
    >>> answer = dl.solve(problem)
    >>> low, high = problem.utilities(answer)
    >>> low == problem.utility_of(answer.mechanism.rows) == Fraction(3, 2), high >= low
    (True, True)
    """

    utility: Sequence[Sequence[Number]]
    distortion: Distortion = field(init=False)

    def __post_init__(self) -> None:
        rows = [
            tuple(as_fraction(u, f"utility[{v}][{y}]") for y, u in enumerate(as_list(row, f"utility[{v}]")))
            for v, row in enumerate(as_list(self.utility, "utility"))
        ]
        if not rows or not rows[0] or len({len(row) for row in rows}) != 1:
            raise InputError(
                "utility: expected a row for each of the query's values, with a number for each output, all as long"
            )
        object.__setattr__(self, "utility", tuple(rows))
        object.__setattr__(self, "distortion", DistortionMatrix([[self.top - u for u in row] for row in rows]))
        try:
            super().__post_init__()
        except InputError as error:  # what is said of the rows of the distortion is true of those that were given
            text = str(error)
            raise InputError(text.replace("distortion: rows", "utility: rows", 1)) from None

    @property
    def top(self) -> Fraction:
        """The largest entry of the utility."""
        return max(as_fraction(u, "utility") for row in self.utility for u in row)

    def utility_of(self, rows: Sequence[Sequence[Number]]) -> Fraction:
        """The expected utility of a mechanism, exactly; errors as of `expected_distortion`."""
        return self.top - self.expected_distortion(rows)

    def utilities(self, answer: HasEnds) -> tuple[Fraction, Fraction]:
        """The interval of the largest expected utility, from the answer about the least distortion: exact, of the ends as they are.

        The lower end is attained by the answer's mechanism.
        """
        return self.top - Fraction(answer.upper), self.top - Fraction(answer.lower)
