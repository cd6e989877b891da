"""Information bounds from a whole privacy profile, or some points of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import exp, inf
from typing import TypeVar

from flint import arb, ctx

from dalenius.conversions.numbers import Epsilon, bernoulli_divergence
from dalenius.errors import InputError
from dalenius.exact import Number, as_bounded, as_fraction, as_list, fraction_text
from dalenius.information.balls import above, ball

BITS = 200  # of the balls
MOST_EPSILON = 300  # nats; exp(2 epsilon) is still a double
EPSILONS = tuple(Fraction(k, 8) for k in (0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64))  # at which curves are read

Point = tuple[Fraction, Fraction]
T = TypeVar("T", float, arb)


@dataclass(frozen=True)
class PrivacyProfile:
    """Points (epsilon, delta) that hold of one mechanism, and what is known of delta beyond the last.

    Between them delta is bounded because as a function of exp(epsilon) it is convex, as the largest of convex functions, so that it
    lies below the chord of any two points; it also falls, and so beyond the last point it is at most what it was there.

    Attributes
    ----------
    points : tuple of (Fraction, Fraction)
        epsilon in nats, rising; delta, falling.
    decay : Fraction or None
        r, if delta(e) <= delta(last) exp(-r (e - last)) is known beyond the last point; else an integral is finite only if the last
        delta is 0.
    """

    points: tuple[Point, ...]
    decay: Fraction | None = None

    @classmethod
    def of(cls, points: Iterable[Sequence[Number]], *, decay: Number | None = None) -> PrivacyProfile:
        """Points as people write them, in any order; those that are no better than the others say are left out.

        Raises
        ------
        InputError
            If there is no point, an epsilon is not from 0 to 300, a delta not from 0 to 1, or the decay not above 0.

        >>> PrivacyProfile.of([(1, 0), (0, "1/2"), (2, 0)]).points
        ((Fraction(0, 1), Fraction(1, 2)), (Fraction(1, 1), Fraction(0, 1)))
        """
        rate = None if decay is None else as_bounded(decay, "decay", above=0)
        found = sorted(_point(point, f"points[{k}]") for k, point in enumerate(as_list(points, "points")))
        if not found:
            raise InputError("points: expected at least one point (epsilon, delta)")
        return cls(_hull(found, keeps_last=rate is not None), rate)

    @classmethod
    def from_function(
        cls, delta: Callable[[arb], arb], epsilons: Iterable[Number], *, decay: Number | None = None
    ) -> PrivacyProfile:
        """The upper ends of the balls that a function gives at these epsilons; the closer they are, the better the bounds.

        Parameters
        ----------
        delta : function from arb to arb
            A ball around delta, for a ball of one point.
        epsilons, decay : as in `of`

        Raises
        ------
        InputError
            As in `of`.

        Notes
        -----
        Gaussian noise of shift s has every decay up to e/s - s/2, divided by s, e the last epsilon.

        >>> from dalenius.conversions.gaussian import gaussian_delta
        >>> grid = [Fraction(k, 20) for k in range(161)]
        >>> profile = PrivacyProfile.from_function(lambda e: gaussian_delta(arb(1), e), grid, decay=7)
        >>> 0.5 <= profile.capacity() < 0.5005  # of the whole curve it is 1/2
        True
        """
        read = [as_fraction(epsilon, f"epsilons[{k}]") for k, epsilon in enumerate(as_list(epsilons, "epsilons"))]
        with ctx.workprec(BITS):
            values = [Fraction(min(1.0, max(0.0, above(delta(ball(epsilon)))))) for epsilon in read]
        return cls.of(list(zip(read, values, strict=True)), decay=decay)

    @classmethod
    def of_tradeoff(
        cls, points: Iterable[Sequence[Number]], *, epsilons: Iterable[Number] = EPSILONS
    ) -> PrivacyProfile:
        """Points of a trade-off curve, as f-differential privacy has them: a test wrong about one input with probability `level` at
        most is wrong about the other with `error` at least.

        Parameters
        ----------
        points : list of (level, error)
            Of every ordered pair of inputs, and so with either as the first.
        epsilons : list of Numbers
            Where the profile has points.

        Raises
        ------
        InputError
            If there is no point, or a number is not from 0 to 1.

        Notes
        -----
        *Bound because* errors fall with the level: between two levels they are at least that of the larger one, and delta(e) is the
        largest 1 - error - exp(e) level.

        Source: J. Dong, A. Roth, W. Su, "Gaussian differential privacy" (2022), Proposition 6.

        >>> found = PrivacyProfile.of_tradeoff([("0.1", "0.3"), ("0.3", "0.1")], epsilons=[0, 1])
        >>> [(float(epsilon), round(float(delta), 9)) for epsilon, delta in found.points]
        [(0.0, 0.8), (1.0, 0.7)]
        """
        read = [as_list(point, f"points[{k}]") for k, point in enumerate(as_list(points, "points"))]
        if not read or any(len(point) != 2 for point in read):
            raise InputError("points: expected at least one, each of a level and an error")
        known = [[as_bounded(x, f"points[{k}]", at_least=0, at_most=1) for x in point] for k, point in enumerate(read)]
        both = sorted({(a, b) for level, error in known for a, b in ((level, error), (error, level))})
        levels = [Fraction(0), *(level for level, _ in both)]
        errors = [max((error for at, error in both if at >= level), default=Fraction(0)) for level in levels[1:]]
        corners = [(ball(level), ball(1 - error)) for level, error in zip(levels, [*errors, Fraction(0)], strict=True)]

        def delta(epsilon: arb) -> arb:
            return reduce(arb.max, (found - epsilon.exp() * level for level, found in corners))

        return cls.from_function(delta, epsilons)

    def guarantees(self, notion: str = "local_dp_delta") -> dict[str, Number]:
        """The points as guarantees of one mechanism, for `convert`; of a secret's channel with the divergence that all of them bound.

        Parameters
        ----------
        notion : str
            ``"local_dp_delta"``, between any two values of a secret, or ``"differential_privacy_delta"``, between neighbours.

        >>> list(PrivacyProfile.of([(0, "0.3"), (1, 0)]).guarantees())
        ['local_dp_delta(0)', 'local_dp_delta(1)', 'pairwise_divergence']
        """
        told: dict[str, Number] = {f"{notion}({fraction_text(epsilon)})": delta for epsilon, delta in self.points}
        if notion == "local_dp_delta" and (divergence := self.capacity()) < inf:
            told["pairwise_divergence"] = divergence
        return told

    def capacity(self) -> float:
        """The integral of (1 + exp(-e)) delta(e) over e > 0, for a profile of local differential privacy; in nats, rounded up.

        It bounds the divergence of any two rows, so what the mechanism reveals under any prior. Infinite if the last delta is above
        0 and no decay is known.

        Notes
        -----
        One point (e, 0) gives e tanh(e/2), what randomised response attains: where no point has epsilon 0, (exp(e) - 1 + 2 delta) /
        (exp(e) + 1) is added, by convexity from -e to e. Two points (0, d) and (L, 0), where L bounds every log-ratio, give d L: the
        second term of eq. (4) of Nuradha and Goldfeld, whose first, corrected, is never less. Shannon capacity is less than all of
        these; at one point `dalenius.convert` says how much.

        Source: Ngo et al., Theorem 1(b), eq. (12); the chords are ours.

        >>> round(PrivacyProfile.of([(1, 0)]).capacity(), 12)
        0.46211715726
        """
        return self.divergence(self)

    def divergence(self, reverse: PrivacyProfile) -> float:
        """The integral of delta(e) + exp(-e) reverse(e) over e > 0, for profiles of P from Q and of Q from P; in nats, rounded up.

        It bounds the divergence of P from Q. Points (e, d) of this profile say that the sum of (P - exp(e) Q)_+ is at most d, those of
        `reverse` that the sum of (Q - exp(e) P)_+ is. Where they hold for every row P of a mechanism and the law Q of its outputs, it
        bounds the largest divergence of a row from that law, and so the information under this prior: Theorem 2(b) with the two
        curves kept apart, of which one delta for both makes `prior_information`. Infinite as in `capacity`.

        Notes
        -----
        As a function of g the sum of (P - g Q)_+ is convex, and at g = exp(-e) it is 1 - g + g reverse(e): where no point has epsilon
        0, the least chord of two points, one of each profile, is added there.

        Source: Ngo et al., Lemma 1, eq. (20); our version of Theorem 2(b).

        >>> rows, law = PrivacyProfile.of([(0, "0.3"), (1, 0)]), PrivacyProfile.of([(0, "0.3"), (2, 0)])
        >>> round(rows.divergence(law), 9), round(law.divergence(rows), 9), round(rows.capacity(), 9)
        (0.380682426, 0.519317574, 0.3)
        """
        with ctx.workprec(BITS):
            first = _at_zero(self.points, reverse.points)

            def weights(e: arb) -> tuple[arb, arb]:
                return e, e.exp()

            def reverse_weights(e: arb) -> tuple[arb, arb]:
                return -(-e).exp(), e

            return above(
                self._integral(first, weights, lambda e, rate: 1 / rate)
                + reverse._integral(first, reverse_weights, lambda e, rate: (-e).exp() / (rate + 1))
            )

    def prior_information(self) -> float:
        """The integral of (exp(e) + exp(-e)) delta(e) over e > 0, for a profile of local information privacy; in nats, rounded up.

        It bounds the divergence of any row from the law of the outputs, and so the information under the profile's own prior. Infinite
        if the last delta is above 0 and no decay above 1 is known.

        Notes
        -----
        Such a delta bounds the integrals of (q - exp(e) w)_+ and of (exp(-e) w - q)_+, w a row and q the law of the outputs; both are
        convex in exp(e). Where no point has epsilon 0, (exp(e) - 1)/(exp(e) + 1) + delta is added. `divergence` keeps the two apart,
        which is better wherever both are known; of the whole curves it makes the largest divergence itself.

        Source: Ngo et al., Theorem 2(b), eq. (14); the chords are ours.

        >>> round(PrivacyProfile.of([(1, 0)]).prior_information(), 12)
        0.59019949286
        """

        with ctx.workprec(BITS):
            first = arb(1)
            for epsilon, delta in self.points:
                growth = ball(epsilon).exp()
                first = first.min((growth - 1) / (growth + 1) + ball(delta))

            def weights(e: arb) -> tuple[arb, arb]:
                return 2 * e.sinh(), (2 * e).exp() / 2 + e

            def beyond(e: arb, rate: arb) -> arb:
                return e.exp() / (rate - 1) + (-e).exp() / (rate + 1) if rate > 1 else arb("inf")

            return above(self._integral(first, weights, beyond))

    def _integral(
        self, first: arb, weights: Callable[[arb], tuple[arb, arb]], beyond: Callable[[arb, arb], arb]
    ) -> arb:
        """Of the chords times a weight, and what is beyond the last point: with delta = a + b exp(e) it is a and b times differences
        of the antiderivatives of the weight and of the weight times exp(e). `first` bounds the delta of epsilon 0.
        """
        last, rest = (ball(number) for number in self.points[-1])
        if rest > 0 and self.decay is None:
            return arb("inf")
        total = rest * beyond(last, ball(self.decay)) if self.decay is not None and rest > 0 else arb(0)
        known = [(arb(0), first), *((ball(epsilon), ball(delta)) for epsilon, delta in self.points if epsilon > 0)]
        for (e0, d0), (e1, d1) in pairwise(known):
            slope = (d1 - d0) / (e1.exp() - e0.exp())
            (ones0, grown0), (ones1, grown1) = weights(e0), weights(e1)
            total += (d0 - slope * e0.exp()) * (ones1 - ones0) + slope * (grown1 - grown0)
        return total


def _at_zero(points: Sequence[Point], reverse: Sequence[Point]) -> arb:
    """A bound of the delta of epsilon 0, which both directions share: the least point there, or else the least chord past it."""
    first = ball(min([Fraction(1), *(delta for epsilon, delta in (*points, *reverse) if epsilon == 0)]))
    ours = [(exp(epsilon), float(delta), epsilon, delta) for epsilon, delta in points if epsilon > 0]
    theirs = [(exp(-epsilon), float(delta), epsilon, delta) for epsilon, delta in reverse if epsilon > 0]
    if first < 1 or not ours or not theirs:
        return first

    def in_doubles(pair: tuple[tuple[float, float, Fraction, Fraction], ...]) -> float:
        (g, delta, _, _), (h, back, _, _) = pair
        return _chord(g, delta, h, back) if g > h else inf

    (_, _, epsilon, delta), (_, _, other, back) = min(product(ours, theirs), key=in_doubles)
    return first.min(_chord(ball(epsilon).exp(), ball(delta), (-ball(other)).exp(), ball(back)))


def _chord(g: T, delta: T, h: T, back: T) -> T:
    """At 1, between `delta` at g and what `back` at 1/h says of h."""
    return ((g - 1) * (1 - h + h * back) + (1 - h) * delta) / (g - h)


def _point(point: Sequence[Number], what: str) -> Point:
    pair = as_list(point, what)
    if len(pair) != 2:
        raise InputError(f"{what}: expected an epsilon and a delta, got {len(pair)} entries")
    epsilon, delta = as_fraction(pair[0], f"{what}, epsilon"), as_fraction(pair[1], f"{what}, delta")
    if not 0 <= epsilon <= MOST_EPSILON or not 0 <= delta <= 1:
        raise InputError(
            f"{what}: expected an epsilon from 0 to {MOST_EPSILON} nats and a delta from 0 to 1, got {point}"
        )
    return epsilon, delta


def _hull(points: Sequence[Point], *, keeps_last: bool) -> tuple[Point, ...]:
    """Those whose chords lie lowest, chosen in doubles, as the chords of any points are bounds; sorted by epsilon, then delta."""
    kept: list[Point] = []
    for point in points:
        if kept and point[1] >= kept[-1][1] and not (keeps_last and point == points[-1]):
            continue
        if kept and kept[-1][0] == point[0]:
            continue
        while len(kept) > 1 and _above_chord(kept[-2], kept[-1], point):
            kept.pop()
        kept.append((point[0], min(point[1], kept[-1][1]) if kept else point[1]))
    return tuple(kept)


def _above_chord(first: Point, middle: Point, last: Point) -> bool:
    """True if the middle point is above the chord of the two others, over exp(epsilon), as far as doubles tell."""
    (g0, d0), (g1, d1), (g2, d2) = ((exp(epsilon), float(delta)) for epsilon, delta in (first, middle, last))
    return (d1 - d0) * (g2 - g0) > (d2 - d0) * (g1 - g0)


# What a capacity leaves to a test between two inputs: Theorem 1(a) of Ngo et al. as one curve.


BISECTION_BITS = 160  # of the balls
BISECTION_STEPS = 120  # of a bisection


def largest_power(capacity: Number, level: Number) -> float:
    """The largest power at this level of a test which of two inputs the output is of, where no prior lets the output reveal more.

    It is the largest p0 with d(p0 || q) <= mu and d(p1 || q) <= mu for some q, where mu is the capacity and p1 the level: 1 - p0, as a
    function of p1, is the trade-off function of f-differential privacy that follows from the capacity. It is attained, for each
    level, by the binary channel with the rows p0 and p1.

    Parameters
    ----------
    capacity : Number
        The Shannon capacity of the mechanism, or a bound of it: nats, or ``"0.1 bits"``. From one bit on any power is possible.
    level : Number
        The largest probability with which the test is wrong about the second input, from 0 to 1.

    Returns
    -------
    float
        A probability, rounded up.

    Raises
    ------
    InputError
        If a number cannot be read, the capacity is negative, or the level is not from 0 to 1.

    Notes
    -----
    *Bound because* p0 rises with q, and q is largest where d(p1 || q) = mu; both are ends of bisections that are certainly beyond.

    `dalenius.convert` has the largest p0 - e^epsilon p1 on this curve, the delta of local differential privacy.

    Source: Ngo et al., Theorem 1(a), eq. (10); the curve is ours.

    >>> round(largest_power("0.1 bits", 0), 12), round(largest_power("0.1 bits", "0.1"), 12)
    (0.177503347184, 0.416010176587)
    """
    asked = as_bounded(level, "level", at_least=0, at_most=1)
    with ctx.workprec(BISECTION_BITS):
        most, p1 = Epsilon.read(capacity, "capacity").ball(), ball(asked)
        if not most < arb(2).log():
            return 1.0
        q = _beyond(lambda q: bernoulli_divergence(p1, q), p1, most)
        return min(1.0, above(_beyond(lambda p: bernoulli_divergence(p, q), q, most)))


def _beyond(divergence: Callable[[arb], arb], low: arb, most: arb) -> arb:
    """An exact number from `low` to 1 at which a divergence that rises is certainly at least `most`, near the least one; or 1."""
    high = arb(1)
    for _ in range(BISECTION_STEPS):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if divergence(middle) >= most else (middle, high)
    return high
