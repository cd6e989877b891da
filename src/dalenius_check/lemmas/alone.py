"""Theorem O1: L_b <= (1 - lambda) (log |X| - b) + lambda log A + g, where the others only shift what is seen; O2: with two
letters and two-sided geometric noise L_0 is the capacity of the two farthest values.

Hypotheses, each a line that refuses: the others only shift the outputs (`_told`); lambda is from 0 to 1 (`informed`); stretches
of t cover 0 to 1, and several need two letters (`informed`); O2: two letters, a count or a sum, and noise with a log-concave law
(`ends`); O2: d is the distance of the extreme sums (`ends`).
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

from ..core.allowance import limit, rests_on
from ..core.arithmetic import arb, chosen, fmpq
from ..core.channel import build
from ..core.counts import completions
from ..core.model import Model
from ..core.noise import REAL, noise_of
from ..core.numbers import bit_entropy, largest, need
from ..core.read import decimal, entries, nonnegative
from ..core.tree import output_law
from .households.blocks import Blocks, single

_MOST = 1 << 22


class Alone:
    """Record i by itself, which the others only shift."""

    def __init__(self, model: Model, i: int) -> None:
        self.model = model
        self.i = i
        self.allowance = model.allowance

    @cached_property
    def _blocks(self) -> Blocks:
        """Every record a block."""
        kind = self.model.mechanism.get("kind", "")
        known = not self.model.design and kind not in ("several_releases", *REAL)
        need(known, "this leaf needs an audit of one release, of a query and a mechanism of a record alone")
        return single(self.model)

    @cached_property
    def _told(self) -> tuple[Any, list[int], arb]:
        """The channel of the record's letters, the input of each, and what is revealed besides."""
        need(self._blocks.alone, "this leaf needs a query and a mechanism of which the others only shift the outputs")
        shape = self._blocks.shape(self.i)
        piece = self._blocks.piece(shape, 0)
        channel = build(piece)
        assert channel is not None
        inputs = [k for ((k, _),) in completions(piece, 0, channel.values)]
        return channel, inputs, self._blocks.lost(shape)

    def leaf(self, item: list[Any]) -> tuple[arb, fmpq]:
        """The bound of a leaf at an entropy of 0, and how much it falls for each nat."""
        return self.informed(item) if item[0] == "informed" else (self.ends(), fmpq(0))

    def informed(self, item: list[Any]) -> tuple[arb, fmpq]:
        """Of a line `informed`: it falls by 1 - lambda.

        Bound because I(X_i; Y) <= I(X_i; X') + I(X_i; Y | X'), X' the others; the first is at most log |X| - H(P), and H(X_i | X')
        is H(X_i) less the first, of which g takes lambda times.
        """
        channel, inputs, lost = self._told
        rests_on(self.allowance, "O1")
        share = nonnegative(item[1], "lambda")
        need(share <= 1, "lambda must be at most 1")
        pairs = [entries(pair, "t and r", 2) for pair in entries(item[2], "the pairs")]
        ends = [fmpq(0), *(decimal(t, "t") for t, _ in pairs)]
        two = len(inputs) == 2
        most = list[arb]()
        need(len(ends) == 2 or (two and len(ends) > 1), "one pair is expected, or several of a record with two letters")
        need(ends[-1] == 1 and all(t < u for t, u in pairwise(ends)), "t must ascend from above 0 to 1")
        for (low, high), (_, hint) in zip(pairwise(ends), pairs, strict=True):
            self.allowance.look()
            far = channel.divergences(output_law(hint, channel, set(inputs)), inputs)
            if len(pairs) == 1:
                most += [far[k] for k in inputs]
                continue
            first, second = (far[k] for k in inputs)
            most += [arb(1 - t) * first + arb(t) * second - arb(share) * bit_entropy(arb(t)) for t in (low, high)]
        letters = arb(len(inputs)).log()
        return arb(1 - share) * self.model.log_states() + arb(share) * letters + largest(most) + lost, 1 - share

    def ends(self) -> arb:
        """The capacity of the two sums that are farthest apart.

        Bound because pairs of values are told apart the better the farther apart they are: for noise whose law is log-concave the best
        tests are the same. Outputs from j on have the probability a^j / (1 + a), and no term is above log 2 times its own.
        """
        rests_on(self.allowance, "O2")
        epsilon = noise_of(self.model.mechanism).epsilon
        query = self.model.query["kind"]
        two = self.model.alphabets[self.i] == 2
        known = two and query in ("count", "sum") and epsilon is not None
        need(
            known, "a leaf 'ends' needs a record with two letters, a count or a sum, and geometric or discrete_laplace"
        )
        d = sum((max(c) - min(c)) * n for c, n in self._blocks.added.items())
        need(d >= 1, "a leaf 'ends' needs two sums that differ")
        a = arb(-epsilon).exp()
        half = arb(2).log()
        inside = -arb(-epsilon).expm1()
        # a^j / (1 + a), a^(d - 2 j)
        rest = 1 / (1 + a)
        ratio = arb(-epsilon * d).exp()
        result = arb(0)
        for j in range(d + 1):
            if rest * (1 << chosen().precision()) < 1:
                return result + rest * half
            limit(j < _MOST, f"more than {_MOST} terms")
            self.allowance.look()
            result += (rest if j in (0, d) else rest * inside) * (half - (1 + ratio).log())
            rest, ratio = rest * a, ratio / (a * a)
        return result
