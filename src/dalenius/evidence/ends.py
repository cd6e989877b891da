"""The two ends of an interval as a search found them, each with what proves it: what a proposer proposes and the prover claims."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dalenius.evidence.curve import CurveStep, Pair
from dalenius.evidence.lines import LowerLine, Matrix, UpperLine, Vector
from dalenius.evidence.numbers import double_above, double_below, round_down, round_up

__all__ = ["CERTAIN", "MARGINS", "QUICK", "Lower", "Upper", "step"]

# outward roundings of what was computed in doubles, tried one after the other
MARGINS = (1e-13, 3e-12, 1e-10, 3e-9, 1e-7)
ROUNDING = 1e-10  # a larger margin is not rounding any more: something is wrong with the evidence


QUICK, CERTAIN = 2, 3  # candidates: the best end whose proof is short; one that needs no search


def step(margin: float, roundoff: float = 0.0) -> int:
    """The number of the candidate that an end is with this relative margin: 0 as long as rounding explains it, then 1.

    Parameters
    ----------
    roundoff : float
        What doubles may be wrong by where the end is a difference of larger numbers.

    >>> step(1e-12), step(3e-6), step(3e-6, roundoff=1e-5)
    (0, 1, 0)
    """
    return int(margin > max(ROUNDING, roundoff))


@dataclass(frozen=True, kw_only=True)
class _End:
    """One end as found.

    Attributes
    ----------
    value : float, Fraction or None
        Before rounding; a fraction is exact. None: nothing is feasible.
    margin : float
        What a double is moved outward by, in units, before it is rounded.
    unit : float
        A power of 2 of the size of the largest value there may be, which values are rounded in.
    exact : bool
        A fraction is claimed as it is, and not as a double beside it.
    candidate : int
        Ends of one candidate differ by rounding only; one of a higher number is a retreat.
    doubtful : bool
        The search itself could not tell whether this end will be proved.
    """

    value: float | Fraction | None
    margin: float = 0.0
    unit: float = 1.0
    exact: bool = False
    candidate: int = 0
    doubtful: bool = False


@dataclass(frozen=True, kw_only=True)
class Lower(_End):
    """A lower end, at least 0, with the lines that prove it, and witnesses for other entropy bounds."""

    lines: tuple[LowerLine, ...]
    below: tuple[CurveStep, ...] = ()

    @property
    def rounded(self) -> float | None:
        """The value as a double, rounded downward."""
        if self.value is None:
            return None
        if isinstance(self.value, Fraction):
            return double_below(self.value, self.unit)
        return max(round_down(self.value / self.unit - self.margin), 0.0) * self.unit

    @property
    def claim(self) -> float | Fraction | None:
        """What is claimed."""
        return self.value if self.exact else self.rounded


@dataclass(frozen=True, kw_only=True)
class Upper(_End):
    """An upper end, at least 0, with the lines that prove it and, of a design, the mechanism that attains it.

    What the same lines prove at other entropy bounds are the lines `above`, as (c, m); the witnesses `below` of a lower end are
    claimed beside some only. `terms` are the ends of the terms of a design's objective, as a certificate has them.
    """

    lines: tuple[UpperLine, ...]
    above: tuple[Pair, ...] = ()
    mechanism: Matrix | None = None
    terms: Vector | None = None

    @property
    def rounded(self) -> float | None:
        """The value as a double, rounded upward."""
        if self.value is None:
            return None
        if isinstance(self.value, Fraction):
            return double_above(self.value, self.unit)
        return max(round_up(self.value / self.unit + self.margin), 0.0) * self.unit

    @property
    def claim(self) -> float | Fraction | None:
        """What is claimed."""
        return self.value if self.exact else self.rounded
