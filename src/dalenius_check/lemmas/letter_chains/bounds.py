"""Leakage of any chain of a box about a record, by that of one chain and the distance of its outputs from the others'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm
from typing import Any

from ...core.allowance import BALL
from ...core.arithmetic import arb, arb_vec, chosen, fmpq
from ...core.numbers import OpenError, need
from .letters import Box, LetterChain, Letters, Point, inverse


class Expansion:
    """The bound of a line `expansion` (docs/certificate-format.md)."""

    def __init__(self, chain: LetterChain, i: int, box: Box, point: Point, bases: list[int]) -> None:
        self.chain = chain
        self.i = i
        self.bases = bases
        k = chain.letters
        self.here = Letters(chain, i, point)
        self.point = point
        self.box = box
        self.wide = [a for a in range(k) if any(lo < hi for lo, hi in box[a * k : (a + 1) * k])]
        possible = [x > 0 or hi == 0 for x, (_, hi) in zip(point, box, strict=True)]
        need(all(possible[: k * k if i == 0 else None]), "the point has a 0 where others of its box have not")
        self.means = Means(chain, box, self.here)
        held = box[k * k :] if i == 0 and not chain.stationary else []
        self.letters = [x for x, inputs in enumerate(self.here.reached) if inputs and not (held and held[x][1] == 0)]

    def bound(self) -> arb:
        """I at the point, and as much more as others may reveal.

        Bound because D(W || theta) <= log(1 + sum (W - theta)^2 / theta), and no more than that of a row that W is a mixture of.
        """
        if not self.wide and (self.chain.stationary or all(lo == hi for lo, hi in self.box)):
            return self.here.information()
        states = self.chain.letters**2 * (self.chain.size * self.chain.most + 1)
        self.chain.allowance.room(2 * states * (1 + len(self.wide) * self.chain.letters) * BALL)
        return self._first_order() + self._second_order()

    def _first_order(self) -> arb:
        """The largest mean of what the outputs reveal at the point."""
        means, scale = self.means, self.means.scale
        high, visits = self._means()
        result = fmpq(0)
        if not self.chain.stationary:
            result += fmpq(means.start(high), scale)
            turn = [0] * self.chain.letters
        else:
            turn = means.solved(high)
            result += fmpq(means.moved(high, turn, means.same), scale)
        for a in self.wide:
            share = self._share(a) if self.chain.stationary else (0, 0)
            base = self.bases[a]
            for b in (b for b in range(self.chain.letters) if b != base):
                more = sorted(x * (turn[b] - turn[base]) for x in share)
                ends = [fmpq(more[0], scale) - visits[a, b, -1], fmpq(more[1], scale) + visits[a, b, 1]]
                at = a * self.chain.letters + b
                result += max(x * (end - self.point[at]) for x in ends for end in self.box[at]) / scale
        return arb(result)

    def _share(self, a: int, steps: int = 0) -> tuple[int, int]:
        """The least and the largest share of a letter, so many records after the first."""
        ends = list[int]()
        for sign in (-1, 1):
            values = [sign * self.means.scale * int(b == a) for b in range(self.chain.letters)]
            for _ in range(steps):
                values = [row.most(values) for row in self.means.rows]
            ends.append(sign * self.means.start(values))
        return ends[0], ends[1]

    def _means(self) -> tuple[Units, dict[tuple[int, int, int], int]]:
        """h, and the largest means m of both signs of what rows change, by row, letter and sign."""
        letters = range(self.chain.letters)
        means = self.means
        values = {sign: [[numbers for _ in letters] for numbers in self._told(sign)] for sign in (1, -1)}
        asked = [(a, b, sign) for a in self.wide for b in letters if b != self.bases[a] for sign in (1, -1)]
        changes = {key: [[[0] * len(row) for row in layer] for layer in values[1]] for key in asked}
        for j in reversed(range(self.chain.size)):
            if j == self.i:
                values = {sign: _merged(layers) for sign, layers in values.items()}
                changes = {key: _merged(layers) for key, layers in changes.items()}
            if j == 0:
                break
            for (a, b, sign), layers in changes.items():
                changes[a, b, sign] = [means.step(layer, means.rows) for layer in layers]
                for layer, more, less in zip(changes[a, b, sign], values[sign], values[-sign], strict=True):
                    layer[a] = self._added(layer[a], more, less, b, self.bases[a])
            values = {sign: [means.step(layer, means.same) for layer in layers] for sign, layers in values.items()}
        return means.first(values[1][0]), {key: means.start(means.first(layers[0])) for key, layers in changes.items()}

    def _added(self, held: Units, more: Layer, less: Layer, b: int, base: int) -> Units:
        """Numbers, each with what the letter b leads to and less what the base does, whose negatives `less` bounds."""
        f, g = self.chain.adds[b], self.chain.adds[base]
        return [x + more[b][s + f] + less[base][s + g] for s, x in enumerate(held)]

    def _told(self, sign: int) -> list[Units]:
        """phi, or the upper ends of its negative, by letter and total."""
        told = self._averaged(self.here.log)
        return [[self.means.up(sign * row[k]) for k in self.chain.inputs] for row in told]

    def _averaged(self, numbers: Callable[[int, int], arb]) -> list[list[arb]]:
        """By letter and row the row's mean of numbers of the letter and the output, of the pairs that there are."""
        columns = [[arb(0)] * self.chain.channel.outputs for _ in range(self.chain.letters)]
        for x in self.letters:
            for y in self.here.pairs(x):
                columns[x][y] = numbers(x, y)
        return [self.chain.channel.turned(arb_vec(column)).entries() for column in columns]

    def _second_order(self) -> arb:
        """The largest mean of how far the outputs are from those at the point."""
        here = self.here
        found = [arb(0)] * self.chain.letters
        pairs = [here.pairs(x) if x in self.letters else [] for x in range(self.chain.letters)]
        for y in sorted(set().union(*pairs)):
            layers = {sign: self._output(y, sign) for sign in (1, -1)}
            for x in (x for x in self.letters if y in pairs[x]):
                off = max(self._off(x, layers[sign], self.means.up(-sign * here.given[x][y])) for sign in (1, -1))
                found[x] += arb(fmpq(off, self.means.scale)) * arb(fmpq(off, self.means.scale)) / here.given[x][y]
        if self.i == 0:
            return self._weighed(self.means.start([self.means.up(x) for x in found]), 0)
        return self._divided(found)

    def _weighed(self, common: int, rare: int) -> arb:
        """log(1 + chi) of the common letters, and what the rare ones add."""
        return (1 + arb(fmpq(common, self.means.scale))).log() + arb(fmpq(rare, self.means.scale))

    def _divided(self, squares: list[arb]) -> arb:
        """Terms of common and rare letters, for the best division.

        Bound because log(1 + .) is concave, and the common letters' shares are positive and add up to at most 1; after a rare
        letter the outputs are a mixture of rows of totals that are possible at the point.
        """
        scale = self.means.scale
        logs = self._averaged(lambda x, y: self.here.given[x][y].log())
        ratios = dict[int, fmpq]()
        ways = dict[int, tuple[int, int]]()
        for x in self.letters:
            least, most = self._share(x, self.i)
            far = max(self.means.up(self.chain.channel.negentropies[k] - logs[x][k]) for k in self.here.reached[x])
            rare = -(-most * far // scale)
            chi = self.means.up(squares[x] * scale / least) if least > 0 else -1
            ratios[x], ways[x] = fmpq(-1) if chi < 0 else fmpq(rare, max(chi, 1)), (chi, rare)
        order = [ways[x] for x in sorted(ways, key=ratios.__getitem__)]
        first = sum(chi < 0 for chi, _ in order)  # so many can only be rare
        sums = [
            (sum(chi for chi, _ in order[m:]), sum(rare for _, rare in order[:m])) for m in range(first, len(order) + 1)
        ]
        return min((self._weighed(*each) for each in sums), key=lambda ball: ball.upper().fmpq())

    def _output(self, y: int, sign: int) -> Layer:
        """K_i."""
        column = [self.means.up(sign * row[y]) for row in self.chain.channel.rows]
        layer = [[column[k] for k in self.chain.inputs]] * self.chain.letters
        for _ in range(self.chain.size - 1 - self.i):
            layer = self.means.step(layer, self.means.rows)
        return layer

    def _off(self, x: int, layer: Layer, less: int) -> int:
        """d_x(y), of one sign."""
        if self.i == 0:
            return self.means.first(layer)[x] + less
        layer = [[z + less for z in row] if a == x else [0] * len(row) for a, row in enumerate(layer)]
        for _ in range(self.i):
            layer = self.means.step(layer, self.means.rows)
        return self.means.start(self.means.first(layer))


def _merged(layers: list[Layer]) -> list[Layer]:
    """Of layers by a record's letter one, of the letter itself."""
    return [[layer[a] for a, layer in enumerate(layers)]]


Units = list[int]  # by letter, or by total
Layer = list[Units]  # by the letter of a record, and the total up to it


class Rows:
    """The laws of a group of parameters: which of their means are largest."""

    def __init__(self, box: Box, bits: int) -> None:
        self.bits = bits
        scale = 1 << bits
        self.low = [int(lo.numerator) * scale // int(lo.denominator) for lo, _ in box]
        highs = [-(-int(hi.numerator) * scale // int(hi.denominator)) for _, hi in box]
        self.room, self.slack = [hi - lo for hi, lo in zip(highs, self.low, strict=True)], scale - sum(self.low)

    def most(self, values: Sequence[int]) -> int:
        """The largest mean.

        Bound because the ends are rounded outward, and the rest of the mass goes where the values are largest.
        """
        whole = sum(map(int.__mul__, self.low, values))
        left = self.slack
        for b in sorted(range(len(values)), key=values.__getitem__, reverse=True):
            if left <= 0:
                break
            part = min(self.room[b], left)
            whole, left = whole + part * values[b], left - part
        return -(-whole >> self.bits)


class Means:
    """The largest means over all chains of a box, and means of one of them."""

    def __init__(self, chain: LetterChain, box: Box, here: Letters) -> None:
        self.chain = chain
        self.here = here
        k = chain.letters
        self._turns = self._solution() if chain.stationary else []
        largest = max((abs(x) // below for row, below in self._turns for x in row), default=0)
        self.bits = chosen().precision() + largest.bit_length() + int(1 / here.least).bit_length() // 2
        self.scale = 1 << self.bits
        self.ranges = [box[a * k : (a + 1) * k] for a in range(k)]
        self.rows = [Rows(side, self.bits) for side in self.ranges]
        self.same = [Rows([(x, x) for x in row], self.bits) for row in here.rows]
        self._law = None if chain.stationary else Rows(box[k * k :], self.bits)

    def _solution(self) -> list[tuple[list[int], int]]:
        """Of each letter but the first the multiples of values that L is the sum of, over one denominator."""
        here, k = self.here, self.chain.letters
        others = inverse([[int(a == b) - here.rows[a][b] for b in range(1, k)] for a in range(1, k)])
        need(others is not None and min(here.start) > 0, "a letter has no share of the stationary law")
        assert others is not None
        found = list[tuple[list[int], int]]()
        for row in others:
            mean = sum(row, fmpq(0))
            exact = [x - mean * share for x, share in zip([fmpq(0), *row], here.start, strict=True)]
            below = lcm(*(int(x.denominator) for x in exact))
            found.append(([int(x.numerator) * (below // int(x.denominator)) for x in exact], below))
        return found

    def down(self, x: fmpq) -> int:
        """Units, rounded down."""
        return int(x.numerator) * self.scale // int(x.denominator)

    def up(self, x: Any) -> int:
        """Units of a number or a ball, rounded up."""
        ball = arb(x)
        if not ball.is_finite():
            raise OpenError("the expansion leaf's bound is open: a probability may be 0")
        return -self.down(-ball.upper().fmpq())

    def step(self, layer: Layer, rows: Sequence[Rows]) -> Layer:
        """The largest means one record earlier."""
        self.chain.allowance.look()
        size = len(layer[0]) - self.chain.most
        adds = self.chain.adds
        columns = list(zip(*(values[f : f + size] for f, values in zip(adds, layer, strict=True)), strict=True))
        return [[row.most(values) for values in columns] for row in rows]

    def first(self, layer: Layer) -> Units:
        """Values after the first record's letters."""
        return [values[f] for f, values in zip(self.chain.adds, layer, strict=True)]

    def solved(self, values: Units) -> Units:
        """L with L_a - sum_b c_ab L_b about values_a less their mean."""
        return [0, *(sum(map(int.__mul__, row, values)) // below for row, below in self._turns)]

    def moved(self, values: Units, turn: Units, rows: Sequence[Rows]) -> int:
        """The largest mean of values - turn + (the mean of turn one record later), over the letters.

        A stationary law gives values the same mean as these, whatever the turn.
        """
        return max(x - z + row.most(turn) for x, z, row in zip(values, turn, rows, strict=True))

    def start(self, values: Units) -> int:
        """The largest mean over the first record's laws."""
        return self._law.most(values) if self._law else self.moved(values, self.solved(values), self.rows)
