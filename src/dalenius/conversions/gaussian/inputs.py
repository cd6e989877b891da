"""Gaussian noise on a finite set of inputs with a prior, and on Gaussian ones: information, divergences, local information privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import acb, arb, ctx

from dalenius.conversions.numbers import number_ball
from dalenius.errors import InputError
from dalenius.exact import Number, Numbers, as_fraction, as_list, divided
from dalenius.information.balls import ball

# Gaussian noise on a finite set of inputs with a prior: information, divergences, and the curve of local information privacy.


# Two Gaussian laws, a shift apart: the privacy profile, and what follows from it in closed form.


FAR = 100  # standard deviations beyond which an end of a ball stands for infinity


def normal_tail(x: arb) -> arb:
    """P(Z > x) of a standard normal Z; of a wide ball the values at its ends, as it falls. An end beyond 100 counts as infinite.

    >>> float(normal_tail(arb(0))), bool(normal_tail(arb(80).union(arb(200))).contains(0))
    (0.5, True)
    """
    first, last = ((end / arb(2).sqrt()).erfc() / 2 for end in (x.lower(), x.upper()))
    if x > -FAR and x < FAR:
        return first.union(last)
    return first.union(last).union(arb(0 if x.upper() >= FAR else 1)).union(arb(1 if x.lower() <= -FAR else 0))


def gaussian_delta(shift: Number | arb, epsilon: Number | arb) -> arb:
    """The delta of two Gaussian laws of variance 1 whose means are `shift` apart, Phi(s/2 - e/s) - exp(e) Phi(-s/2 - e/s).

    The Gaussian mechanism on inputs of amplitude Delta in each of d coordinates, with variance sigma^2, has the shift
    2 sqrt(d) Delta / sigma.

    Parameters
    ----------
    shift : number or arb
        Above 0.
    epsilon : number or arb
        In nats.

    Raises
    ------
    InputError
        If one of them is no number, or the shift is not above 0.

    Notes
    -----
    Source: Balle, Wang, *Improving the Gaussian mechanism*, Theorem 5; eq. (9) of Ngo et al.

    >>> round(float(gaussian_delta(arb(2), arb(0.5))), 12)
    0.599185618534
    """
    shift, epsilon = number_ball(shift, "shift", above=0), number_ball(epsilon, "epsilon")
    return normal_tail(epsilon / shift - shift / 2) - epsilon.exp() * normal_tail(epsilon / shift + shift / 2)


def information_of_profile(shift: Number | arb) -> arb:
    """Information bound of Theorem 1(b), eq. (12), for the profile of the Gaussian mechanism: shift^2 / 2 nats.

    The integral of (1 + exp(-e)) delta(e) over e > 0 is the divergence of the two laws; the capacity is about a quarter of it.

    >>> float(information_of_profile(arb(2)))
    2.0
    """
    return number_ball(shift, "shift") ** 2 / 2


def chi_square(shift: Number | arb) -> arb:
    """exp(shift^2) - 1; the paper on f-divergences prints it without the -1 (E3-1).

    >>> round(float(chi_square(1)), 12), round(float(chi_square("0.3")), 12)
    (1.718281828459, 0.094174283705)
    """
    return (number_ball(shift, "shift") ** 2).expm1()


def saddle_value(power: Number | arb, noise: Number | arb, dimension: int) -> arb:
    """(d/2) log(1 + power/noise) nats, for inputs of that power a coordinate: the least that noise of this power lets through.

    Gaussian noise attains it, and against any other noise of the same power Gaussian inputs reveal at least as much.

    Notes
    -----
    Source: Ngo et al., Theorem 3.

    >>> float(saddle_value(arb(1), arb(1), 2) / arb(2).log())
    1.0
    """
    signal, spread = number_ball(power, "power"), number_ball(noise, "noise", above=0)
    return dimension * (1 + signal / spread).log() / 2


BITS = 128  # of the balls: ends of intervals are sought to 45 bits, where a ratio may be nearly level
ACCURACY = 60  # bits of an integral
REACH = 14  # standard deviations of the noise that are integrated; the rest is bounded
MOST_STEPS = 200  # of a bisection in doubles
NEAR = 2.0**-20  # where a convex function is looked at beside its least value
APART = 2.0**-45  # of a root's two sides, in standard deviations


@dataclass(frozen=True)
class ListedInputs:
    """Inputs x_i with probabilities proportional to w_i, and Gaussian noise; all numbers in standard deviations of the noise.

    What it computes is in balls of 128 bits, whatever precision is set outside.

    Attributes
    ----------
    inputs, weights : tuples of Fraction
    """

    inputs: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]

    @classmethod
    def of(cls, inputs: Numbers, weights: Numbers, variance: Number) -> ListedInputs:
        """Inputs as they are, and the variance of the noise, whose root is rounded to a double.

        Raises
        ------
        InputError
            If a number cannot be read, the lists differ in length, or the variance is not above 0.
        """
        noise = as_fraction(variance, "variance")
        points = [as_fraction(x, "inputs") for x in as_list(inputs, "inputs")]
        masses = [as_fraction(w, "weights") for w in as_list(weights, "weights")]
        if noise <= 0 or len(points) != len(masses) or len(points) < 2 or min(masses) <= 0:
            raise InputError("expected at least two inputs, as many weights above 0, and a variance above 0")
        scale = Fraction(math.sqrt(noise))
        return cls(tuple(x / scale for x in points), divided(masses, "weights"))

    @cached_property
    def _balls(self) -> list[tuple[arb, arb]]:
        with ctx.workprec(BITS):
            return [(ball(w), ball(x)) for w, x in zip(self.weights, self.inputs, strict=True)]

    def divergence(self, k: int) -> arb:
        """D(W_x || q) in nats of the k-th input, a ball around the integral of -log sum_i w_i exp((x_i - x) z - (x_i - x)^2/2).

        Beyond 14 standard deviations it is at most E (s |Z| + s^2/2) there, s the span of the inputs.
        """
        with ctx.workprec(BITS):
            return self._divergence(k)

    def _divergence(self, k: int) -> arb:
        shifts = [(w, x - self._balls[k][1]) for w, x in self._balls]
        scale = 1 / (2 * arb.pi()).sqrt()

        def integrand(z: acb, analytic: bool) -> acb:
            mean = sum((w * (z * s - s * s / 2).exp() for w, s in shifts), acb(0))
            return (-z * z / 2).exp() * mean.log(analytic=analytic) * scale

        tolerance = arb(2) ** -ACCURACY
        inside = acb.integral(integrand, -REACH, REACH, rel_tol=tolerance, abs_tol=tolerance).real
        span = ball(max(self.inputs) - min(self.inputs))
        tail = span * 2 * scale * (-(arb(REACH) ** 2) / 2).exp() + span**2 * normal_tail(arb(REACH))
        return -inside + arb(0, tail.upper())

    def mutual_information(self) -> arb:
        """I(X; X + Z) in nats: the mean of the divergences."""
        with ctx.workprec(BITS):
            return sum((w * self.divergence(k) for k, (w, _) in enumerate(self._balls)), arb(0))

    def largest_divergence(self) -> arb:
        """max_x D(W_x || q) in nats, which is what Theorem 2(b) of Ngo et al. gives with both curves kept apart."""
        found = [self.divergence(k) for k in range(len(self.inputs))]
        largest = found[0]
        for value in found[1:]:
            largest = largest.max(value)
        return largest

    def delta(self, epsilon: Number | arb) -> arb:
        """The least delta of (epsilon, delta)-local information privacy.

        The ratio of q to a row is a log-convex function of the output, so that q exceeds e^epsilon times the row outside of an
        interval, and the row e^epsilon times q inside of one.

        >>> ball = ListedInputs.of([-1, 0, 1], [1, 2, 1], 1).delta(arb("0.5"))
        >>> round(float(ball), 12), float(ball.rad()) < 1e-12
        (0.246475479198, True)
        """
        with ctx.workprec(BITS):
            epsilon = number_ball(epsilon, "epsilon")
            rows, law = self.deltas(epsilon)
            return law.max((-epsilon).exp() * rows)

    def deltas(self, epsilon: Number | arb) -> tuple[arb, arb]:
        """The largest integrals of (W_x - e^epsilon q)_+ and of (q - e^epsilon W_x)_+: points of the two curves, for
        `PrivacyProfile.divergence`.

        >>> rows, law = ListedInputs.of([-1, 0, 1], [1, 2, 1], 1).deltas(arb("0.5"))
        >>> round(float(rows), 12), round(float(law), 12)
        (0.154071520016, 0.246475479198)
        """
        with ctx.workprec(BITS):
            rows, law, epsilon = arb(0), arb(0), number_ball(epsilon, "epsilon")
            for k in range(len(self.inputs)):
                rows = rows.max(self._beyond(k, epsilon, outside=False))
                law = law.max(self._beyond(k, epsilon, outside=True))
            return rows, law

    def _beyond(self, k: int, epsilon: arb, *, outside: bool) -> arb:
        """The integral of (q - e^epsilon W_x)_+, which is outside of an interval, or of (W_x - e^epsilon q)_+, inside of one."""
        low, high = self._where(k, epsilon if outside else -epsilon)
        if low is None or high is None:
            return arb(0)

        def mass(x: arb) -> arb:
            if outside:
                return normal_tail(x - low) + normal_tail(high - x)
            return normal_tail(low - x) - normal_tail(high - x)

        q, own = sum((w * mass(x) for w, x in self._balls), arb(0)), mass(self._balls[k][1])
        more, less = (q, own) if outside else (own, q)
        return (more - epsilon.exp() * less).max(arb(0))

    def _log_ratio(self, k: int, y: float) -> arb:
        """log q(y)/W_x(y), at a double."""
        z = arb(y) - self._balls[k][1]
        shifts = ((w, x - self._balls[k][1]) for w, x in self._balls)
        return sum((w * (z * s - s * s / 2).exp() for w, s in shifts), arb(0)).log()

    def _where(self, k: int, level: arb) -> tuple[arb, arb] | tuple[None, None]:
        """Balls around the ends of the interval on which the log-ratio is below the level; None where it certainly is nowhere.

        An end of the inputs has a ratio that falls, or rises, throughout: there an end of the interval is infinite.
        """
        least, low, high = self._least(k)
        if self._balls[k][0].log() > level or self._floor(k, least) > level:
            return None, None
        left = self._root(k, level, least, low, outward=-1.0)
        right = self._root(k, level, least, high, outward=1.0)
        return left, right

    def _least(self, k: int) -> tuple[float, float, float]:
        """About where the ratio is least, and the ends of where roots are sought."""
        points = [float(x) for x in self.inputs]
        masses = [float(w) for w in self.weights]
        own = points[k]
        low, high = min(points) - 60.0, max(points) + 60.0

        def slope(y: float) -> float:
            exponents = [(x - own) * (y - own) - (x - own) ** 2 / 2.0 for x in points]
            top = max(exponents)
            shares = [w * math.exp(e - top) for w, e in zip(masses, exponents, strict=True)]
            return sum(s * (x - own) for s, x in zip(shares, points, strict=True))

        first, last = low, high
        for _ in range(MOST_STEPS):
            middle = 0.5 * (first + last)
            if not first < middle < last:
                break
            first, last = (middle, last) if slope(middle) < 0.0 else (first, middle)
        return 0.5 * (first + last), low, high

    def _floor(self, k: int, y: float) -> arb:
        """A number that the log-ratio is nowhere below: it is convex, and so above its chords where they are prolonged."""
        left, middle, right = (self._log_ratio(k, at) for at in (y - NEAR, y, y + NEAR))
        rises = left > middle and right > middle
        return middle - (left - middle).max(right - middle) if rises else arb.neg_inf()

    def _root(self, k: int, level: arb, inside: float, outside: float, *, outward: float) -> arb:
        """A ball around where the ratio passes the level; infinite outward if it stays below it as far as `outside`."""
        if not self._log_ratio(k, outside) > level:
            return arb(outside).union(arb(outside + outward * 200.0))  # an end that counts as infinite
        near, far = inside, outside
        for _ in range(MOST_STEPS):
            middle = 0.5 * (near + far)
            if abs(far - near) <= APART or middle in (near, far):
                break
            near, far = (near, middle) if self._log_ratio(k, middle) > level else (middle, far)
        step = APART
        while (
            not self._log_ratio(k, near) < level and near != inside
        ):  # the level, or the ratio, is a ball: back to where it is below
            near = far - outward * step if step < abs(far - inside) else inside
            step *= 2.0
        return arb(near).union(arb(far))


# Gaussian inputs through Gaussian noise, by their covariance matrices.


MOST_DIMENSION = 64

Matrix = list[list[Fraction]]


def gaussian_information(signal: Sequence[Sequence[Number]], noise: Sequence[Sequence[Number]]) -> arb:
    """(1/2) log det(I + K_Y^-1 K_X) nats: what X + Y reveals about X, for Gaussian X and Y with these covariance matrices.

    It is concave in the signal and convex in the noise, and `saddle_value` is its saddle: of all noise of the same trace a multiple
    of I lets the least through to the worst signal of a given trace, which is a multiple of I, too. Against Gaussian noise no
    signal with this covariance reveals more, and against a Gaussian signal no noise with its covariance lets less through.

    Parameters
    ----------
    signal : (d, d), symmetric positive semidefinite
        K_X; numbers are taken exactly.
    noise : (d, d), symmetric positive definite
        K_Y

    Returns
    -------
    arb
        A ball of 128 bits; the determinants are exact.

    Raises
    ------
    InputError
        If a matrix is not square, symmetric and positive semidefinite, the sizes differ, d is above 64, or the noise is singular.

    Notes
    -----
    Source: Ngo et al., Theorem 3, eqs. (18), (19).

    >>> float(gaussian_information([[3, 0], [0, 0]], [[1, 0], [0, 1]]) / arb(2).log())
    1.0
    """
    k_x, k_y = _matrix(signal, "signal"), _matrix(noise, "noise")
    if len(k_x) != len(k_y):
        raise InputError(f"noise: expected a matrix of the signal's size {len(k_x)}, got {len(k_y)}")
    _determinant(k_x, "signal")
    alone = _determinant(k_y, "noise")
    if not alone:
        raise InputError("noise: expected a positive definite matrix, got a singular one")
    total = _determinant([[x + y for x, y in zip(*rows, strict=True)] for rows in zip(k_x, k_y, strict=True)], "sum")
    with ctx.workprec(BITS):
        return ball(total / alone).log() / 2


def _matrix(matrix: Sequence[Sequence[Number]], what: str) -> Matrix:
    rows = [
        [as_fraction(x, f"{what}[{i}][{j}]") for j, x in enumerate(as_list(row, f"{what}[{i}]"))]
        for i, row in enumerate(as_list(matrix, what))
    ]
    size = len(rows)
    if not 0 < size <= MOST_DIMENSION or any(len(row) != size for row in rows):
        raise InputError(f"{what}: expected a square matrix of at most {MOST_DIMENSION} rows")
    if any(rows[i][j] != rows[j][i] for i in range(size) for j in range(i)):
        raise InputError(f"{what}: expected a symmetric matrix")
    return rows


def _determinant(matrix: Matrix, what: str) -> Fraction:
    """Of a symmetric matrix; refused if it is not positive semidefinite."""
    found = pivots(matrix)
    if found is None:
        raise InputError(f"{what}: expected a positive semidefinite matrix")
    return math.prod(found, start=Fraction(1))


def pivots(matrix: Matrix) -> list[Fraction] | None:
    """Of a symmetric matrix, by elimination, exactly; None if one is negative, or 0 in a row that is not: it is not semidefinite.

    >>> one = Fraction(1)
    >>> pivots([[one, one], [one, one]]), pivots([[one, 2 * one], [2 * one, one]])
    ([Fraction(1, 1), Fraction(0, 1)], None)
    """
    rest, found = matrix, list[Fraction]()
    while rest:
        pivot, *others = rest[0]
        if pivot < 0 or (not pivot and any(others)):
            return None
        found.append(pivot)
        rest = [
            [x - (row[0] * y / pivot if pivot else 0) for x, y in zip(row[1:], others, strict=True)] for row in rest[1:]
        ]
    return found
