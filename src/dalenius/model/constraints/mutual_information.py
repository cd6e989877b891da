"""A limit of the mutual information of a secret and the output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.exact import Number
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.secret import Secret
from dalenius.model.constraints.secret_limits import Information

__all__ = ["MutualInformation"]


@dataclass(frozen=True, init=False)
class MutualInformation(Information):
    """I(S;Y) = sum_sy u log( u / (pi r) ) is at most so much.

    Parameters
    ----------
    at_most : number or str
        Nats, or a text of a number and a unit, ``"0.1 bits"``; exact, at least 0.
    secret, priors : optional
        As of `SecretLimit`.

    >>> MutualInformation("0.1 bits").limit
    (Fraction(1, 10), 'bits')
    """

    kind: ClassVar[str] = "mutual_information"

    def __init__(self, at_most: Number, secret: Secret | None = None, priors: WrittenRows | None = None) -> None:
        self._take(secret, priors, at_most=self._quantity(at_most))
