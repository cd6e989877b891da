"""A limit of total variations about a secret: of all letters together, or of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.constraints.secret_limits import Divergence

__all__ = ["TotalVariation"]


@dataclass(frozen=True, init=False)
class TotalVariation(Divergence):
    """sum_sy |u - pi r|, from 0 to 2, is at most so much; or, if strong, sum_y |W(s,y) - r(y)| for every s.

    Parameters
    ----------
    at_most : number
        At least 0.
    strong : bool
    secret, priors : optional
        As of `SecretLimit`.

    >>> TotalVariation(0.1).limit
    (Fraction(1, 10), '')
    """

    kind: ClassVar[str] = "total_variation"
