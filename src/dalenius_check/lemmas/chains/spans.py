"""Numbers between two ends, each of which is a ball: what wide ranges of factors leave of a sum of products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...core.arithmetic import arb, fmpq
from ...core.arithmetic.vectors import larger
from ...core.numbers import largest


class Span(NamedTuple):
    """The numbers from somewhere in `low` to somewhere in `high`."""

    low: arb
    high: arb

    def plus(self, other: Span) -> Span:
        """The sum."""
        return Span(self.low + other.low, self.high + other.high)

    def less(self, other: Span) -> Span:
        """The difference."""
        return Span(self.low - other.high, self.high - other.low)

    def by(self, factor: Span) -> Span:
        """The product with a factor that is not negative: its ends are those of products of ends."""
        return Span(-_most(-self.low, factor), _most(self.high, factor))

    def times(self, other: Span) -> Span:
        """The product: its ends are the least and the largest of products of ends."""
        ends = [x * y for x in self for y in other]
        return Span(-largest([-x for x in ends]), largest(ends))


def _most(x: arb, factor: Span) -> arb:
    """The largest product of a number with a factor that is not negative."""
    return x * factor.high if x >= 0 else x * factor.low if x <= 0 else larger(x * factor.low, x * factor.high)


def span(low: fmpq | int, high: fmpq | int) -> Span:
    """The numbers from one rational to another."""
    return Span(arb(low), arb(high))


def nothing() -> Span:
    """The number 0, of the arithmetic that is chosen."""
    return span(0, 0)


def added(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """The sums of two lists; what is not in a list is 0."""
    wide, short = (left, right) if len(left) >= len(right) else (right, left)
    return [*(x.plus(z) for x, z in zip(wide, short, strict=False)), *wide[len(short) :]]


def taken(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """The differences."""
    return added(left, [Span(-x.high, -x.low) for x in right])
