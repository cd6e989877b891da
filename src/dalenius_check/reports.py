"""Local protocols: every output has a set S of inputs, R(k,y) = C_y E for k in S and C_y elsewhere, E = e^epsilon.

Under a law w of the inputs r(y) = C_y (1 + c w(S)), c = E - 1, so that divergences from it need no list of outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any

from .allowance import BALL, Allowance, limit
from .arithmetic import arb, fmpq
from .numbers import in_nats, need
from .read import entries, integer

MAX_INPUTS = 1 << 14
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
        """How many there are."""
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
        """Which numbers of members are summed over, of groups in ascending order."""
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
        """What has the rest of the probability adds to a mean: bound because log(v + c T) is from 0 to epsilon."""
        return arb(0) if above else (1 - within) * self.epsilon


def _counted(group: Sequence[int]) -> list[int]:
    """How often each number is there."""
    sizes = [0] * (max(group) + 1)
    for g in group:
        sizes[g] += 1
    return sizes
