"""The information about a secret, and the divergence of the output's law from that given each letter, in balls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .allowance import BALL
from .arithmetic import arb, arb_mat, fmpq
from .channel import Channel
from .gains import gains
from .limits import SecretLimit
from .numbers import at_most, in_nats, need
from .secret import Secret, Told


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
        at_most(sum(parts, arb(0)), self.ball, f"the limit of {self.what}")

    def _divergence(self, one: Sequence[fmpq], other: Sequence[fmpq]) -> arb:
        self.allowance.look()
        pairs = list(zip(one, other, strict=True))
        need(all(b or not a for a, b in pairs), f"the limit of {self.what} fails: it is infinite")
        return sum((arb(a) * arb(a / b).log() for a, b in pairs if a and a != b), arb(0))

    def gains(self, channel: Channel, law: Secret, about: Any, hint: Any) -> arb_mat:
        """What a line adds to the matrix.

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
