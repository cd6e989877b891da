"""Theorem Q1: where every output has a set S of inputs, R(k,y) = C_y E on S and C_y elsewhere, divergences from a mixture of rows
are means over S.

Hypotheses, each a line that refuses: there are inputs beside every set (`take`); groups have inputs of one weight (`ranges`);
numbers that are not summed are enclosed (`Protocol.divergences`); all groups but one are listed (`Subsets.means`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb
from typing import Any

from ...core.allowance import BALL, POINTER, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.channel import Channel
from ...core.classes import CLASSES
from ...core.model import Model
from ...core.numbers import need, summed, take_entries
from .reports import Hashing, Means, Members, Protocol, Ranges

_MAX_WRITTEN = 1 << 20


class Subsets(Protocol):
    """S is a set of one size: with the input E times as likely as without it."""

    def take(self) -> None:
        self.size = self.table["size"]
        need(self.size < self.inputs, "mechanism.size must be below the number of values")

    def alpha(self) -> arb:
        inside = self.size * (self.excess + 1)
        return inside / (inside + self.inputs - self.size)

    def outputs(self) -> int:
        return comb(self.inputs, self.size)

    def rows(self) -> list[list[Any]]:
        others = self.inputs - 1
        out = 1 / (comb(others, self.size - 1) * self.factor + comb(others, self.size))
        own = out * self.factor
        sets = list(map(set, combinations(range(self.inputs), self.size)))
        return [[own if k in chosen else out for chosen in sets] for k in range(self.inputs)]

    def means(self, sizes: list[int], law: list[fmpq], how: Any, above: bool) -> Iterator[Means]:
        listed = self.ranges(how, sizes)
        c = self.excess
        p = list(map(arb, law))
        left = sorted(set(range(len(sizes))) - {g for g, _, _ in listed})
        need(len(left) == 1, "all groups but one must be listed")
        for h in range(len(sizes)):
            own = [n - (g == h) for g, n in enumerate(sizes)]
            yield (
                self._mean(1 + c * p[h], self.size - 1, own, p, listed, left[0], above),
                self._mean(arb(1), self.size, own, p, listed, left[0], above),
            )

    def _mean(self, v: arb, members: int, own: list[int], p: list[arb], listed: Ranges, left: int, above: bool) -> arb:
        """The mean of log(v + c T), T the probability of a random set of so many other inputs."""
        value = arb(0)
        within = arb(0)
        whole = arb(comb(self.inputs - 1, members))
        ways = [arb(comb(own[left], s)) for s in range(own[left] + 1)]
        choices = [
            [(s, arb(comb(own[g], s)), self.excess * p[g] * s) for s in range(low, min(high, own[g]) + 1)]
            for g, low, high in listed
        ]
        for chosen in product(*choices):
            self.allowance.look()
            rest = members - sum(s for s, _, _ in chosen)
            if not 0 <= rest <= own[left]:
                continue
            b = ways[rest]
            u = v + self.excess * p[left] * rest
            for _, way, x in chosen:
                b, u = b * way, u + x
            value, within = value + b * u.log(), within + b
        return value / whole + self.left_out(within / whole, above)


class Hadamard(Protocol):
    """S has the inputs k for which k + 1 and the output have an even number of ones in common."""

    def outputs(self) -> int:
        return 1 << self.inputs.bit_length()

    def rows(self) -> list[list[Any]]:
        size = self.outputs()
        out = 2 / (size * (self.factor + 1))
        own = out * self.factor
        return [[out if (k & y).bit_count() % 2 else own for y in range(size)] for k in range(1, self.inputs + 1)]

    def divergences(self, law: Sequence[fmpq], how: Any, above: bool) -> list[arb]:
        """By two Walsh-Hadamard transforms: of the law, and of the logarithms of r."""
        need(how is None, "how must be null")
        size = self.outputs()
        one = self.excess + 1
        self.allowance.room(3 * BALL * size)
        tilt = self.excess / (one + 1)
        spread = [arb(0), *map(arb, law), *[arb(0)] * (size - self.inputs - 1)]
        logs = [(1 + tilt * s).log() for s in self._transform(spread)]
        own = (one * (2 * one / (one + 1)).log() + (2 / (one + 1)).log()) / (one + 1)
        whole = summed(logs)
        turned = self._transform(logs)
        return [own - (whole + tilt * turned[k]) / size for k in range(1, self.inputs + 1)]

    def _transform(self, values: list[arb]) -> list[arb]:
        """sum_j (-1)^(the ones that j and y have in common) values(j), for every y."""
        width = 1
        result = list(values)
        while width < len(result):
            self.allowance.look()
            for start in range(0, len(result), 2 * width):
                for y in range(start, start + width):
                    result[y], result[y + width] = result[y] + result[y + width], result[y] - result[y + width]
            width *= 2
        return result


PROTOCOLS: dict[str, type[Protocol]] = {
    "subset_selection": Subsets,
    "optimized_unary_encoding": Members,
    "local_hashing": Hashing,
    "hadamard_response": Hadamard,
}


def channel(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    """A channel that has rows if they are few enough to be written out."""
    rests_on(model.allowance, "Q1")
    protocol = PROTOCOLS[mechanism["kind"]](mechanism, len(inputs), model.allowance)
    written = len(inputs) * protocol.outputs() <= _MAX_WRITTEN
    known = not model.secrets and (model.adversary == "product_priors" or model.adversary in CLASSES)
    need(written or known, f"the channel has more than {_MAX_WRITTEN} entries, and no closed form for this adversary")
    if written:
        take_entries(len(inputs), protocol.outputs(), model.allowance, POINTER)
    found = Channel(protocol.rows() if written else [], inputs, model.allowance)
    found.protocol = protocol
    return found
