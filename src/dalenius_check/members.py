"""Local protocols whose sets have each other input independently: unary encoding, and hashing with random functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import comb
from typing import Any

from .arithmetic import arb, fmpq
from .numbers import powers
from .read import entries, integer
from .reports import Means, Protocol, Ranges

_MAX_ORDER = 32


class Members(Protocol):
    """S has each other input with probability beta, independently."""

    def alpha(self) -> arb:
        return arb(1) / 2

    def beta(self) -> arb:
        """The probability of another input."""
        return 1 / (self.excess + 2)

    def outputs(self) -> int:
        return 1 << self.inputs

    def rows(self) -> list[list[Any]]:
        share = 1 / (self.factor + 1)
        size = self.inputs
        ups, downs = powers(share, size - 1), powers(1 - share, size - 1)
        zero = [up * down / 2 for up, down in zip(ups, reversed(downs), strict=True)]
        counts = [y.bit_count() for y in range(self.outputs())]
        return [[zero[m - 1] if y >> k & 1 else zero[m] for y, m in enumerate(counts)] for k in range(size)]

    def means(self, sizes: list[int], law: list[fmpq], how: Any, above: bool) -> Iterator[Means]:
        order, ranges = entries(how, "how", 2)
        order = integer(order, "the order", 1, _MAX_ORDER)
        listed = self.ranges(ranges, sizes)
        rest = set(range(len(sizes))) - {g for g, _, _ in listed}
        beta = self.beta()
        c = self.excess
        p = list(map(arb, law))
        raised = [powers(x, 2 * order) for x in p]
        sums = [sum((sizes[g] * raised[g][i] for g in rest), arb(0)) for i in range(2 * order + 1)]
        single = _cumulants(beta, 2 * order)
        for h in range(len(sizes)):
            self.allowance.look()
            left = [x - y for x, y in zip(sums, raised[h], strict=True)] if h in rest else sums
            own = [n - (g == h) for g, n in enumerate(sizes)]
            mean = c * beta * left[1]
            several = any(own[g] for g in rest)
            moments = _moments([a * b for a, b in zip(single, left, strict=True)]) if several else []
            within = arb(0)
            inside = arb(0)
            outside = arb(0)
            for b, x in self._tuples(listed, own, p, beta):
                within += b
                inside += b * self._log(1 + c * p[h] + x, mean, moments, above)
                outside += b * self._log(1 + x, mean, moments, above)
            missing = self.left_out(within, above)
            yield missing + inside, missing + outside

    def _tuples(self, listed: Ranges, own: Sequence[int], p: Sequence[arb], beta: arb) -> Iterator[tuple[arb, arb]]:
        """The tuples' probabilities, and what they add to c w(S)."""
        choices = []
        for g, low, high in listed:
            ups = powers(beta, own[g])
            downs = powers(1 - beta, own[g])[::-1]
            step = self.excess * p[g]
            shares = [comb(own[g], s) * ups[s] * downs[s] for s in range(own[g] + 1)]
            choices.append([(shares[s], step * s) for s in range(low, min(high, own[g]) + 1)])
        for chosen in product(*choices):
            self.allowance.look()
            weight, shift = arb(1), arb(0)
            for b, x in chosen:
                weight, shift = weight * b, shift + x
            yield weight, shift

    def _log(self, u: arb, mean: arb, moments: Sequence[arb], above: bool) -> arb:
        """A bound of the mean of log(u + c T), c times the mean of T and its central moments being given; none where T is 0.

        Bound because log(1 + z) is its expansion to an odd order less z^2n times an integral from 0 to (U/u)^2n / 2n.
        """
        if not moments:
            return u.log()
        last, middle = len(moments) - 1, u + mean
        ratios = powers(-self.excess / middle, last)
        least = powers(self.excess / u, last)[last]
        terms = (ratios[j] * moments[j] / j for j in range(2, last))
        expansion = middle.log() - sum(terms, arb(0))
        return expansion - moments[last] * least / last if above else expansion


class Hashing(Members):
    """A random function into buckets, and the input's bucket by randomised response: S is what the function maps there."""

    def take(self) -> None:
        self.buckets = self.table["buckets"]

    def alpha(self) -> arb:
        return (self.excess + 1) / (self.excess + self.buckets)

    def beta(self) -> arb:
        return arb(1) / self.buckets

    def outputs(self) -> int:
        return int(self.buckets ** (self.inputs + 1))

    def rows(self) -> list[list[Any]]:
        out = 1 / (self.buckets**self.inputs * (self.factor + self.buckets - 1))
        own = out * self.factor
        g = self.buckets
        outputs = [divmod(y, g) for y in range(self.outputs())]
        return [[own if h // g**k % g == b else out for h, b in outputs] for k in range(self.inputs)]


def _cumulants(beta: arb, most: int) -> list[arb]:
    """Of a number that is 1 with probability beta, else 0, from its central moments; the first, which is not needed, is 0."""
    other = 1 - beta
    pairs = zip(powers(other, most), powers(-beta, most), strict=True)
    central = [beta * up + other * down for up, down in pairs]
    found = [arb(0), arb(0)]
    for j in range(2, most + 1):
        found.append(
            central[j] - sum((comb(j - 1, i - 1) * found[i] * central[j - i] for i in range(2, j - 1)), arb(0))
        )
    return found


def _moments(cumulants: Sequence[arb]) -> list[arb]:
    """Central moments from cumulants."""
    found = [arb(1), arb(0)]
    for j in range(2, len(cumulants)):
        found.append(sum((comb(j - 1, i - 1) * cumulants[i] * found[j - i] for i in range(2, j + 1)), arb(0)))
    return found
