"""The whole region of a funnel or a bottleneck between proved ends: few solves, for every limit at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius._prove import prove
from dalenius._solve import solve
from dalenius.designs import FunnelProposer
from dalenius.errors import InputError, brief
from dalenius.evidence import exact_fraction_above
from dalenius.evidence.upper import EnvelopeLine
from dalenius.exact import Number, as_fraction, as_integer, as_list, as_quantity
from dalenius.intervals import text_above, text_below
from dalenius.model import MaxInformation
from dalenius.notebook import in_brief
from dalenius.results import DesignResult
from dalenius.search import Clock, Limits, Progress, Run, stopped_by_interrupt
from dalenius.units import LARGEST_IN_DOUBLES, UNITS, nats_above, upper_in

LEAST = 1000.0  # of the largest limit is solved for, too: below it the band is as wide as it comes
NEAR = 0.1  # share of the way between two limits that a third one keeps from them
FEW_RAYS = 5000  # of a limit of 0, which is then solved for, too
Solved = tuple[float, DesignResult]  # a limit, and the answer there


@dataclass(frozen=True)
class FunnelCurve:
    """The most information for every limit, between what proved mechanisms attain and what proved planes allow.

    Limits are in the limit's own unit, nats where it is an amount of information; information is in nats.

    Attributes
    ----------
    points : tuple of (limit, DesignResult)
        Limits and mechanisms, ascending. The planes of all of them are proved by one certificate, that of the largest limit which has
        a price; of the others the upper end may be no more than what the input itself reveals.
    units : str
        Of the limits: ``"nats"``, or none.

    Notes
    -----
    The optimum is concave in the limit: two mechanisms, one of them drawn by a coin that is released, too, tell the mean of what both
    tell. And a plane with price mu and prices lambda proves sum(lambda) + mu c for every limit c (docs/theory.md).
    """

    __repr__ = in_brief

    points: tuple[Solved, ...]
    units: str = "nats"

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
        """Solve a funnel or a bottleneck at limits that are chosen where the band is widest.

        The problem's own limit is the curve's right end.

        Parameters
        ----------
        problem : MaxInformation
            Within a limit above 0, the largest that is of interest.
        gap : float
            The band's largest width at which to stop, relative to the value at the problem's own limit.
        points : int
            How many limits are looked at, at most.
        time_limit, progress
            As in `solve`, for each search and for each proof.

        Raises
        ------
        InputError
            If the problem has privacy in the place of a limit, or a limit of 0, or an argument is invalid.
        """
        if not isinstance(problem, MaxInformation) or problem.privacy is not None:
            raise InputError(f"problem: expected one within a limit (dl.PrivacyFunnel, ...), got {brief(problem)}")
        most, last = as_integer(points, "points", at_least=2), problem.limit.limit_in_doubles
        if not last:
            raise InputError(
                "problem: its limit is the curve's right end: give more than 0, or dl.solve(problem) for the one point at 0"
            )
        search, sought = _Search(gap, time_limit, progress), dict[float, FunnelProposer]()
        found: FunnelProposer | None = None
        solved = list[Solved]()
        at: float | None = last
        if 0 < (problem.within(0.0).rays or 0) <= FEW_RAYS:
            solved.append((0.0, solve(problem.within(0.0), time_limit=time_limit, progress=progress)))
        while at is not None and len(sought) < most:
            with search.run(problem) as run:
                sought[at] = found = FunnelProposer(problem.within(at), run, found)
                found.run()
            at = None if run.clock.interrupted else _widest(sought, gap) if len(sought) > 1 else last / LEAST
        every = sorted([*solved, *search.proved(sought)], key=lambda point: point[0])
        return cls(tuple(every), "nats" if problem.limit.limit[1] else "")

    def at(self, limit: Number) -> tuple[float, float]:
        """The proved interval at a limit of at least 0: on the hull of what is attained, below the least of all lines.

        Beyond the right end, too: what is attained there is attained, and the lines go on, so that the interval becomes wide.

        Parameters
        ----------
        limit : number or str
            In nats, or ``"0.1 bits"``, where the limit is an amount of information. A double is exactly the number that it is.

        Raises
        ------
        InputError
            If it cannot be read, or is below 0.

        >>> import dalenius as dl
        >>> curve = dl.answers.FunnelCurve.of(dl.PrivacyFunnel([["1/4", "1/4", 0], [0, "1/8", "3/8"]], 1), gap=0.01)
        >>> low, high = curve.at(0.01)
        >>> low < 0.53187 < high, high - low < 0.01
        (True, True)
        """
        c, above = self._read(limit)
        attained = [(Fraction(0), Fraction(0)), *((Fraction(at), Fraction(each.lower)) for at, each in self.points)]
        low = max((value for at, value in attained if at <= c), default=Fraction(0))
        for a, at_a in attained:
            for b, at_b in attained:
                if a < c < b:
                    low = max(low, at_a + (at_b - at_a) * (c - a) / (b - a))
        uppers = [Fraction(each.upper) for at, each in self.points if at >= above]
        high = min([*(line(above) for line in self._lines), *uppers])
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

    def _read(self, limit: Number) -> tuple[Fraction, Fraction]:
        """Fractions around a limit in the curve's units: bits are no fraction of nats."""
        exact, units = as_quantity(limit, "limit", known=UNITS) if self.units else (as_fraction(limit, "limit"), "nats")
        exact = Fraction(limit) if isinstance(limit, float) else exact
        if not 0 <= exact <= LARGEST_IN_DOUBLES:
            raise InputError(f"limit: expected at least 0 and at most 1e300, got {brief(limit)}")
        return exact / Fraction(upper_in(1.0, units)), exact * Fraction(nats_above(1.0, units))

    def table(self, limits: int | Sequence[Number] = 30, digits: int = 6) -> str:
        """The band at some limits, or at so many from 0 to the right end in even steps, as CSV: limit, lower, upper.

        A limit is written in the curve's units, to the last digit of a double, and its row is about the double.

        Raises
        ------
        InputError
            If there is a limit that `at` refuses, or fewer than two steps.
        """
        if isinstance(limits, int | np.integer):
            steps = as_integer(limits, "limits", at_least=2)
            limits = np.linspace(0.0, self.points[-1][0], steps).tolist()
        rows = ["limit,lower,upper"]
        for limit in as_list(limits, "limits"):
            c = float(sum(self._read(limit)) / 2)
            low, high = self.at(c)
            rows.append(f"{c!r},{text_below(low, digits)},{text_above(high, digits)}")
        return "\n".join(rows) + "\n"


