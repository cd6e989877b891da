"""The whole region of a funnel or a bottleneck between proved ends: few solves, for every limit at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dalenius._solve import solve
from dalenius.errors import InputError, brief
from dalenius.evidence import exact_fraction_above
from dalenius.evidence.upper import EnvelopeLine
from dalenius.exact import as_integer
from dalenius.intervals import text_above, text_below
from dalenius.model import MaxInformation
from dalenius.notebook import in_brief
from dalenius.results import DesignResult
from dalenius.search import Progress

LEAST = 1000.0  # of the largest limit is solved for, too: below it the band is as wide as it comes
Solved = tuple[float, DesignResult]  # a limit, and the answer there


@dataclass(frozen=True)
class FunnelCurve:
    """The most information for every limit, between what proved mechanisms attain and what proved planes allow.

    Limits are in the limit's own unit, nats where it is an amount of information; information is in nats.

    Attributes
    ----------
    points : tuple of (limit, DesignResult)
        What was solved, ascending.

    Notes
    -----
    The optimum is concave in the limit: two mechanisms, one of them drawn by a coin that is released, too, tell the mean of what both
    tell. And a plane with price mu and prices lambda proves sum(lambda) + mu c for every limit c (docs/theory.md).
    """

    __repr__ = in_brief

    points: tuple[Solved, ...]

    @classmethod
    def of(
        cls,
        problem: MaxInformation,
        *,
        gap: float = 1e-2,
        points: int = 24,
        time_limit: float | None = 60.0,
        progress: Callable[[Progress], None] | None = None,
    ) -> FunnelCurve:
        """Solve a funnel or a bottleneck at limits that are chosen where the band is widest, up to the problem's own limit.

        Parameters
        ----------
        problem : MaxInformation
            Within a limit, the largest that is of interest.
        gap : float
            The band's largest width at which to stop, relative to the value at the problem's own limit.
        points : int
            How many are solved at most.
        time_limit, progress
            As in `solve`, for each point.

        Raises
        ------
        InputError
            If the problem has privacy in the place of a limit, or an argument is invalid.
        """
        if not isinstance(problem, MaxInformation) or problem.privacy is not None:
            raise InputError(f"problem: expected one within a limit (dl.PrivacyFunnel, ...), got {brief(problem)}")
        most, last, solved = as_integer(points, "points", at_least=2), problem.limit.limit_in_doubles, list[Solved]()

        def with_one_at(limit: float) -> FunnelCurve:
            result = solve(problem.within(limit), gap=gap / 4.0, time_limit=time_limit, progress=progress)
            solved.append((limit, result))
            return cls(tuple(sorted(solved, key=lambda point: point[0])))

        _ = with_one_at(last)
        curve = with_one_at(last / LEAST)
        while len(solved) < most:
            middles = [(a + b) / 2.0 for (a, _), (b, _) in itertools.pairwise(curve.points)]
            width, at = max((high - low, c) for c in middles for low, high in [curve.at(c)])
            if width <= gap * curve.at(last)[1]:
                break
            curve = with_one_at(at)
        return curve

    def at(self, limit: float) -> tuple[float, float]:
        """The proved interval at a limit of at least 0: on the hull of what is attained, below the least of all lines.

        >>> import dalenius as dl
        >>> curve = dl.answers.FunnelCurve.of(dl.PrivacyFunnel([["1/4", "1/4", 0], [0, "1/8", "3/8"]], 1), gap=0.01)
        >>> low, high = curve.at(0.01)
        >>> low < 0.53187 < high, high - low < 0.01
        (True, True)
        """
        c = Fraction(limit)
        if not c >= 0:
            raise InputError(f"limit: expected at least 0, got {brief(limit)}")
        attained = [(Fraction(0), Fraction(0)), *((Fraction(at), Fraction(each.lower)) for at, each in self.points)]
        low = max((value for at, value in attained if at <= c), default=Fraction(0))
        for a, at_a in attained:
            for b, at_b in attained:
                if a < c < b:
                    low = max(low, at_a + (at_b - at_a) * (c - a) / (b - a))
        high = min([*(line(c) for line in self._lines), *(Fraction(e.upper) for at, e in self.points if at >= c)])
        return -exact_fraction_above(-low), exact_fraction_above(high)

    @cached_property
    def _lines(self) -> list[Callable[[Fraction], Fraction]]:
        found = list[Callable[[Fraction], Fraction]]()
        for _, each in self.points:
            for line in each.certificate.upper_lines():
                if isinstance(line, EnvelopeLine):
                    mu, whole = Fraction(line.price), sum(map(Fraction, line.prices), Fraction(0))
                    found.append(lambda c, mu=mu, whole=whole: whole + mu * c)  # type: ignore[misc]
        return found

    def table(self, limits: list[float], digits: int = 6) -> str:
        """The band at some limits, as CSV: limit, lower, upper."""
        rows = ["limit,lower,upper"]
        for limit in limits:
            low, high = self.at(limit)
            rows.append(f"{limit:g},{text_below(low, digits)},{text_above(high, digits)}")
        return "\n".join(rows) + "\n"
