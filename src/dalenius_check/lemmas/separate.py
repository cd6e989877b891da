"""Theorem U1: psi_a <= nu + sum_y max over w of f_y(w) - nu w, for a channel that keeps its input or makes it any other alike.

Hypotheses, each a line that refuses: the channel is such a one, and no outputs are grouped (`RowTree._separate`); of a letter
that lacks inputs what is there is added (`separated`); each output's maximum is enclosed (`_Output`).
"""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from typing import Any

from ..core.allowance import rests_on
from ..core.arithmetic import arb, chosen, fmpq
from ..core.bounds import Joint
from ..core.numbers import OpenError, larger, largest, xlogx

_STEPS = 64


def separated(leaf: Joint, a: int, scores: list[arb], nu: fmpq, entries: tuple[Any, Any]) -> arb:
    """psi of letter a, of a channel with these entries where input and output are the same, and elsewhere.

    Bound because K(y) = c + (d - c) w(y), so that without the condition that the weights add up to 1, of which nu is the multiplier,
    each output has a maximum of its own.
    """
    right, wrong = entries
    rests_on(leaf.record.channel.allowance, "U1")
    inputs = leaf.record.inputs[a]
    record = leaf.record
    absent = len(record.channel.rows) - len(inputs)
    result = arb(nu) + absent * leaf.theta * xlogx(arb(wrong))
    alike = defaultdict[int, list[arb]](list)
    for (_, n), log, score in zip(record.pairs[a], record.logs[a], scores, strict=True):
        alike[n].append(score + leaf.mu * log - nu)
    for slopes in alike.values():
        both = reduce(
            lambda left, right: left.union(right), slopes
        )  # of outputs that have hardly different slopes one stands for all
        one = both.upper() - both.lower() < arb(1) / (1 << chosen().precision() // 2)
        for slope in (both,) if one else slopes:
            record.channel.allowance.look()
            result += (len(slopes) if one else 1) * _Output(leaf, right, wrong, slope).most()
    return result


class _Output:
    """f(w) = theta K log K - mu w log w + w slope, with K = c + (d - c) w, for weights w from 0 to 1."""

    def __init__(self, leaf: Joint, right: Any, wrong: Any, slope: arb) -> None:
        self.theta = arb(leaf.theta)
        self.mu = arb(leaf.mu)
        self.slope = slope
        self.right = arb(right)
        self.wrong = arb(wrong)
        self.rise = arb(right - wrong)
        rise = right - wrong
        # exact where the entries are
        self.over = rise * (leaf.theta * rise - leaf.mu)
        self.numerator = leaf.mu * wrong

    def most(self) -> arb:
        """No less than any f(w).

        Bound because f is concave up to w_0, so below its tangents there, and convex from there on, so below the larger of both ends.
        """
        turn = self._turn()
        end = self.theta * xlogx(self.right) + self.slope
        if turn.is_zero():
            return larger(self.theta * xlogx(self.wrong), end)
        z = self._place(turn.lower().fmpq())
        value = self._value(z)
        slope = self._slope(z)
        return largest([end, value - arb(z) * slope, value + (turn - arb(z)) * slope])

    def _turn(self) -> arb:
        """w_0."""
        if self.over <= 0 or (self.over > 0 and self.numerator >= self.over):
            return arb(1)
        if self.over > 0 and self.numerator < self.over:
            return arb(self.numerator / self.over)
        raise OpenError("it is open where an output's part of a row problem is concave")

    def _place(self, high: fmpq) -> fmpq:
        """Some z, 0 < z <= high, where f is nearly largest; it no longer rises there, or z = high."""
        low = fmpq(0)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            slope = self._slope(middle)
            low, high = (middle, high) if slope > 0 else (low, middle)
        return high

    def _value(self, z: fmpq) -> arb:
        w = arb(z)
        return self.theta * xlogx(self.wrong + self.rise * w) - self.mu * xlogx(w) + w * self.slope

    def _slope(self, z: fmpq) -> arb:
        w = arb(z)
        return self.theta * self.rise * ((self.wrong + self.rise * w).log() + 1) - self.mu * (w.log() + 1) + self.slope
