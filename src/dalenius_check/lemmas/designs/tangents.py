"""Lower bounds of an information for every mechanism, by a posterior that is a hint, and limits by such tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.adversaries import Masses
from ...core.allowance import BALL, limit
from ...core.arithmetic import arb, arb_mat, fmpq
from ...core.channel import Channel, log_weights
from ...core.numbers import at_most, divergence, in_nats, need, summed
from ...core.read import entries, law_of
from .limits import SecretLimit
from .secret import Secret, Told

_MAX_CELLS = 1 << 23


def gains(channel: Channel, masses: Masses, hint: Any) -> arb_mat:
    """g(x, y) of a prior and posterior phi: the sum over a of p(a, x) log(phi(a|y) / pi_a).

    Bound because I(X_i; Y) = sum Q g + sum r D(posterior || phi) >= sum Q g, whatever Q.
    """
    letters = len(masses)
    size = len(channel.rows)
    outputs = channel.outputs
    limit(letters * size <= _MAX_CELLS, "too many letters and inputs")
    channel.allowance.room((letters * (size + outputs) + size * outputs) * BALL)
    rows = [entries(row, "a letter's phi", outputs) for row in entries(hint, "phi", letters)]
    columns = [law_of(list(column), letters, "phi", channel.allowance) for column in zip(*rows, strict=True)]
    dense = [arb(0)] * (size * letters)
    logs_of = list[arb]()
    for a, (row, *logs) in enumerate(zip(masses, *map(log_weights, columns), strict=True)):
        held = [x for _, x in row if x]
        need(not held or all(column[a] for column in columns), f"phi is zero for letter {a}, which has mass")
        own = summed(map(arb, held)).log() if held else arb(0)
        logs_of += [log - own if held else arb(0) for log in logs]
        for k, x in row:
            dense[k * letters + a] = arb(x)
    return arb_mat(size, letters, dense) * arb_mat(letters, outputs, logs_of)


class Information(SecretLimit):
    """Mutual information, or, if it is strong, the divergence of the output's law from that given each letter; in balls."""

    def least_upper(self, table: dict[str, Any]) -> fmpq:
        most, self.unit = table["at_most"]
        return fmpq(most)

    @property
    def ball(self) -> arb:
        """A ball around the limit in nats."""
        return in_nats(self.most, self.unit)

    def need_within(self, told: Told) -> None:
        if self.strong:
            for row in told.given.values():
                at_most(self._divergence(told.mean, row), self.ball, f"the limit of {self.what}")
            return
        parts = [arb(told.secret.prior[s]) * self._divergence(row, told.mean) for s, row in told.given.items()]
        at_most(summed(parts), self.ball, f"the limit of {self.what}")

    def _divergence(self, one: Sequence[fmpq], other: Sequence[fmpq]) -> arb:
        self.allowance.look()
        need(
            all(b or not a for a, b in zip(one, other, strict=True)), f"the limit of {self.what} fails: it is infinite"
        )
        return divergence(one, other)

    def gains(self, channel: Channel, law: Secret, about: Any, hint: Any) -> arb_mat:
        """Matrix that a line adds.

        Bound because I = sum u log(phi / pi) + sum r D(u / r || phi), and because a log(a/b) >= a (1 + log t) - t b.
        """
        if not self.strong:
            need(about is None, "the line is about the whole law: null is expected")
            return gains(channel, law.rows, hint)
        s = self.letter(law, about)
        t = self.numbers(hint, "the hint", self.outputs)
        need(min(t) > 0, "the hint must be positive")
        size = len(channel.rows)
        self.allowance.room((2 * (size + self.outputs) + size * self.outputs) * BALL)
        sides = [dict(law.inputs), dict(law.given[s])]
        cells = [arb(side.get(x, fmpq(0))) for x in range(size) for side in sides]
        return arb_mat(size, 2, cells) * arb_mat(2, self.outputs, [arb(x).log() + 1 for x in t] + [-arb(x) for x in t])
