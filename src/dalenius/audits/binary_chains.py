"""Markov chains of two letters: derivatives and closed forms race with the bounds of chains of several letters, on the same boxes.

*Why*: with few records I(X_i; Y) and its derivatives are enclosed on a box, and a mean value bounds it there; with many, X_i is nearly
like any other record of a long window, so that it tells what the share of ones in the window does (docs/theory.md, Markov chains).
*From below*: the best point that was met; of very long chains in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import NDArray

from dalenius.audits.chains import Bound, Box, ChainAudit, ChainLeaf, Kind, Point, Range, is_expanded, leaf_of, texts
from dalenius.evidence import Upper
from dalenius.evidence.upper import AfterLeaf, BlocksLeaf, LettersLine, SlopeLeaf, WindowLeaf
from dalenius.exact import between
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.information.chains import (
    Chain,
    after_bound,
    blocks_bound,
    joint_law,
    letters_bound,
    slopes_of,
    window_bound,
)
from dalenius.information.letter_chains import LetterChain
from dalenius.model import MarkovChain
from dalenius.model.adversaries.chains import inputs_by_ones, two_sided

BATCH, BOXES = 32, 960  # boxes that are halved at once: so many at most, and of longer chains so many records together
SLACK = 0.02  # of what slopes add: a checker's enclosures may be a little wider
CHECKED = (1.2e-3, 3e-4, 1.8e-5)  # seconds that checking a leaf takes: for itself, a record, and a pair of records
PATIENCE = 4.0  # leaves by derivatives that there must be time to check
CLOSE = 1e-4  # beside what a window proves of a single point
GRID = 3  # points of each parameter that are tried where no box gives any
PLACES = ((0, 1), (1, 0), (2, 1))  # of P(0 -> 1), P(1 -> 0) and P(X_0 = 1) among the groups of a chain of letters


class TwoBox(Box):
    """With a parameter for each group: what of it is the other letter's follows."""

    @classmethod
    def of_ranges(cls, ranges: Sequence[Range]) -> Self:
        """The box of these ranges of the parameters."""
        lows, highs = (_at([ends[side] for ends in ranges]) for side in (0, 1))
        groups = (zip(map(min, *pair), map(max, *pair), strict=True) for pair in zip(lows, highs, strict=True))
        return cls(tuple(map(tuple, groups)), PLACES[: len(ranges)])

    @property
    def ranges(self) -> tuple[Range, ...]:
        return tuple(self.groups[group][letter] for group, letter in self.places)

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """Of the parameters, as doubles."""
        low, high = np.array([[float(end) for end in ends] for ends in self.ranges]).T
        return low, high

    @property
    def middle(self) -> Point:
        return _at([between(*ends) for ends in self.ranges])


@dataclass
class _Record(Kind):
    """With the leakages of the points that were met."""

    floor: float = 0.0  # what closed forms say of the lowest corner: they say no less of any box
    known: dict[Point, float] = field(default_factory=dict)

    @property
    def two(self) -> Chain:
        return _two(self.chain)


