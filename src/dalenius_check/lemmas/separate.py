"""Theorems U1 and U2, for a channel that keeps its input or makes it any other alike: psi_a is at most nu + sum_y max over w of
f_y(w) - nu w; and no more than one weight of a best law is where f_y is convex.

Hypotheses, each a line that refuses: the channel is such a one, and no outputs are grouped (`RowTree._separate`); of a letter
that lacks inputs what is there is added, the pieces of a large weight are where f_y is convex, from w_0 to 1 (`separated`);
each output's maximum is enclosed (`_Output`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from ..core.allowance import rests_on
from ..core.arithmetic import arb, chosen, fmpq
from ..core.arithmetic.vectors import larger
from ..core.bounds import Joint
from ..core.numbers import OpenError, largest, need, xlogx

_STEPS = 64
Piece = tuple[fmpq, fmpq]  # of a large weight: where it ends, and the multiplier


def separated(
    leaf: Joint, a: int, scores: list[arb], nu: fmpq, pieces: Sequence[Piece], entries: tuple[Any, Any]
) -> arb:
    """psi of letter a, of a channel with these entries where input and output are the same, and elsewhere.

    Bound because K(y) = c + (d - c) w(y), so that without the condition that weights add up to 1, of which nu is the multiplier,
    each output has a maximum of its own. Of two weights where f is convex one could grow as the other falls, and all would rise; so a
    best law has one such weight, in one of the pieces and at the larger end there, or none.
    """
    right, wrong = entries
    allowance = leaf.record.channel.allowance
    rests_on(allowance, "U2" if pieces else "U1")
    absent = len(leaf.record.channel.rows) - len(leaf.record.inputs[a])
    alike = _alike(leaf, a, scores)

    def parts(multiplier: fmpq) -> list[_Output]:
        return [_Output(leaf, right, wrong, slope - multiplier) for _, slope in alike]

    def each(work: Callable[[_Output], arb], listed: list[_Output]) -> list[arb]:
        found = list[arb]()
        for part in listed:
            allowance.look()
            found.append(work(part))
        return found

    def total(multiplier: fmpq, maxima: Sequence[arb]) -> arb:
        result = arb(multiplier) + absent * leaf.theta * xlogx(arb(wrong))
        for (times, _), most in zip(alike, maxima, strict=True):
            result += times * most
        return result

    if not pieces:
        return total(nu, each(_Output.most, parts(nu)))
    small = parts(nu)
    begin = small[0].turn()
    need(all(arb(end) > begin for end, _ in pieces), "pieces must end above w_0")
    need(pieces[-1][0] == 1, "the last piece must end at 1")
    result = total(nu, each(_Output.small, small))
    for end, multiplier in pieces:
        listed = parts(multiplier)
        maxima = each(_Output.small, listed)
        ends = [larger(part.value(begin), part.value(arb(end))) for part in listed]
        large = largest([most - small for most, small in zip(ends, maxima, strict=True)])
        result, begin = larger(result, total(multiplier, maxima) + large), arb(end)
    return result


def _alike(leaf: Joint, a: int, scores: list[arb]) -> list[tuple[int, arb]]:
    """Slopes of the outputs, each with their number; of those that are hardly different one stands for all."""
    alike = defaultdict[int, list[arb]](list)
    for (_, n), log, score in zip(leaf.record.pairs[a], leaf.record.logs[a], scores, strict=True):
        alike[n].append(score + leaf.mu * log)
    result = list[tuple[int, arb]]()
    for slopes in alike.values():
        both = reduce(lambda left, right: left.union(right), slopes)
        one = both.upper() - both.lower() < arb(1) / (1 << chosen().precision() // 2)
        result += [(len(slopes), both)] if one else [(1, slope) for slope in slopes]
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

        Bound because f is convex from w_0 on, so below the larger of both ends there.
        """
        end = self.theta * xlogx(self.right) + self.slope
        return larger(end, self.small())

    def small(self) -> arb:
        """No less than f(w) of any w up to w_0.

        Bound because f is concave there, so below its tangents.
        """
        turn = self.turn()
        if turn.is_zero():
            return self.theta * xlogx(self.wrong)
        z = self._place(turn.lower().fmpq())
        value = self.value(arb(z))
        slope = self._slope(z)
        return larger(value - arb(z) * slope, value + (turn - arb(z)) * slope)

    def turn(self) -> arb:
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

    def value(self, w: arb) -> arb:
        """f(w)."""
        return self.theta * xlogx(self.wrong + self.rise * w) - self.mu * xlogx(w) + w * self.slope

    def _slope(self, z: fmpq) -> arb:
        w = arb(z)
        return self.theta * self.rise * ((self.wrong + self.rise * w).log() + 1) - self.mu * (w.log() + 1) + self.slope
