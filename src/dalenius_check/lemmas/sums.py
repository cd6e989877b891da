"""Theorem B5: where nothing is known of a block, its sum reveals no more of a record than the largest divergence of a sum's row from
one law of the outputs, and a prior with one sum for each letter reveals as much as these rows; B6, of noise on a real scale noise
on whole numbers stands in, which reveals no less, and other one that reveals no more.

Hypotheses, each a line that refuses: all totals of the others are one piece, and nothing is known of the block (`sums_of`); every
value is looked at (`Sums.bound`); a letter's sum is one that the block can have with it (`Sums.told`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, ClassVar

from ..core.allowance import BALL, PAIR, Allowance, limit, rests_on
from ..core.arithmetic import arb, chosen, fmpq
from ..core.certificate import Lines, Sizes
from ..core.noise import NOISES, REAL, Noise, noise_of
from ..core.numbers import OpenError, at_most, need, summed, total, xlogx
from ..core.proof import Proof
from ..core.read import Reader, entries, integer, nonnegative, positive
from .histograms.series import Series, series
from .households.blocks import Blocks, Shape
from .real_noise import arctangent

KNOWN = " or ".join([*(kind for kind, noise in NOISES.items() if noise.clamps), *REAL])
_MOST = 1 << 20
_MANY = f"a block's sum with more than {_MOST} outputs"
Pairs = list[tuple[int, fmpq]]


class Shifts:
    """Rows that are one law, shifted by each value and clamped: `law` is from -D to D, and its ends have all that is beyond."""

    def __init__(self, law: Sequence[Any], places: Sequence[int], outputs: int, allowance: Allowance) -> None:
        self.allowance = allowance
        self.law = list(map(arb, law))
        self.places = places
        self.last = outputs - 1
        self.far = len(law) // 2
        self.tails = list(accumulate(reversed(self.law[self.far :])))[::-1]  # of 0 and more, ..., D and more

    def divergences(self, weights: Pairs) -> list[arb]:
        """Balls around D(R(k,.) || r) for every value k, r the mixture of rows with these weights.

        Bound because coefficients of a product are known from below, up to one error for all of them.
        """
        whole = total(w for _, w in weights)
        mixed = [(self.places[k], arb(w / whole)) for k, w in weights]
        noise = series(enumerate(self.law[1:-1], 1), 1, self.allowance)
        within = range(1, self.last)
        mixture = series(mixed, 1, self.allowance) * noise
        lost = {y: -r.log() for y, r in zip(within, self._between(mixture, within), strict=True)}
        for y in (0, self.last):
            lost[y] = -summed(p * self.tails[abs(y - place)] for place, p in mixed).log()
        inside = [(0, arb(0)), *((y, lost[y].max(arb(0))) for y in within)]
        costs = self._between(series(inside, _above(lost.values()), self.allowance) * noise, self.places)
        sums = [arb(0), *accumulate(map(xlogx, self.law))]
        found = list[arb]()
        for v, cost in zip(self.places, costs, strict=True):
            own = sums[self.far + self.last - v] - sums[self.far + 1 - v]
            ends = [(self.tails[abs(y - v)], lost[y]) for y in (0, self.last)]
            found.append(own + cost + summed(xlogx(x) + x * loss for x, loss in ends))
        return found

    def _between(self, product: Series, places: Sequence[int]) -> list[arb]:
        """Coefficients of a product with the law there, its ends being left out."""
        numbers = product.units(2 * self.far + self.last + 1)
        return [(arb(numbers[self.far + y]) + product.slack) / (1 << product.bits) for y in places]


def _above(values: Iterable[arb]) -> int:
    """A whole number that is no less than the sum of these, each at least 0."""
    found = summed(value.max(arb(0)) for value in values).upper().ceil().unique_fmpz()
    if found is None:
        raise OpenError("what outputs lose is not known")
    return int(found)


@dataclass(frozen=True)
class WholeNoise:
    """Noise on whole numbers that reveals no less than a block's own, but for `lost`, and one that reveals no more.

    Of a witness whose values have an entropy H the latter proves `more` times what it says, less (more - 1) H and `off`.
    """

    above: Noise
    below: Noise
    lost: arb
    more: arb
    off: arb

    @staticmethod
    def of(noise: Noise, letters: int) -> WholeNoise:
        """That in the place of a block's noise, of records of at most so many letters."""
        zero = arb(0)
        if not noise.real:
            return WholeNoise(noise, noise, zero, arb(1), zero)
        s: fmpq = noise.table["scale"]
        if noise.falls:
            own = noise_of({"kind": "discrete_laplace", "epsilon": 1 / s})
            return WholeNoise(own, own, zero, (arb(1 / (2 * s)).exp() + arb(-1 / (2 * s)).exp()) / 2, zero)
        need(s >= 2, "sums are known of gaussian noise of a scale of at least 2")
        first, second = s - 1 / s, s + 1 / s
        above, below = (noise_of({"kind": "discrete_gaussian", "scale": x, "range": None}) for x in (first, second))
        far = (s * s - first * first) * first * first / (s * s)
        most = arb(letters).log()
        lost = above.lost(letters) + most * (_rippled(far) + _rippled(first * first))
        return WholeNoise(
            above, below, lost, arb(1), most * (_rippled(second * second - s * s) + _rippled(second * second))
        )