@dataclass
class MarkovChainAudit(ChainAudit[_Record]):
    """A running audit against `MarkovChain`."""

    whole: TwoBox = field(init=False)

    def __post_init__(self) -> None:
        problem, adversary = self.problem, self.problem.adversary
        assert isinstance(adversary, MarkovChain)
        self.count, self.short = len(problem.records), problem.route.whole
        if self.short and two_sided(problem.query, problem.mechanism) is not None:
            self.short = PATIENCE * self._checked <= self.clock.left  # what has a closed form need not be written out
        self.inputs = inputs_by_ones(problem.query, problem.records)
        if self.short:
            self.rows = problem.channel[self.inputs]
        self.whole = TwoBox.of_ranges(adversary.box)
        for record in adversary.records_of(problem.records):
            chain = LetterChain(self.count, record, (0, 1), adversary.stationary)
            mirrored = adversary.record is None and adversary.stationary and 2 * record != self.count - 1
            times = 2 if mirrored else 1
            self.records.append(_Record(chain, self._by_letters(chain), self._corner(0), times=times))

    def _corner(self, side: int) -> Point:
        return _at([ends[side] for ends in self.whole.ranges])

    @property
    def enough(self) -> float:
        """No leaf needs a smaller bound, or none can have one: where bounds are windows, no box has a smaller one than its points."""
        return max(super().enough, (1.0 + CLOSE) * max((kind.floor for kind in self.records), default=0.0))

    def _in_order(self) -> list[_Record]:
        return sorted(self.records, key=lambda each: -each.two.room)

    def _batch(self, kind: _Record) -> int:
        """Of long chains fewer at once: what they take grows with the length, and nobody looks at the clock meanwhile."""
        return int(np.clip(BOXES // self.count, 1, BATCH)) if self.checking <= self.clock.left else 0

    def _begin(self, kind: _Record) -> None:
        """Points of a grid, where no box is evaluated at one, and the first leaf."""
        if not self.short:
            low = self.whole.ends[0]
            kind.floor = _in_closed_form(kind.two, low, low).value
        known = self.best  # the same chain reveals most about most records
        best = [known.point] if known is not None and known.lower > 0.0 else self._grid()
        self._try(kind, best if not self.short else (self._corner(0), self._corner(1)))
        leaves = self._leaves_of(kind, [self.whole], [kind.upper])
        self.checking += self._cost(kind, leaves)
        kind.tree.renew(leaves[0])

    def _grid(self) -> list[Point]:
        """Of long chains; from any start the stationary one is tried."""
        axes = [[lo + (hi - lo) * k / (GRID - 1) for k in range(GRID)] for lo, hi in self.whole.ranges]
        points = dict.fromkeys((x, y) for x in axes[0] for y in axes[1])
        return [_at((x, y) if len(axes) == 2 else (x, y, x / (x + y))) for x, y in points]

    def _try(self, kind: _Record, points: Sequence[Point]) -> None:
        new = [point for point in dict.fromkeys(points) if point not in kind.known]
        for point, (leakage, tilts) in zip(new, self._told(kind, new), strict=True):
            kind.known[point] = leakage
            if leakage > kind.lower:
                kind.lower, kind.point, kind.tilts = leakage, point, tilts

    def _told(self, kind: _Record, points: Sequence[Point]) -> Iterator[tuple[float, tuple[float, float] | None]]:
        """The leakage at each point, and the tilts of a release that is not written out."""
        if self.short and points:
            laws = joint_law(kind.two, np.array([self._parameters(point) for point in points]))
            yield from ((float(leakage), None) for leakage in mutual_information(laws @ self.rows))
        elif points:
            epsilon = two_sided(self.problem.query, self.problem.mechanism)
            assert epsilon is not None
            yield from (tilted(self.count, kind.record, self._parameters(point), float(epsilon)) for point in points)

    def _parameters(self, point: Point) -> Floats:
        return np.array([float(x) for x in self.whole.numbers(point)])

    def _leaves_of(self, kind: _Record, boxes: Sequence[Any], most: Sequence[float]) -> list[ChainLeaf]:
        bounds = self._by_slopes(kind, boxes) if self.short else [Bound(math.inf, LettersLine())] * len(boxes)
        rest = [j for j, bound in enumerate(bounds) if self.short and not bound.value < most[j]]
        if rest and self.checking + len(rest) * self._expansion(kind) > self.clock.left:
            self.out_of_time, rest = True, []
        for j, bound in zip(rest, self._expanded(kind, [boxes[j] for j in rest]) if rest else (), strict=True):
            if bound.value < (known := bounds[j]).value:  # derivatives say better where to halve, if they say anything
                bounds[j] = bound if math.isinf(known.value) else bound._replace(parameter=known.parameter)
        leaves = list[ChainLeaf]()
        for box, bound in zip(boxes, bounds, strict=True):
            closed = _in_closed_form(kind.two, *box.ends)
            value, line, parameter = bound if bound.value < closed.value else (*closed[:2], bound.parameter)
            wide = _wide(box, 3 if self.short else 2) if parameter is None else parameter
            leaves.append(leaf_of(box, Bound(value, line, wide)))
        return leaves

    def _by_slopes(self, kind: _Record, boxes: Sequence[TwoBox]) -> list[Bound]:
        """Of each box the bound by derivatives."""
        low, high = (np.array(ends) for ends in zip(*(box.ends for box in boxes), strict=True))
        slopes = slopes_of(kind.two, self.rows, low, high).slopes
        found = [Bound(math.inf, LettersLine(), _wide(box)) for box in boxes]
        points = dict[int, Point]()
        known = np.all(np.isfinite(slopes.low) & np.isfinite(slopes.high), axis=1)
        for j in np.flatnonzero(known).tolist():
            points[j] = _at(
                [
                    a if a == b or g1 <= 0.0 else b if g0 >= 0.0 else between(a, b)
                    for (a, b), g0, g1 in zip(boxes[j].ranges, slopes.low[j], slopes.high[j], strict=True)
                ]
            )
        self._try(kind, [*points.values()])
        for j, point in points.items():
            least, largest, lo, hi, at = slopes.low[j], slopes.high[j], low[j], high[j], self._parameters(point)
            ends = np.stack([least * (lo - at), least * (hi - at), largest * (lo - at), largest * (hi - at)])
            added = np.maximum(ends.max(axis=0), 0.0)
            loose = added + (largest - least) * (hi - lo)
            bound = kind.known[point] + (1.0 + SLACK) * float(added.sum())
            place = int(np.argmax(loose)) if loose.max() > 0.0 else None
            found[j] = Bound(bound, SlopeLeaf(texts(boxes[j], point)), place)
        return found

    def _cost(self, kind: _Record, leaves: Sequence[ChainLeaf]) -> float:
        expansions = sum(map(is_expanded, leaves))
        seconds = expansions * self._expansion(kind) if expansions else 0.0
        return len(leaves) * self.clock.pace * self._checked + seconds

    @property
    def _checked(self) -> float:
        """Seconds that checking a leaf takes where nothing else is done."""
        of = CHECKED if self.short else CHECKED[:1]
        return sum(each * self.count**k for k, each in enumerate(of))

    def _law(self, kind: _Record) -> Floats:
        point = self._parameters(kind.point)
        return joint_law(kind.two, point) if self.short else count_law(self.count, kind.record, point)

    def _letters(self, chain: LetterChain, box: Box) -> float:
        assert isinstance(box, TwoBox)
        return letters_bound(_two(chain), *box.ends)

    def uppers(self) -> Iterator[Upper]:
        """As of all audits; what no letter exceeds is claimed as the double above it."""
        most = math.nextafter(math.log(2.0), 1.0)
        for end in super().uppers():
            yield replace(end, value=Fraction(most)) if (end.rounded or 0.0) > most else end


def _two(chain: LetterChain) -> Chain:
    return Chain(chain.count, chain.record, chain.stationary)


def _at(parameters: Sequence[Fraction]) -> Point:
    """The point of these parameters, as one of a chain of letters."""
    return tuple((1 - x, x) if letter else (x, 1 - x) for x, (_, letter) in zip(parameters, PLACES, strict=False))


def _in_closed_form(chain: Chain, low: Floats, high: Floats) -> Bound:
    """The least bound that needs no derivatives."""
    window, left_out = window_bound(chain, low, high)
    blocks, count = blocks_bound(chain, low, high)
    after, within, margin = after_bound(chain, low, high)
    found = [
        Bound(letters_bound(chain, low, high), LettersLine()),
        Bound(window, WindowLeaf(left_out)),
        Bound(blocks, BlocksLeaf(count)),
        Bound(after, AfterLeaf(within, margin)),
    ]
    return min(found, key=lambda bound: bound.value)


def _wide(box: TwoBox, of: int = 3) -> int | None:
    """Of the first parameters the one whose range is widest beside its least value; None where the box is a point."""
    widths = [float(hi - lo) / max(float(lo), 1e-3) for lo, hi in box.ranges[:of]]
    return int(np.argmax(widths)) if max(widths) > 0.0 else None


# Stationary chains with very many records: a leakage from below in closed form, and the law of the count.


_Complex = NDArray[np.complex128]
ROUNDS, BITS = 30, 128  # of a ternary search; of balls


class Tilted(NamedTuple):
    """A lower bound of I(X_i; Y) in nats, and the slopes in y of the functions that prove it, for the letters 0 and 1."""

    leakage: float
    tilts: tuple[float, float]


def tilted(count: int, record: int, point: Floats, epsilon: float) -> Tilted:
    """Lower bound on the leakage of the number of ones with two-sided geometric noise about a record.

    It is the sum over x of pi_x max over t of t E_x Y - log E e^(tY), by D(P || M) >= E_P f - log E_M e^f (Donsker and
    Varadhan) with f(y) = t y; little is lost where Y is nearly normal.

    >>> round(tilted(100_000, 50_000, np.array([0.01, 0.01]), 0.5).leakage, 6)
    0.000495
    """
    alpha, beta = float(point[0]), float(point[1])
    pi, stay = alpha / (alpha + beta), 1.0 - alpha - beta
    near = 1.0 + stay * (2.0 - stay**record - stay ** (count - 1 - record)) / (1.0 - stay)
    tilts = [_best((letter - pi) * near, count, alpha, beta, epsilon) for letter in (0, 1)]
    return Tilted(_exactly(count, record, (alpha, beta), epsilon, tilts), (tilts[0], tilts[1]))


def _exactly(count: int, record: int, moves: tuple[float, float], epsilon: float, tilts: Sequence[float]) -> float:
    """The sum for given tilts, in balls: in doubles a matrix power of 10^5 steps is wrong by as many last digits."""
    with ctx.workprec(BITS):
        alpha, beta = map(arb, moves)
        pi, stay, q = alpha / (alpha + beta), 1 - alpha - beta, (-arb(epsilon)).exp()
        near = 1 + stay * (2 - stay**record - stay ** (count - 1 - record)) / (1 - stay)
        total = arb(0)
        for letter, share in ((0, 1 - pi), (1, pi)):
            t = arb(tilts[letter])
            step = arb_mat([[1 - alpha, alpha * t.exp()], [beta, (1 - beta) * t.exp()]])
            ones = step ** (count - 1) * arb_mat([[1], [1]])
            noise = (1 - q) ** 2 / ((1 - q * t.exp()) * (1 - q * (-t).exp()))
            mean = ((1 - pi) * ones[0, 0] + pi * t.exp() * ones[1, 0]) * noise
            total += share * (t * (count * pi + (letter - pi) * near) - mean.log())
        return float(total.mid())


def _best(shift: float, count: int, alpha: float, beta: float, epsilon: float) -> float:
    """t with the largest t shift - log E e^(t (Y - E Y)), |t| < epsilon, by ternary search: it is concave in t."""
    spread = count * (2.0 - alpha - beta) / (alpha + beta) * alpha * beta / (alpha + beta) ** 2
    reach = min(4.0 * abs(shift) / spread, 0.99 * epsilon)
    low, high = (0.0, reach) if shift >= 0.0 else (-reach, 0.0)

    def value(t: float) -> float:
        return t * shift - _log_mean(t, count, alpha, beta, epsilon)

    for _ in range(ROUNDS):
        left, right = low + (high - low) / 3.0, high - (high - low) / 3.0
        if value(left) < value(right):
            low = left
        else:
            high = right
    return float(np.float32(0.5 * (low + high)))  # few digits: a certificate writes it


def _log_mean(t: float, count: int, alpha: float, beta: float, epsilon: float) -> float:
    """log E e^(t (Y - E Y))."""
    pi = alpha / (alpha + beta)
    steps = np.array([[1.0 - alpha, alpha], [beta, 1.0 - beta]])
    tilt = np.array([math.exp(-t * pi), math.exp(t * (1.0 - pi))])
    ones = tilt * (np.linalg.matrix_power(steps * tilt, count - 1) @ np.ones(2))
    noise = (
        2.0 * math.log(-math.expm1(-epsilon)) - math.log(-math.expm1(t - epsilon)) - math.log(-math.expm1(-t - epsilon))
    )
    return math.log((1.0 - pi) * ones[0] + pi * ones[1]) + noise


def count_law(count: int, record: int, point: Floats) -> Floats:
    """P(X_i = x, s ones), (2, count + 1), by a Fourier transform: exact up to rounding.

    >>> count_law(2, 0, np.array([0.25, 0.25])).round(9).tolist()
    [[0.375, 0.125, 0.0], [0.0, 0.125, 0.375]]
    """
    alpha, beta = float(point[0]), float(point[1])
    pi = alpha / (alpha + beta)
    z = np.exp(-2j * np.pi * np.arange(count + 1) / (count + 1))
    step = (np.full(count + 1, 1.0 - alpha), alpha * z, np.full(count + 1, beta), (1.0 - beta) * z)
    sides = [_sums_of_power(step, k) for k in (record, count - 1 - record)]
    both = [share * left * right for share, left, right in zip((1.0 - pi, pi * z), *sides, strict=True)]
    return np.maximum(np.fft.ifft(both, axis=1).real, 0.0)


def _sums_of_power(matrix: tuple[_Complex, ...], exponent: int) -> tuple[_Complex, _Complex]:
    """The row sums of powers of 2 x 2 matrices, entry by entry: (1, 1) is multiplied by squares."""
    one = np.ones_like(matrix[1])
    sums = one, one
    a, b, c, d = matrix
    while exponent:
        if exponent % 2:
            sums = a * sums[0] + b * sums[1], c * sums[0] + d * sums[1]
        exponent //= 2
        both, trace = b * c, a + d
        a, b, c, d = a * a + both, b * trace, c * trace, d * d + both
    return sums
