"""A limit of chi-square divergences about a secret: of all letters together, or of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.constraints.secret_limits import Divergence

__all__ = ["ChiSquare"]


@dataclass(frozen=True, init=False)
class ChiSquare(Divergence):
    """sum_sy u^2/(pi r) - 1 is at most so much; or, if strong, sum_y r(y)^2/W(s,y) - 1 for every s.

    Parameters
    ----------
    at_most : number
        At least 0.
    strong : bool
    secret, priors : optional
        As of `SecretLimit`.

    >>> ChiSquare(0.1, strong=True).strong
    True
    """

    kind: ClassVar[str] = "chi_square"