@dataclass(frozen=True)
class _Search:
    """The limits of each search and of each proof."""

    gap: float
    time_limit: float | None
    progress: Callable[[Progress], None] | None

    @contextmanager
    def run(self, problem: MaxInformation) -> Iterator[Run]:
        """One of them, which hears of an interrupt."""
        limits = Limits(gap=self.gap / 2.0, time_limit=self.time_limit)
        clock = Clock(limits.seconds, self.progress, units=problem.quantity.units)
        with stopped_by_interrupt(clock):
            yield Run(limits, clock, np.random.default_rng(0))

    def proved(self, sought: Mapping[float, FunnelProposer]) -> Iterator[Solved]:
        """All envelopes by the cells of one proof, at the largest limit that has a price; then every mechanism by itself."""
        priced = [limit for limit, each in sought.items() if each.found.envelope.mu]
        first, shared = max(priced or sought), False
        for limit in sorted(sought, key=lambda limit: limit != first):
            proposer = sought[limit]
            with self.run(proposer.problem) as run:
                proposer.search, proposer.bare = run, shared and limit in priced
                proposer.others = tuple(each.found for c, each in sought.items() if limit == first != c)
                result = prove(proposer.problem, proposer, run)
            shared = shared or len(result.certificate.upper_lines()) > 1
            yield limit, result


def _widest(sought: Mapping[float, FunnelProposer], gap: float) -> float | None:
    """Place where the band of what was found would be widest, between two limits; None where it is within the gap everywhere."""
    found = sorted((limit, each.found) for limit, each in sought.items())
    widest = gap * found[-1][1].attained
    lines = {limit: each.line(widest / 4.0) for limit, each in found}
    at = None
    for (a, one), (b, other) in itertools.pairwise(found):
        (p, mu), (q, nu) = lines[a], lines[b]
        near = (b - a) * NEAR
        c = min(max((q - p) / (mu - nu), a + near), b - near) if mu > nu else (a + b) / 2.0
        high = min(whole + price * c for whole, price in lines.values())
        width = high - one.attained - (other.attained - one.attained) * (c - a) / (b - a)
        if width > widest:
            widest, at = width, c
    return at
