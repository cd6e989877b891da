"""Binary Markov chains: what a release of their number of ones tells about one record, at a point and on boxes of their parameters.

Parameters are alpha = P(0 -> 1), beta = P(1 -> 0) and, where the first record may have any law, nu = P(X_0 = 1); else nu is the
stationary alpha/(alpha + beta). Everything is in doubles, as midpoints and radii: a checker proves what is found (docs/theory.md,
Markov chains).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.information.entropies import binary_entropy

__all__ = ["Ball", "Chain", "Slopes", "joint_law", "letters_bound", "slopes_of", "window_bound"]


@dataclass(frozen=True)
class Ball:
    """Numbers known up to a radius each."""

    mid: Floats
    rad: Floats

    @classmethod
    def of(cls, low: Floats, high: Floats) -> Ball:
        """From the least to the largest."""
        return cls(0.5 * (low + high), 0.5 * (high - low))

    @property
    def low(self) -> Floats:
        return self.mid - self.rad

    @property
    def high(self) -> Floats:
        return self.mid + self.rad

    def __add__(self, other: Ball) -> Ball:
        return Ball(self.mid + other.mid, self.rad + other.rad)

    def __mul__(self, other: Ball) -> Ball:
        rad = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return Ball(self.mid * other.mid, rad)

    def __matmul__(self, matrix: Floats) -> Ball:
        """With a matrix of nonnegative numbers."""
        return Ball(self.mid @ matrix, self.rad @ matrix)

    def __getitem__(self, place: Any) -> Ball:
        return Ball(self.mid[place], self.rad[place])

    def sum(self, *axes: int) -> Ball:
        return Ball(self.mid.sum(axis=axes, keepdims=True), self.rad.sum(axis=axes, keepdims=True))


@dataclass(frozen=True)
class Chain:
    """A chain of so many records, and the record that is asked about.

    Attributes
    ----------
    count, record : int
    stationary : bool
        Whether the first record has the stationary law; else its law is a parameter.
    """

    count: int
    record: int
    stationary: bool

    @property
    def parameters(self) -> int:
        return 2 if self.stationary else 3


class Slopes(NamedTuple):
    """I(X_i; Y) in nats on each of several boxes, and its derivative for each parameter; nan where nothing is known."""

    leakage: Ball
    slopes: Ball


class _Step(NamedTuple):
    """One step of the chain, (boxes, from letter, to letter): its probabilities, and their derivatives for alpha and for beta."""

    probabilities: Ball
    alpha: Floats
    beta: Floats

    @classmethod
    def on(cls, low: Floats, high: Floats) -> _Step:
        moves = [Ball.of(low[:, j], high[:, j]) for j in (0, 1)]
        mid = np.array([[1.0 - moves[0].mid, moves[0].mid], [moves[1].mid, 1.0 - moves[1].mid]])
        rad = np.array([[moves[0].rad, moves[0].rad], [moves[1].rad, moves[1].rad]])
        alpha, beta = np.array([[-1.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, -1.0]])
        return cls(Ball(np.moveaxis(mid, 2, 0), np.moveaxis(rad, 2, 0)), alpha, beta)

    def after(self, lists: Ball) -> Ball:
        """sum over x of lists(x) P(x -> z), with derivatives: (boxes, letters, 1 + parameters, counts)."""
        mid = np.einsum("bxz,bxjs->bzjs", self.probabilities.mid, lists.mid)
        wide = np.abs(lists.mid) + lists.rad
        rad = np.einsum("bxz,bxjs->bzjs", self.probabilities.mid, lists.rad)
        rad += np.einsum("bxz,bxjs->bzjs", self.probabilities.rad, wide)
        for j, slope in ((1, self.alpha), (2, self.beta)):
            mid[:, :, j] += np.einsum("xz,bxs->bzs", slope, lists.mid[:, :, 0])
            rad[:, :, j] += np.einsum("xz,bxs->bzs", np.abs(slope), lists.rad[:, :, 0])
        return Ball(mid, rad)

    def before(self, lists: Ball) -> Ball:
        """sum over z of P(x -> z) lists(z), in the same form."""
        return _Step(
            Ball(self.probabilities.mid.swapaxes(1, 2), self.probabilities.rad.swapaxes(1, 2)),
            self.alpha.T,
            self.beta.T,
        ).after(lists)


def _counted(lists: Ball) -> Ball:
    """The same lists, one longer, where the letter itself is counted."""
    shape = (*lists.mid.shape[:-1], lists.mid.shape[-1] + 1)
    mid, rad = np.zeros(shape), np.zeros(shape)
    for letter in (0, 1):
        place = slice(letter, shape[-1] - 1 + letter)
        mid[:, letter, :, place], rad[:, letter, :, place] = lists.mid[:, letter], lists.rad[:, letter]
    return Ball(mid, rad)


def _start(chain: Chain, low: Floats, high: Floats) -> Ball:
    """The law of the first record, with derivatives: (boxes, letters, 1 + parameters, 1)."""
    boxes, parameters = low.shape
    mid, rad = np.zeros((boxes, 2, 1 + parameters, 1)), np.zeros((boxes, 2, 1 + parameters, 1))
    if chain.stationary:
        (a, c), (b, d) = low.T, high.T
        parts = [
            (a / (a + d), b / (b + c)),
            (c / (b + d) ** 2, d / (a + c) ** 2),
            (-b / (a + c) ** 2, -a / (b + d) ** 2),
        ]
    else:
        zero, one = np.zeros(boxes), np.ones(boxes)
        parts = [(low[:, 2], high[:, 2]), (zero, zero), (zero, zero), (one, one)]
    for j, ends in enumerate(parts):
        ball = Ball.of(*ends)
        mid[:, 1, j, 0], rad[:, 1, j, 0] = ball.mid, ball.rad
        mid[:, 0, j, 0], rad[:, 0, j, 0] = float(j == 0) - ball.mid, ball.rad
    return Ball(mid, rad)


def _convolved(first: Ball, second: Ball) -> Ball:
    """The convolution of lists over counts, with derivatives by the product rule."""
    if first.mid.shape[-1] > second.mid.shape[-1]:
        return _convolved(second, first)
    short, long = first.mid.shape[-1], second.mid.shape[-1]
    shape = (*first.mid.shape[:-1], short + long - 1)
    mid, rad = np.zeros(shape), np.zeros(shape)
    for s in range(short):
        here, place = first[..., s : s + 1], slice(s, s + long)
        for product, parts in (
            (here[..., :1, :] * second, slice(None)),
            (here[..., 1:, :] * second[..., :1, :], slice(1, None)),
        ):
            mid[..., parts, place] += product.mid
            rad[..., parts, place] += product.rad
    return Ball(mid, rad)


def _joint(chain: Chain, low: Floats, high: Floats) -> Ball:
    """P(X_i = x, s ones) with its derivatives, (boxes, letters, 1 + parameters, counts)."""
    step, before = _Step.on(low, high), _counted(_start(chain, low, high))
    for _ in range(chain.record):
        before = _counted(step.after(before))
    after = Ball(np.zeros_like(before.mid[..., :1]), np.zeros_like(before.mid[..., :1]))
    after.mid[:, :, 0] = 1.0
    for _ in range(chain.count - 1 - chain.record):
        after = step.before(_counted(after))
    return _convolved(before, after)


def joint_law(chain: Chain, point: Floats) -> Floats:
    """P(X_i = x, s ones), (2, count + 1), at a point.

    >>> joint_law(Chain(2, 0, stationary=True), np.array([0.25, 0.25])).tolist()
    [[0.375, 0.125, 0.0], [0.0, 0.125, 0.375]]
    """
    return _joint(chain, point[None], point[None]).mid[0, :, 0]


def slopes_of(chain: Chain, rows: Floats, low: Floats, high: Floats) -> Slopes:
    """The leakage of the release with these rows, (count + 1, outputs), on boxes (boxes, parameters), and its derivatives.

    >>> flip = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> point = np.array([[0.5, 0.5]])
    >>> slopes_of(Chain(1, 0, stationary=True), flip, point, point).leakage.mid.round(6).tolist()
    [0.130812]
    """
    law = _joint(chain, low, high)
    told, pi = law @ rows, law[:, :, :1].sum(3)
    u = told[:, :, :1]
    r, kept = u.sum(1), u.high > 0.0
    known = np.all((u.low > 0.0) | ~kept, axis=(1, 2, 3)) & np.all(pi.low > 0.0, axis=(1, 2, 3))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [u.low / (pi.high * r.high), u.high / (pi.low * r.low)]
        lift = Ball.of(*(np.log(np.where(kept & known[:, None, None, None], end, 1.0)) for end in ends))
    found = (told * lift).sum(1, 3)[:, 0, :, 0]
    found.mid[~known] = np.nan
    return Slopes(found[:, 0], found[:, 1:])


def letters_bound(chain: Chain, low: Floats, high: Floats) -> float:
    """The largest H(X_i) that the box allows, or log 2."""
    if not chain.stationary and chain.record:
        return math.log(2.0)
    ends = (low[2], high[2]) if not chain.stationary else (low[0] / (low[0] + high[1]), high[0] / (high[0] + low[1]))
    if (ends[0] - 0.5) * (ends[1] - 0.5) <= 0.0:
        return math.log(2.0)
    return max(float(binary_entropy(p)) for p in ends)


def window_bound(chain: Chain, low: Floats, high: Floats) -> tuple[float, int]:
    """The least bound of I(X_i; S) that a window around the record gives, and how many records it leaves out on either side.

    inf where it says nothing. The formula is that of docs/certificate-format.md.

    >>> box = np.array([0.01, 0.01])
    >>> bound, _ = window_bound(Chain(100_000, 50_000, stationary=True), box, box)
    >>> round(bound, 6)
    0.000496
    """
    mu = float(low[0] + low[1])
    room = min(chain.record, chain.count - 1 - chain.record)
    if not chain.stationary or float(high[0] + high[1]) > 1.0 - 1e-12:
        return math.inf, 0
    step = max(room // 4096, 1)
    bounds = _windows(chain, low, high, mu, np.arange(0.0, room + 1, step))
    best = int(np.argmin(bounds)) * step
    near = np.arange(max(best - step, 0), min(best + step, room) + 1.0)
    bounds = _windows(chain, low, high, mu, near)
    return float(bounds.min()), int(near[np.argmin(bounds)])


def _windows(chain: Chain, low: Floats, high: Floats, mu: float, left_out: Floats) -> Floats:
    """The bounds for these numbers of records that are left out on either side."""
    size, decay = chain.count - 2.0 * left_out, 1.0 - mu
    v = min(p * (1.0 - p) for p in (low[0] / (low[0] + high[1]), high[0] / (high[0] + low[1])))
    ratio = (2.0 - mu) / mu
    fourth = 1.0 + 2.0 * decay / mu + 12.0 * decay * (1.0 + decay) / mu**3
    b = 3.0 * ratio**2 / size**2 + fourth / (v * size**3)
    ends = decay ** (chain.record + 1.0) + decay ** float(chain.count - chain.record)
    tau = decay ** (left_out + 1.0) / (size * mu) + 0.5 * ends
    second = _second_moments(chain.count, left_out, mu, v)
    more = (1.0 - 3.0 * v) * b / v * np.array([[1.0 / 3.0], [0.1]])
    more[1] += 7.0 / 30.0 * (1.0 - 5.0 * v + 5.0 * v**2) / v**5 * _sixth_moments(size, mu, v)
    skew = np.sqrt((1.0 - 4.0 * v) * second * b / v) / 6.0
    bound = 0.5 * second + skew + more.min(axis=0) + binary_entropy(np.minimum(tau, 0.5))
    return np.where(tau < 0.5, bound, np.inf)


def _second_moments(count: int, left_out: Floats, mu: float, v: float) -> Floats:
    """E (E[Z | S] - pi)^2 / v at most, Z the share of ones in the window: that of Z itself, or by what is not in the window."""
    size, ratio = count - 2.0 * left_out, (2.0 - mu) / mu
    units = np.floor(count / (left_out + 2.0 / mu))
    known = (4.0 * left_out <= count) & (units >= 1.0)
    units = np.maximum(units, 1.0)
    outside = (np.sqrt(left_out * ratio / units) + left_out * np.exp(-0.15 * units) / math.sqrt(v)) ** 2
    inside = (count - 4.0 * left_out) * ratio + 2.0 * (1.0 - mu) / mu**2 + 4.0 * outside
    return np.minimum(ratio / size, np.where(known, inside / size**2, np.inf))


def _sixth_moments(size: Floats, mu: float, v: float) -> Floats:
    """E (Z - pi)^6 at most."""
    moves = size * mu
    three = 120.0 * v**3 * (1.0 + 1.0 / size) * (1.0 + 2.0 / size) / moves**3
    return three + 1080.0 * v**2 * (1.0 + 1.0 / size) / moves**4 + 720.0 * v / moves**5
