"""Gaussian noise for a sum of real-valued data of which deviations and bounds of correlations are known: Section V of the Pufferfish
paper, its suprema over families of laws by certified programs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import arb

from dalenius.conversions.gaussian.inputs import pivots
from dalenius.errors import DaleniusError, InputError, brief
from dalenius.evidence.ends import exact_fraction_above
from dalenius.exact import Integer, Number, as_fraction, as_integer, as_list
from dalenius.information.arrays import Floats
from dalenius.information.balls import above, ball, below, exactly
from dalenius.notebook import in_brief
from dalenius.programs import CertifiedInterval, certify
from dalenius.programs.plain import correlated
from dalenius.search import Clock, Limits, stopped_by_interrupt
from dalenius.studies.least_noise import budget_of

MOST_RECORDS = 24
PIECES = 400
GRID = 10**12
# shares of uncorrelated data that make a matrix positive semidefinite
MIXED = (Fraction(0), *(Fraction(1, 10**digits) for digits in (11, 9, 7, 5, 3)))
SHORTEST = 1e-2  # seconds: what can be proved in so little is proved
Weights: TypeAlias = list[Fraction]
Form: TypeAlias = list[list[Fraction]]  # a matrix, of covariances or of weights of theirs


@dataclass(frozen=True)
class LeastVariance:
    """Variances between which lies the least one of Gaussian noise that keeps a budget under every law of a family.

    Attributes
    ----------
    lower, upper : float
        Of Gaussian laws. Noise of the variance `upper` is enough for all of them; less than `lower` is not for `covariance`. Both are
        0 where no noise is needed.
    of_moments : float
        Enough for every law with such moments, Gaussian or not, and every secret (Theorem 4).
    covariance : tuple of tuples of Fraction
    correlation : float
        Of the secret and the query under this law; 0 where the query does not vary.
    proofs : tuple of CertifiedInterval
        Of the programs whose largest bound is `upper`; ``python -m cvxcertify.check`` checks each one's `proof`.
    """

    __repr__ = in_brief

    lower: float
    upper: float
    of_moments: float
    covariance: tuple[tuple[Fraction, ...], ...]
    correlation: float
    proofs: tuple[CertifiedInterval, ...]

    @property
    def mean_error(self) -> float:
        """Mean distance of the release from the query, with the variance that is enough."""
        return math.sqrt(2.0 * self.upper / math.pi)


class CorrelatedData:
    """Laws of real-valued records X_1, ..., X_n: their standard deviations, and how strongly any two may be correlated.

    Parameters
    ----------
    deviations : sequence
        Of each record a number above 0, or a pair of bounds.
    correlation : number, or a matrix
        The largest absolute correlation of any two records, or of each two.

    Raises
    ------
    InputError
        If there are fewer than 1 or more than 24 records, or no law is such: a deviation is not above 0, its bounds are reversed, a
        correlation is not between 0 and 1, or a matrix is not symmetric.

    Two records with correlation at most 1/2, whose sum is released: (1.5^2 k - 3 (k - 1)) / (k - 1), k = e^(2 epsilon).

    >>> k = math.exp(0.2)
    >>> found = CorrelatedData([1, 1], "1/2").least_variance([1, 1], 0, 0.1)
    >>> found.lower <= (1.5**2 * k - 3 * (k - 1)) / (k - 1) <= found.upper <= 1.001 * found.lower
    True
    """

    def __init__(
        self, deviations: Sequence[Number | tuple[Number, Number]], correlation: Number | Sequence[Sequence[Number]]
    ) -> None:
        listed = as_list(deviations, "deviations")
        if not 1 <= len(listed) <= MOST_RECORDS:
            raise InputError(f"deviations: expected from 1 to {MOST_RECORDS} records, got {len(listed)}")
        pairs = [
            as_list(one, "deviations") if hasattr(one, "__len__") and not isinstance(one, str) else [one] * 2
            for one in listed
        ]
        self.deviations = [tuple(as_fraction(end, f"deviations[{j}]") for end in pair) for j, pair in enumerate(pairs)]
        for j, pair in enumerate(self.deviations):
            if len(pair) != 2 or not 0 < pair[0] <= pair[1]:
                raise InputError(
                    f"deviations[{j}]: no law is such: expected a number above 0, or two that ascend; got {brief(listed[j])}"
                )
        self.correlations = _correlations(correlation, len(listed))

    def least_variance(
        self,
        query: Sequence[Number],
        secret: Integer | Sequence[Number],
        at_most: Number,
        *,
        gap: float = 1e-3,
        time_limit: float | None = 60.0,
    ) -> LeastVariance:
        """The least variance of Gaussian noise on a weighted sum at which no more than a budget is revealed of another one.

        Parameters
        ----------
        query : sequence of numbers
            The weight of each record in what is released.
        secret : int, or a sequence of numbers
            A record, or the weight of each in the secret.
        at_most : number or str
            The budget: nats, or a text such as ``"0.1 bits"``; above 0.
        gap : float
            How far, in shares, `upper` may be above `lower`.
        time_limit : float or None
            Seconds. At their end, and at Ctrl-C, the answer is the interval that was proved by then.

        Raises
        ------
        InputError
            If there are more or fewer weights than records, the secret may have the variance 0, the budget is not above 0, or `gap` is
            not between 0 and 1.
        DaleniusError
            If nothing was proved within the time limit.

        Notes
        -----
        With k = e^(2 epsilon), c, g and v the covariance and the variances of secret and query, noise of a variance n reveals
        -(1/2) log(1 - c^2 / (g (v + n))), so that it takes n = b c^2/g - v, b = k/(k - 1). *Bound because* for c/g in [l, u]
        c^2/g <= (l + u) c - l u g, and elsewhere it is more: a linear function of the covariances, of which `cvxcertify` bounds the
        largest value over all matrices that are positive semidefinite and within the bounds (docs/theory.md).
        """
        amount, units = budget_of(at_most)
        if not 0.0 < gap < 1.0:
            raise InputError(f"gap: expected a number between 0 and 1, got {brief(gap)}")
        a = self._weights(query, "query")
        weights = secret if isinstance(secret, Sequence | np.ndarray) else self._of_one(secret)
        u = self._weights(weights, "secret")
        nats = ball(amount) * (arb(1) if units == "nats" else arb(2).log())
        clock = Clock(Limits(time_limit=time_limit).seconds)
        search = _Search(self, a, u, 1 / -(-2 * nats).expm1(), clock)
        with stopped_by_interrupt(clock):
            search.run(gap)
        return search.answer(nats)

    def _weights(self, values: Sequence[Number], what: str) -> Weights:
        found = [as_fraction(value, f"{what}[{j}]") for j, value in enumerate(as_list(values, what))]
        if len(found) != len(self.deviations) or not any(found):
            raise InputError(
                f"{what}: expected a weight for each of {len(self.deviations)} records, not all 0; got {brief(values)}"
            )
        return found

    def _of_one(self, secret: Integer) -> list[int]:
        """The weights of a secret that is one record."""
        one = as_integer(secret, "secret", at_least=0, at_most=len(self.deviations) - 1)
        return [int(j == one) for j in range(len(self.deviations))]

    def largest(self, form: Form, time_limit: float) -> tuple[Fraction, Form | None, CertifiedInterval]:
        """A bound of a linear function of the covariances over all that there may be; and a matrix near it, if one is found.

        The program is about covariances over the largest deviations, in doubles: its limits are rounded outward, and what rounding
        may take from its objective is added.
        """
        s = [most for _, most in self.deviations]
        scaled = [[x * s[i] * s[j] for j, x in enumerate(row)] for i, row in enumerate(form)]
        size = max((abs(x) for row in scaled for x in row), default=Fraction(0)) or Fraction(1)
        doubles = np.array([[float(x / size) for x in row] for row in scaled])
        least = np.array([-exact_fraction_above(-((low / high) ** 2)) for low, high in self.deviations])
        most = np.array([[exact_fraction_above(x) for x in row] for row in self.correlations])
        found = certify(correlated(doubles, least, most), time_limit=time_limit)
        if not math.isfinite(found.upper) or found.rounded:
            raise DaleniusError(f"nothing was proved of a program within the time limit; {found.advice}")
        lost = sum(
            abs(x / size - Fraction(d))
            for row, own in zip(scaled, doubles.tolist(), strict=True)
            for x, d in zip(row, own, strict=True)
        )
        return size * (Fraction(found.upper) + lost), self._near(found.values.get("covariance")), found

    def _near(self, values: Floats | None) -> Form | None:
        """A covariance matrix of the family near these numbers, exactly."""
        if values is None:
            return None
        sizes, s = range(len(self.deviations)), [most for _, most in self.deviations]
        near = [[Fraction(round(float(values[max(i, j), min(i, j)]) * GRID), GRID) for j in sizes] for i in sizes]
        own = [min(max(near[i][i], (self.deviations[i][0] / s[i]) ** 2), Fraction(1)) for i in sizes]
        most = [[self.correlations[i][j] * _root_below(own[i] * own[j]) for j in sizes] for i in sizes]
        for share in MIXED:
            found = [
                [own[i] if i == j else min(max(x, -most[i][j]), most[i][j]) * (1 - share) for j, x in enumerate(row)]
                for i, row in enumerate(near)
            ]
            if pivots(found) is not None:
                return [[x * s[i] * s[j] for j, x in enumerate(row)] for i, row in enumerate(found)]
        return None


@dataclass
class _Search:
    """Pieces of c/g, each with a bound, of which the one with the largest is halved; b is k/(k - 1)."""

    family: CorrelatedData
    query: Weights
    secret: Weights
    ratio: arb
    clock: Clock
    pieces: list[_Piece] = field(default_factory=list)
    variance: Fraction = field(init=False)
    proof: CertifiedInterval = field(init=False)
    lower: Fraction = Fraction(0)
    best: Form | None = None

    def run(self, gap: float) -> None:
        """Until the largest bound is near the best law's need, or the time is over."""
        self.variance, _, self.proof = self.family.largest(outer(self.query, self.query), self._seconds)
        negative = [[-x for x in row] for row in outer(self.secret, self.secret)]
        least, _, _ = self.family.largest(negative, self._seconds)
        if least >= 0:
            raise InputError(
                "secret: its variance may be 0 under some law, so that nothing bounds what is released of it"
            )
        spread = [most for _, most in self.family.deviations]
        widest = (
            sum((abs(x) * s for x, s in zip(each, spread, strict=True)), Fraction(0))
            for each in (self.query, self.secret)
        )
        far = math.prod(widest, start=Fraction(1)) / -least
        self.pieces = [self._bounded(-far, Fraction(0)), self._bounded(Fraction(0), far)]
        while len(self.pieces) < PIECES and not self.clock.expired:
            worst = max(self.pieces, key=lambda piece: piece.upper)
            if worst.upper <= self.lower / Fraction(1 - gap):
                return
            middle = (worst.start + worst.end) / 2
            try:
                halves = [self._bounded(worst.start, middle), self._bounded(middle, worst.end)]
            except DaleniusError:  # for want of time: the whole piece stays
                return
            self.pieces = [*(piece for piece in self.pieces if piece is not worst), *halves]

    @property
    def _seconds(self) -> float:
        return max(self.clock.remaining, SHORTEST)

    def _bounded(self, start: Fraction, end: Fraction) -> _Piece:
        """The piece, and perhaps a better law: b ((l + u) c - l u g) - v at most."""
        b, pairs = exactly(self.ratio.upper()), list(zip(self.query, self.secret, strict=True))
        form = [
            [b * ((start + end) * (x * z + w * y) / 2 - start * end * y * z) - x * w for w, z in pairs]
            for x, y in pairs
        ]
        upper, near, found = self.family.largest(form, self._seconds)
        if near is not None:
            c, g, v = self._moments(near)
            needed = exactly(self.ratio.lower()) * c * c / g - v
            if self.best is None or needed > self.lower:
                self.best, self.lower = near, max(needed, self.lower)
        return _Piece(start, end, upper, found)

    def _moments(self, covariance: Form) -> tuple[Fraction, Fraction, Fraction]:
        """The covariance and the variances of secret and query: c, g and v."""
        a, u = self.query, self.secret
        return inner(a, covariance, u), inner(u, covariance, u), inner(a, covariance, a)

    def answer(self, nats: arb) -> LeastVariance:
        upper = max(*(piece.upper for piece in self.pieces), Fraction(0))
        of_moments = above(ball(self.variance) / (2 * nats).expm1())
        if self.best is None:
            raise DaleniusError("no law of the family was found near the programs' points; raise time_limit")
        c, g, v = map(float, self._moments(self.best))
        return LeastVariance(
            lower=max(below(ball(self.lower)), 0.0),
            upper=exact_fraction_above(upper),
            of_moments=of_moments,
            covariance=tuple(map(tuple, self.best)),
            correlation=min(max(c / math.sqrt(g * v), -1.0), 1.0) if g * v > 0.0 else 0.0,
            proofs=(*(piece.proof for piece in self.pieces), self.proof),
        )


