"""The largest means over all chains of a box, step by step.

They are in whole numbers of units of 2^-bits, rounded up at each step, so that they may be added and compared exactly. A number is
bounded from below by the mean of its negative. What is solved for at the point is a sum of exact multiples of what is given, and the
units are as much finer as these are large: of rare letters they are differences of numbers much larger than themselves. So they are
where an output is rare: squares of what it has in units are divided by its probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any

from .arithmetic import arb, chosen, fmpq
from .letter_chains import Box, LetterChain, Letters
from .letter_laws import inverse
from .numbers import OpenError, need

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
        """What the first record's letters lead to."""
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