def _rippled(variance: fmpq) -> arb:
    """Distance from 1, at most, of the sum of a normal density over shifted whole numbers; the variance is at least 1/2."""
    turn = 8 * arctangent(arb(1))
    return 3 * (-turn * turn * variance / 2).exp()


class Sums(Proof):
    """A block by its sum: the line of a prior, or the one line that bounds what all its records are told."""

    first: ClassVar[Sizes] = {"sums": 3}

    def __init__(self, lines: Lines, blocks: Blocks, shape: Shape) -> None:
        super().__init__(lines, blocks.allowance)
        rests_on(self.allowance, "B5")
        self.blocks = blocks
        self.shape = shape
        self.values = blocks.listed(shape)
        self.whole = WholeNoise.of(blocks.noise, max(shape.alphabets))
        if blocks.noise.real:
            rests_on(self.allowance, "B6")

    def _divergences(self, noise: Noise, weights: Pairs) -> list[arb]:
        """Of every value, at twice the precision."""
        span, first = self.values[-1] - self.values[0], self.values[0]
        outputs, size = span + 2 * noise.margin + 1, 2 * (span + noise.margin) + 1
        limit(outputs <= _MOST, _MANY)
        self.allowance.soon((outputs + size) / 1e5)
        with (
            self.allowance.holding(12 * (outputs + size) * BALL),
            chosen().workprec(2 * chosen().precision()),
        ):
            law = noise_of(noise.alone([-span, span])).rows([-span, 0, span], self.allowance)[1]
            self.allowance.look()
            places = [v - first + noise.margin for v in self.values]
            return Shifts(law, places, outputs, self.allowance).divergences(weights)

    def told(self, item: list[Any]) -> tuple[str, arb]:
        i = integer(item[1], "the record", 0, len(self.shape.alphabets) - 1)
        letters, others = self.blocks.beside(self.shape, i)
        self.allowance.room(len(others) * PAIR)
        pairs = [self._pair(pair, nonnegative) for pair in entries(item[2], "the letters' sums", len(letters))]
        known = set(others)
        weights = dict[int, fmpq]()
        for letter, (k, w) in zip(letters, pairs, strict=True):
            need(not w or self.values[k] - letter in known, f"the others do not add up to {self.values[k] - letter}")
            weights[k] = weights.get(k, fmpq(0)) + w
        used = [(k, w) for k, w in weights.items() if w]
        need(bool(used), "the letters' sums have total weight zero")
        far, whole = self._divergences(self.whole.below, used), total(w for _, w in used)
        mean = summed(arb(w / whole) * far[k] for k, w in used)
        entropy = -summed(xlogx(arb(w / whole)) for _, w in used)
        told = self.whole.more * mean - (self.whole.more - 1) * entropy - self.whole.off
        return f"a sum for each letter of record {i}", told

    def _pair(self, value: Any, number: Reader) -> tuple[int, fmpq]:
        k, w = entries(value, "a value and its weight", 2)
        return integer(k, "the value", 0, len(self.values) - 1), number(w, "a weight")

    def bound(self, upper: arb) -> int:
        """One line for all records, whatever their letters."""
        weights, upper = self.lines.item("the sums", {"sums": 2})[1], upper - self.whole.lost
        self.tally["sums"] += 1
        if weights is None:
            at_most(arb(max(self.shape.alphabets)).log(), upper, "the letters' entropy <= upper")
            return 1
        pairs = [self._pair(pair, positive) for pair in entries(weights, "the weights")]
        need(bool(pairs) and all(a[0] < b[0] for a, b in pairwise(pairs)), "values must ascend, and be at least one")
        for far in self._divergences(self.whole.above, pairs):
            at_most(far, upper, "the divergence of a value's row <= upper")
        return 1


def sums_of(lines: Lines, blocks: Blocks, shape: Shape) -> Sums:
    """The proof that such lines are; refused where they say nothing."""
    known = blocks.by_sum and len(blocks.listed(shape)) > 1
    need(known, f"sums are known of a count or a sum with {KNOWN} noise, where no entropy is asked for")
    return Sums(lines, blocks, shape)
