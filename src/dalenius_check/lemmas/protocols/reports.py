"""Local protocols: every output has a set S of inputs, R(k,y) = C_y E for k in S and C_y elsewhere, E = e^epsilon.

Under a law w of the inputs r(y) = C_y (1 + c w(S)), c = E - 1, so that divergences from it need no list of outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import comb, prod
from typing import Any

from ...core.allowance import BALL, Allowance, limit
from ...core.arithmetic import arb, fmpq
from ...core.numbers import in_nats, need, powers, summed
from ...core.read import entries, integer
from ...core.tables import MAX_INPUTS

_MAX_TUPLES = 1 << 22
Ranges = list[tuple[int, int, int]]  # a group, and the least and the largest number of its inputs that is summed over
Means = tuple[arb, arb]  # of log(v + c T), with the input itself in S, and without it


class Protocol:
    """A protocol on so many inputs, with E exactly where it is rational."""

    def __init__(self, table: dict[str, Any], inputs: int, allowance: Allowance) -> None:
        need(2 <= inputs <= MAX_INPUTS, f"mechanism: a local protocol needs from 2 to {MAX_INPUTS} values")
        need(table["k"] in (None, inputs), f"mechanism.k must be {inputs}, one for each value")
        self.table = table
        self.inputs = inputs
        self.allowance = allowance
        amount, unit = table["epsilon"]
        self.epsilon = arb(amount).log() if unit == "log" else in_nats(amount, unit)
        whole = unit == "bits" and amount.denominator == 1
        exact = amount if unit == "log" else fmpq(2) ** int(amount.numerator) if whole else fmpq(1)
        self.factor: Any = exact if unit == "log" or whole or amount == 0 else self.epsilon.exp()
        self.excess = arb(self.factor - 1)
        self.take()

    def take(self) -> None:
        """The other keys of the mechanism's table."""

    def outputs(self) -> int:
        """Number of outputs."""
        raise NotImplementedError

    def rows(self) -> list[list[Any]]:
        """The channel, written out; equal entries are one object."""
        raise NotImplementedError

    def divergences(self, law: Sequence[fmpq], how: Any, above: bool) -> list[arb]:
        """Bounds, from above or from below, of D(R(k,.) || the outputs' law under this one of the inputs), for every input k.

        Bound because of a report on k, which is in S with probability alpha, log(R / r) is epsilon [k in S] - log(1 + c w(S)).
        """
        numbers: dict[fmpq, int] = {}
        group = [numbers.setdefault(p, len(numbers)) for p in law]
        sizes = [group.count(g) for g in range(len(numbers))] if len(numbers) < 64 else _counted(group)
        self.allowance.room(3 * BALL * len(law))
        alpha = self.alpha()
        found = list[arb]()
        for inside, outside in self.means(sizes, list(numbers), how, above):
            found.append(alpha * (self.epsilon - inside) - (1 - alpha) * outside)
        return [found[g] for g in group]

    def alpha(self) -> arb:
        """The probability that S has the input."""
        raise NotImplementedError

    def means(self, sizes: list[int], law: list[fmpq], how: Any, above: bool) -> Iterator[Means]:
        """For an input of each group, of so many inputs with these probabilities: bounds of the means of log(1 + c w(S)).

        They are from below where the divergences are bounded from above.
        """
        raise NotImplementedError

    def ranges(self, value: Any, sizes: Sequence[int]) -> Ranges:
        """Ranges of the numbers of members summed over, of groups in ascending order."""
        found: Ranges = []
        for entry in entries(value, "the ranges"):
            g, low, high = entries(entry, "a range", 3)
            g = integer(g, "a group", 0, len(sizes) - 1)
            high = integer(high, "the end of a range", 0, sizes[g])
            found.append((g, integer(low, "the start of a range", 0, high), high))
        need(all(one[0] < other[0] for one, other in pairwise(found)), "the groups of ranges must ascend")
        tuples = prod(high - low + 1 for _, low, high in found) * len(sizes)
        limit(tuples <= _MAX_TUPLES, f"more than {_MAX_TUPLES} tuples of numbers of members")
        self.allowance.room(2 * BALL * sum(high - low + 1 for _, low, high in found))
        return found

    def left_out(self, within: arb, above: bool) -> arb:
        """Contribution of the rest of the probability to a mean: bound because log(v + c T) is from 0 to epsilon."""
        return arb(0) if above else (1 - within) * self.epsilon


def _counted(group: Sequence[int]) -> list[int]:
    """Multiplicity of each number."""
    sizes = [0] * (max(group) + 1)
    for g in group:
        sizes[g] += 1
    return sizes


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
        sums = [summed(sizes[g] * raised[g][i] for g in rest) for i in range(2 * order + 1)]
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
        expansion = middle.log() - summed(terms)
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
        found.append(central[j] - summed(comb(j - 1, i - 1) * found[i] * central[j - i] for i in range(2, j - 1)))
    return found


def _moments(cumulants: Sequence[arb]) -> list[arb]:
    """Central moments from cumulants."""
    found = [arb(1), arb(0)]
    for j in range(2, len(cumulants)):
        found.append(summed(comb(j - 1, i - 1) * cumulants[i] * found[j - i] for i in range(2, j + 1)))
    return found
