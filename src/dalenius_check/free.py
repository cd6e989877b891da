"""Designs with neither an adversary nor privacy of their own: the least distortion of mechanisms that meet constraints."""

from __future__ import annotations

from .arithmetic import fmpq
from .certificate import Lines
from .channel import Channel
from .design import Design, Own, Words
from .given import Given
from .model import Model
from .numbers import RefusedError


class Free(Design):
    """A `min_distortion` model whose only limits are its constraints."""

    hints = "constraints"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.limits = ""

    def _need_infeasible(self) -> None:
        raise RefusedError("the header alone proves nothing of constraints")

    def _prove(self, lines: Lines, channel: Channel, low: fmpq, high: fmpq) -> Words:
        """`lower` is at most the bound of the lines; what the mechanism must meet are constraints."""
        given = Given(lines, channel, self.constraints, self.objective, self.model)
        self._lower(given, low)
        return ["mechanism: the one in the certificate meets the constraints and attains the upper bound"], given.tally

    def _own(self, given: Given, nu: fmpq, nothing: bool) -> Own:
        """No lines: the expected distortion alone."""
        price = fmpq(0 if nothing or given.objective.given else 1)
        return lambda hard: ([[price * x for x in row] for row in self.ground.weighted()], fmpq(0))