@dataclass(frozen=True)
class _Piece:
    """The laws with c/g between two numbers, a bound of what noise they need, and its proof."""

    start: Fraction
    end: Fraction
    upper: Fraction
    proof: CertifiedInterval


def outer(first: Weights, second: Weights) -> Form:
    """The products of every two weights.

    >>> outer([1, 2], [3, 4])
    [[3, 4], [6, 8]]
    """
    return [[x * y for y in second] for x in first]


def inner(first: Weights, covariance: Form, second: Weights) -> Fraction:
    """The covariance of two weighted sums.

    >>> inner([1, 2], [[1, 0], [0, 1]], [3, 4])
    Fraction(11, 1)
    """
    rows = (sum((s * y for s, y in zip(row, second, strict=True)), Fraction(0)) for row in covariance)
    return sum((x * row for x, row in zip(first, rows, strict=True)), Fraction(0))


def _correlations(value: Number | Sequence[Sequence[Number]], count: int) -> Form:
    """The largest sizes of the correlations, 1 on the diagonal."""
    if not hasattr(value, "__len__") or isinstance(value, str):
        one = as_fraction(value, "correlation")
        rows = [[Fraction(1) if i == j else one for j in range(count)] for i in range(count)]
    else:
        rows = [
            [as_fraction(x, "correlation") for x in as_list(row, "correlation")]
            for row in as_list(value, "correlation")
        ]
    fits = len(rows) == count and all(len(row) == count for row in rows)
    if not fits or any(
        rows[i][j] != rows[j][i] or not 0 <= rows[i][j] <= 1 for i in range(count) for j in range(count) if i != j
    ):
        raise InputError(
            f"correlation: no law is such: expected a number between 0 and 1, or a symmetric matrix of such, {count} x {count}; got "
            f"{brief(value)}"
        )
    return [[Fraction(1) if i == j else x for j, x in enumerate(row)] for i, row in enumerate(rows)]


def _root_below(x: Fraction) -> Fraction:
    """A number that is at most the root of x >= 0; the root itself, where it is a multiple of 1/GRID."""
    return Fraction(math.isqrt(int(x * GRID**2)), GRID)
