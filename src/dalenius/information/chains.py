"""Binary Markov chains: what a release of their number of ones reveals about one record, at a point and on boxes of their parameters.

Parameters are alpha = P(0 -> 1), beta = P(1 -> 0) and, where the first record may have any law, nu = P(X_0 = 1); else nu is the
stationary alpha/(alpha + beta). Everything is in doubles, with two ends each: a checker proves what is found (docs/theory.md,
Markov chains).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dalenius.information.arrays import Floats
from dalenius.information.entropies import binary_entropy

TRIED = 512  # numbers of blocks
RAREST = 1e-40  # moves a record, and variance of a record
BEYOND = (1e-4, 1e-6, 1e-8, 1e-10)  # probabilities that a first block is longer than what is tried


@dataclass(frozen=True)
class Span:
    """Numbers between two ends each."""

    low: Floats
    high: Floats

    @property
    def mid(self) -> Floats:
        return 0.5 * (self.low + self.high)

    @property
    def rad(self) -> Floats:
        return 0.5 * (self.high - self.low)

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Span:
        return Span(-self.high, -self.low)

    def __mul__(self, other: Span) -> Span:
        ends = [x * y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Span(np.minimum.reduce(ends), np.maximum.reduce(ends))

    def by(self, mass: Span) -> Span:
        """Times numbers that are not negative."""
        low = self.low * np.where(self.low < 0.0, mass.high, mass.low)
        return Span(low, self.high * np.where(self.high < 0.0, mass.low, mass.high))

    def __matmul__(self, matrix: Floats) -> Span:
        """With a matrix of numbers that are not negative."""
        return Span(self.low @ matrix, self.high @ matrix)

    def __getitem__(self, place: Any) -> Span:
        return Span(self.low[place], self.high[place])

    def sum(self, *axes: int) -> Span:
        return Span(self.low.sum(axis=axes, keepdims=True), self.high.sum(axis=axes, keepdims=True))


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
    def room(self) -> int:
        """Number of records beyond it on either side, at least."""
        return min(self.record, self.count - 1 - self.record)

    @property
    def parameters(self) -> int:
        return 2 if self.stationary else 3


class Slopes(NamedTuple):
    """I(X_i; Y) in nats on each of several boxes, and its derivative for each parameter; nan where nothing is known."""

    leakage: Span
    slopes: Span


class _Step(NamedTuple):
    """One step of the chain: the probabilities of its moves, each (boxes, 1, 1), by (from letter, to letter)."""

    moves: dict[tuple[int, int], Span]

    @classmethod
    def on(cls, low: Floats, high: Floats) -> _Step:
        ends = [Span(low[:, j, None, None], high[:, j, None, None]) for j in (0, 1)]
        stays = [Span(1.0 - one.high, 1.0 - one.low) for one in ends]
        return cls({(0, 0): stays[0], (0, 1): ends[0], (1, 0): ends[1], (1, 1): stays[1]})

    def after(self, lists: Span) -> Span:
        """sum over x of lists(x) P(x -> z), with derivatives: (boxes, letters, 1 + parameters, counts)."""
        found = [lists[:, 0].by(self.moves[0, z]) + lists[:, 1].by(self.moves[1, z]) for z in (0, 1)]
        mass = [lists[:, x, 0] for x in (0, 1)]
        return _with_changes(found, ((0, 1, -mass[0]), (1, 1, mass[0]), (0, 2, mass[1]), (1, 2, -mass[1])))

    def before(self, lists: Span) -> Span:
        """sum over z of P(x -> z) lists(z), in the same form."""
        found = [lists[:, 0].by(self.moves[x, 0]) + lists[:, 1].by(self.moves[x, 1]) for x in (0, 1)]
        change = lists[:, 1, 0] + -lists[:, 0, 0]
        return _with_changes(found, ((0, 1, change), (1, 2, -change)))


def _with_changes(lists: list[Span], changes: Sequence[tuple[int, int, Span]]) -> Span:
    """The lists of both letters as one, with what their derivatives have besides, by letter and derivative."""
    found = Span(np.stack([each.low for each in lists], axis=1), np.stack([each.high for each in lists], axis=1))
    for letter, j, change in changes:
        found.low[:, letter, j] += change.low
        found.high[:, letter, j] += change.high
    return found


def _counted(lists: Span) -> Span:
    """The same lists, one longer, where the letter itself is counted."""
    shape = (*lists.low.shape[:-1], lists.low.shape[-1] + 1)
    low, high = np.zeros(shape), np.zeros(shape)
    for letter in (0, 1):
        place = slice(letter, shape[-1] - 1 + letter)
        low[:, letter, :, place], high[:, letter, :, place] = lists.low[:, letter], lists.high[:, letter]
    return Span(low, high)


def _start(chain: Chain, low: Floats, high: Floats) -> Span:
    """The law of the first record, with derivatives: (boxes, letters, 1 + parameters, 1)."""
    boxes, parameters = low.shape
    found = Span(np.zeros((boxes, 2, 1 + parameters, 1)), np.zeros((boxes, 2, 1 + parameters, 1)))
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
    for j, (least, most) in enumerate(parts):
        found.low[:, 1, j, 0], found.high[:, 1, j, 0] = least, most
        found.low[:, 0, j, 0], found.high[:, 0, j, 0] = float(j == 0) - most, float(j == 0) - least
    return found


def _convolved(first: Span, second: Span) -> Span:
    """The convolution of lists over counts, with derivatives by the product rule."""
    if first.low.shape[-1] > second.low.shape[-1]:
        return _convolved(second, first)
    short, long = first.low.shape[-1], second.low.shape[-1]
    shape = (*first.low.shape[:-1], short + long - 1)
    low, high = np.zeros(shape), np.zeros(shape)
    for s in range(short):
        here, place = first[..., s : s + 1], slice(s, s + long)
        product = second.by(here[..., :1, :])
        low[..., place] += product.low
        high[..., place] += product.high
        product = here[..., 1:, :].by(second[..., :1, :])
        low[..., 1:, place] += product.low
        high[..., 1:, place] += product.high
    return Span(low, high)


@np.errstate(
    divide="ignore", over="ignore", invalid="ignore"
)  # of numbers whose squares are 0 as doubles nothing is known
def _joint(chain: Chain, low: Floats, high: Floats) -> Span:
    """P(X_i = x, s ones) with its derivatives, (boxes, letters, 1 + parameters, counts)."""
    step, before = _Step.on(low, high), _counted(_start(chain, low, high))
    for _ in range(chain.record):
        before = _counted(step.after(before))
    after = Span(np.zeros_like(before.low[..., :1]), np.zeros_like(before.low[..., :1]))
    after.low[:, :, 0] = after.high[:, :, 0] = 1.0
    for _ in range(chain.count - 1 - chain.record):
        after = step.before(_counted(after))
    return _convolved(before, after)


def joint_law(chain: Chain, point: Floats) -> Floats:
    """P(X_i = x, s ones), (2, count + 1), at a point, or at each of several points (points, parameters).

    >>> joint_law(Chain(2, 0, stationary=True), np.array([0.25, 0.25])).tolist()
    [[0.375, 0.125, 0.0], [0.0, 0.125, 0.375]]
    """
    points = np.atleast_2d(point)
    laws = _joint(chain, points, points).mid[:, :, 0]
    return laws[0] if point.ndim == 1 else laws


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
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
    other, kept = u[:, ::-1], u.high > 0.0
    known = np.all((u.low > 0.0) | ~kept, axis=(1, 2, 3)) & np.all(pi.low > 0.0, axis=(1, 2, 3))
    ends = [u.low / (pi.high * (u.low + other.high)), u.high / (pi.low * (u.high + other.low))]
    lift = Span(*(np.log(np.where(kept & known[:, None, None, None], end, 1.0)) for end in ends))
    found = (told * lift).sum(1, 3)[:, 0, :, 0]
    found.low[~known] = np.nan
    return Slopes(found[:, 0], found[:, 1:])


def letters_bound(chain: Chain, low: Floats, high: Floats) -> float:
    """The largest H(X_i) that the box allows, or log 2."""
    if chain.record if not chain.stationary else min(low[0] + high[1], high[0] + low[1]) == 0.0:  # as doubles
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
    if not chain.stationary or not _together(low, high):
        return math.inf, 0
    return _best_window(chain, low, high, mu, chain.room)


def blocks_bound(chain: Chain, low: Floats, high: Floats) -> tuple[float, int]:
    """Bound on the leakage about a record as one of many that begin alike, near an end, say, and how many: on I(X_i; S), or inf.

    The formula is that of docs/certificate-format.md.

    >>> box = np.array([0.01, 0.01])
    >>> bound, _ = blocks_bound(Chain(100_000, 3, stationary=True), box, box)
    >>> round(bound, 5)
    0.00066
    """
    near = chain.room
    if not chain.stationary or not _together(low, high) or chain.count - near < 2:
        return math.inf, 1
    mu, least = float(low[0] + low[1]), 1.0 - float(high[0] + high[1])
    count = np.unique(np.geomspace(1, chain.count - near - 1, TRIED).astype(int)).astype(float)
    blocks = count + near
    room = np.maximum((chain.count - blocks) * mu / blocks, 1.0)
    missed = np.exp(-0.5 * blocks * (room - 1.0 - np.log(room))) / math.sqrt(_least_variance(low, high))
    bounds = (np.sqrt((1.0 + 2.0 * (1.0 - mu) * (1.0 - least**near)) / count) + missed) ** 2
    bounds[room <= 1.0 + 1e-9] = np.inf
    best = int(np.argmin(bounds))
    return float(bounds[best]), int(count[best])


def after_bound(chain: Chain, low: Floats, high: Floats) -> tuple[float, int, int]:
    """The window of what follows the first block of a chain from any start: a bound or inf, that block's most records, the margin.

    >>> box = np.array([0.01, 0.01, 0.0])
    >>> bound, within, _ = after_bound(Chain(100_000, 50_000, stationary=False), box, box)
    >>> round(bound, 5), within
    (0.0005, 684)
    """
    mu = float(low[0] + low[1])
    stays = (1.0 - mu) ** chain.record
    best = math.inf, 1, 0
    if chain.stationary or not _together(low, high) or stays > 0.5:
        return best
    for beyond in BEYOND:
        within = max(math.ceil(math.log(beyond) / math.log1p(-mu)), 1)
        rest = Chain(chain.count - within, chain.record - within, stationary=True)
        if rest.room < 0:
            continue
        bound, left_out = _best_window(rest, low, high, mu, min(rest.room, rest.count // 6))
        bound += ((1.0 - mu) ** within + stays) * math.log(2.0) + float(binary_entropy(stays))
        best = min(best, (bound, within, left_out))
    return best


def _together(low: Floats, high: Floats) -> bool:
    """True if chains of the box move no more often than independent records do, and not so rarely that doubles lose powers of it."""
    rarely = float(low[0] + low[1]) < RAREST or _least_variance(low, high) < RAREST
    return float(high[0] + high[1]) <= 1.0 - 1e-12 and not rarely


def _least_variance(low: Floats, high: Floats) -> float:
    return min(float(p * (1.0 - p)) for p in (low[0] / (low[0] + high[1]), high[0] / (high[0] + low[1])))


def _best_window(chain: Chain, low: Floats, high: Floats, mu: float, room: int) -> tuple[float, int]:
    """The least bound with at most `room` records left out on either side."""
    step = max(room // 4096, 1)
    bounds = _windows(chain, low, high, mu, np.arange(0.0, room + 1, step))
    best = int(np.argmin(bounds)) * step
    near = np.arange(max(best - step, 0), min(best + step, room) + 1.0)
    bounds = _windows(chain, low, high, mu, near)
    return float(bounds.min()), int(near[np.argmin(bounds)])


@np.errstate(over="ignore")  # what is too large for doubles says nothing
def _windows(chain: Chain, low: Floats, high: Floats, mu: float, left_out: Floats) -> Floats:
    """The bounds for these numbers of records that are left out on either side."""
    size, decay = chain.count - 2.0 * left_out, 1.0 - mu
    v = _least_variance(low, high)
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
