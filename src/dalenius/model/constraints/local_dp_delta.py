"""A limit of the delta of local differential privacy of a secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.constraints.secret_limits import HockeyStick

__all__ = ["LocalDPDelta"]


@dataclass(frozen=True, init=False)
class LocalDPDelta(HockeyStick):
    """sum_y max(W(s,y) - e^epsilon W(s',y), 0) is at most so much for all letters s and s': (epsilon, delta) local privacy.

    Parameters
    ----------
    epsilon : number or str
        As of `LocalDP`, at least 0.
    at_most : number
        delta, at least 0.
    secret, priors : optional
        As of `SecretLimit`.

    >>> LocalDPDelta("log 3", 0.05).limit
    (Fraction(1, 20), '')
    """

    kind: ClassVar[str] = "local_dp_delta"

    @property
    def at_zero(self) -> str:
        return f"local_dp (dl.LocalDPBetween) with epsilon {self.epsilon}"
