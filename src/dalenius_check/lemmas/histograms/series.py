"""Polynomials with coefficients >= 0 that are known from below, in integers, up to one error for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from operator import mul

from ...core.allowance import Allowance
from ...core.arithmetic import arb, chosen, fmpz_poly
from ...core.numbers import OpenError, raised, units

_PACE = 2e5  # coefficients of a product in a second


class Series:
    """Coefficients from n to n + off, in units of 2^-bits, n those of `whole`; their sum is at most `most`."""

    def __init__(self, whole: fmpz_poly, off: int, most: int, allowance: Allowance) -> None:
        self.whole = whole
        self.off = off
        self.most = most
        self.allowance = allowance
        self.bits = chosen().precision()

    def __mul__(self, other: Series) -> Series:
        """Bound because f g - m n = (f - m) g + m (g - n), for coefficients m <= f and n <= g, and the units are cut off once more."""
        self.allowance.soon((self.whole.degree() + other.whole.degree()) / _PACE)
        product = (self.whole * other.whole).coeffs()
        off = self.off * other.most + other.off * self.most + 1
        return Series(fmpz_poly([c >> self.bits for c in product]), off, self.most * other.most, self.allowance)

    def __add__(self, other: Series) -> Series:
        ours, theirs = (list(some.whole.coeffs()) for some in (self, other))
        size = max(len(ours), len(theirs))
        ours, theirs = (some + [0] * (size - len(some)) for some in (ours, theirs))
        both = [a + b for a, b in zip(ours, theirs, strict=True)]
        return Series(fmpz_poly(both), self.off + other.off, self.most + other.most, self.allowance)

    def __pow__(self, times: int) -> Series:
        return raised(self, times, Series(fmpz_poly([1 << self.bits]), 0, 1, self.allowance), mul)

    @cached_property
    def slack(self) -> arb:
        """From 0 to the error."""
        return arb(0).union(arb(self.off))

    def units(self, size: int) -> list[int]:
        """The first coefficients, from below."""
        found = list(map(int, self.whole.coeffs()))
        return found + [0] * (size - len(found))


def series(terms: Iterable[tuple[int, arb]], most: int, allowance: Allowance) -> Series:
    """The sum of these numbers c >= 0 times z^e; they add up to at most `most`."""
    sums = dict[int, arb]()
    for e, c in terms:
        sums[e] = sums[e] + c if e in sums else c
    low = [0] * (max(sums) + 1)
    off = 0
    for e, c in sums.items():
        below, above, _ = units(c, c)
        if below is None or above is None:
            raise OpenError("a coefficient is not known")
        low[e] = max(0, int(below))
        off = max(off, int(above) - low[e])
    return Series(fmpz_poly(low), off, most, allowance)


def constant(value: arb, most: int, allowance: Allowance) -> Series:
    """A number from 0 to `most`."""
    return series([(0, value)], most, allowance)
