"""Theorems M1 to M4: what a record of a chain of bits leaks, over a box of transitions: by enclosed slopes, by a window in the
middle, by blocks near an end; and from below by a straight line.

Hypotheses, each a line that refuses: the record is one that is asked about (`AnyChain.record`); a point is in its box
(`AnyChain.point`), and halves cover it (`_halve`); M2, M3: the start is stationary (`_window`, `_blocks`); M2: the window has
records on both sides (`_inside`); M3: alpha + beta is at most 1 (`_blocks`); M4: a path's line is given where the mechanism
counts ones (`_tilted`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from operator import mul
from typing import Any, ClassVar

from ...core.allowance import rests_on
from ...core.arithmetic import arb, fmpq
from ...core.arithmetic.vectors import larger
from ...core.certificate import Sizes
from ...core.model import Model
from ...core.numbers import at_most, bit_entropy, need, raised, root
from ...core.read import decimal, entries, integer
from ...core.verdict import Subject
from ..letter_chains import Walks
from ..letter_chains.bounds import Expansion
from ..letter_chains.letters import Letters, Point
from .chain import Chain, Slopes, pairs
from .spans import span

_KEPT = 8  # points of neighbouring boxes
Ends = list[tuple[fmpq, fmpq]]


class Chains(Walks[Chain]):
    """Chains of bits."""

    sizes: ClassVar[Sizes] = {"slope": 2, "window": 2, "blocks": 2, "after": 3, "letters": 1, "expansion": 3}

    def _told(self, i: int, point: Point, turns: Any) -> arb:
        if turns is None:
            return self.at(i, point)
        return self._tilted(i, point, [decimal(t, "t") for t in entries(turns, "t", 2)])

    def _tilted(self, i: int, point: Point, turns: list[fmpq]) -> arb:
        """A mean of t E_x - log Phi(t), by the chain's matrix.

        Bound because D(P || M) >= E_P f - log E_M e^f for every f (Donsker and Varadhan), here f(y) = t y.
        """
        rests_on(self.allowance, "M4")
        alpha, beta, *start = point
        pi = alpha / (alpha + beta)
        n = self.chain.size
        keep = arb(1 - alpha - beta)
        known, noise = self.chain.unbounded and start in ([], [pi]), self.chain.epsilon
        need(known, "a path with t needs a start with the stationary law, a count and geometric noise")
        spread = 1 + keep * (2 - _power(keep, i) - _power(keep, n - 1 - i)) / arb(alpha + beta)
        result = arb(0)
        for x, (share, t) in enumerate(zip((1 - pi, pi), turns, strict=True)):
            need(abs(t) < noise, "t must be less than epsilon in absolute value")
            mean = n * arb(pi) + arb(x - pi) * spread
            q = arb(-noise).exp()
            turn = arb(t).exp()
            steps = (arb(1 - alpha), arb(alpha) * turn, arb(beta), arb(1 - beta) * turn)
            a, b, c, d = raised(steps, n - 1, (arb(1), arb(0), arb(0), arb(1)), _product)
            phi = arb(1 - pi) * (a + b) + arb(pi) * turn * (c + d)
            phi *= (1 - q) * (1 - q) / ((1 - q * turn) * (1 - q / turn))
            result += arb(share) * (arb(t) * mean - phi.log())
        return result

    def _leaves(self, i: int) -> Mapping[str, Callable[..., arb]]:
        return {
            "slope": partial(self._slope, i, lru_cache(_KEPT)(partial(self.at, i))),
            "window": partial(self._window, i),
            "blocks": partial(self._blocks, i),
            "after": partial(self._after, i),
            "letters": partial(self._letters, i),
            "expansion": partial(self._expansion, i),
        }

    def at(self, i: int, point: Point) -> arb:
        """I where the parameters are these numbers."""
        return Letters(self.chain.lettered, i, _lettered(point)).information()

    def _slope(self, i: int, at: Callable[[Point], arb], box: Ends, value: Any) -> arb:
        """I at a point, and as much more as its derivatives allow (the mean value theorem)."""
        point = self.chain.point(value, box)
        result = at(point)
        moved = [j for j, (lo, hi) in enumerate(box) if lo != hi]
        slopes = Slopes(self.chain, i).over(box) if moved else []
        for j in moved:
            far = slopes[j].times(span(*(end - point[j] for end in box[j]))).high
            result += larger(arb(0), far) if far.is_finite() else arb("nan")
        return result

    def _window(self, i: int, box: Ends, value: Any) -> arb:
        """Leakage of the sum of all records about a record, by the share of ones in a window (docs/certificate-format.md)."""
        rests_on(self.allowance, "M2")
        need(self.chain.stationary, "a window needs a stationary start")
        return self._inside(integer(value, "the window's margin", 0), i, self.chain.size, box)

    def _inside(self, m: int, i: int, n: int, box: Ends) -> arb:
        """The same of so many records."""
        (a, b), (c, d) = box[:2]
        need(b + d <= 1, "a window needs alpha + beta at most 1")
        need(m <= i <= n - 1 - m, "the record is not in the window")
        size, mu = n - 2 * m, a + c
        v = min(p * (1 - p) for p in (a / (a + d), b / (b + c)))
        keep, rate = 1 - mu, (2 - mu) / mu
        fourth = 1 + 2 * keep / mu + 12 * keep * (1 + keep) / mu**3
        spread = 3 * rate * rate / size**2 + fourth / (v * size**3)
        tau = _power(arb(keep), m + 1) / arb(size * mu) + (_power(arb(keep), i + 1) + _power(arb(keep), n - i)) / 2
        at_most(tau, arb(1) / 2, "tau <= 1/2")
        mass, more = size * mu, 1 + fmpq(1, size)
        sixth = 120 * v**3 * more * (1 + fmpq(2, size)) / mass**3 + 1080 * v * v * more / mass**4 + 720 * v / mass**5
        high = (1 - 3 * v) * spread / (10 * v) + fmpq(7, 30) * (1 - 5 * v + 5 * v * v) * sixth / v**5
        second = self._second(m, n, mu, v)
        skew = arb((1 - 4 * v) * spread / v) * second
        return second / 2 + root(skew) / 6 + arb(min((1 - 3 * v) * spread / (3 * v), high)) + bit_entropy(tau)

    def _second(self, m: int, n: int, mu: fmpq, v: fmpq) -> arb:
        """A, a bound of the second moment over v."""
        size = n - 2 * m
        rate = (2 - mu) / mu
        keep = 1 - mu
        units = int(n / (m + 2 / mu))
        plain = arb(rate / size)
        if 4 * m > n or not units:
            return plain
        ends = root(arb(m * rate / units)) + m * (arb(fmpq(-3 * units, 20))).exp() / root(arb(v))
        less = (arb((n - 4 * m) * rate + 2 * keep / mu**2) + 4 * ends * ends) / size**2
        return -larger(-plain, -less)

    def _blocks(self, i: int, box: Ends, value: Any) -> arb:
        """Leakage of the sum about a record by the letters of so many blocks, which might stand in its place."""
        rests_on(self.allowance, "M3")
        (a, b), (c, d), n, times = *box[:2], self.chain.size, integer(value, "the number of blocks", 1)
        need(self.chain.stationary and b + d <= 1, "blocks need a stationary start, and alpha + beta at most 1")
        j = min(i, n - 1 - i)
        k = times + j
        room = (n - k) * (a + c) / k
        need(room > 1, "too many blocks for so few records")
        v = min(p * (1 - p) for p in (a / (a + d), b / (b + c)))
        first = (1 + 2 * (1 - a - c) * (1 - _power(arb(1 - b - d), j))) / times
        rest = (-k * (arb(room - 1) - arb(room).log()) / 2).exp()
        ends = root(first) + rest / root(arb(v))
        return ends * ends

    def _after(self, i: int, box: Ends, skipped: Any, value: Any) -> arb:
        """Leakage of the sum about a record by a window after the first block, of any start."""
        rests_on(self.allowance, "M3")
        t, m = integer(skipped, "the records before", 1), integer(value, "the window's margin", 0)
        n = self.chain.size - t
        keep = arb(1 - box[0][0] - box[1][0])
        need(
            not self.chain.stationary and 6 * m <= n, "a line 'after' needs any start, and a margin of at most a sixth"
        )
        late = _power(keep, i)
        at_most(late, arb(1) / 2, "lambda^i <= 1/2")
        return self._inside(m, i - t, n, box) + (_power(keep, t) + late) * arb(2).log() + bit_entropy(late)

    def _letters(self, i: int, box: Ends) -> arb:
        """The largest entropy of the record."""
        (a, b), (c, d) = box[:2]
        low, high = (a / (a + d), b / (b + c)) if self.chain.stationary else box[2] if i == 0 else (fmpq(0), fmpq(1))
        if 2 * low <= 1 <= 2 * high:
            return arb(2).log()
        return bit_entropy(arb(high if 2 * high < 1 else low))

    def _expansion(self, i: int, box: Ends, value: Any, bases: Any) -> arb:
        """Leakage about a record of a chain of letters, with two letters."""
        chain = self.chain.lettered
        rests_on(self.allowance, "M5")
        ranges = [ends for group in pairs(box) for ends in group]
        listed = [integer(e, "a base", 0, 1) for e in entries(bases, "the bases", 2)]
        return Expansion(chain, i, ranges, _lettered(self.chain.point(value, box)), listed).bound()


def _lettered(point: Point) -> Point:
    """The parameters of the chain of two letters."""
    return tuple(x for group in pairs([(x, x) for x in point]) for x, _ in group)


def _power(x: arb, times: int) -> arb:
    return raised(x, times, arb(1), mul)


def _product(left: tuple[arb, arb, arb, arb], right: tuple[arb, arb, arb, arb]) -> tuple[arb, arb, arb, arb]:
    (a, b, c, d), (e, f, g, h) = left, right
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


def subject(model: Model) -> Subject:
    """That of a model about a chain of bits."""
    chain = Chain(model)
    source = "of every number of ones"
    return Subject(lambda lines, _: Chains(lines, chain), model.most(), source)
