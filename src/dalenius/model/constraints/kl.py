"""A limit of KL divergences about a secret: of all letters together, or of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.exact import Number
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.secret import Secret
from dalenius.model.constraints.secret_limits import Information

__all__ = ["KL"]


@dataclass(frozen=True, init=False)
class KL(Information):
    """The KL divergence of u from pi r, which is I(S;Y), is at most so much; or, if strong, sum_y r log(r/W(s,.)) for every s.

    Parameters
    ----------
    at_most : number or str
        As of `MutualInformation`.
    strong : bool
    secret, priors : optional
        As of `SecretLimit`.

    >>> KL(0.1, strong=True).limit_in_doubles
    0.1
    """

    kind: ClassVar[str] = "kl"
    strong: bool = False

    def __init__(
        self, at_most: Number, strong: bool = False, secret: Secret | None = None, priors: WrittenRows | None = None
    ) -> None:
        self._take(secret, priors, at_most=self._quantity(at_most), strong=self._flag(strong))
