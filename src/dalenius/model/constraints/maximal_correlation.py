"""A limit of the maximal correlation of a secret and the output."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import Number
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.secret import Secret
from dalenius.model.constraints.secret_limits import SecretLimit

__all__ = ["MaximalCorrelation"]


@dataclass(frozen=True, init=False)
class MaximalCorrelation(SecretLimit):
    """The largest correlation E f(S) g(Y) of functions with mean 0 and variance 1, or its square, is at most so much.

    Parameters
    ----------
    at_most, square_at_most : number
        One of them, at least 0: of the correlation, or of its square.
    secret, priors : optional
        As of `SecretLimit`.

    >>> MaximalCorrelation(0.5).limit, MaximalCorrelation(square_at_most=0.1).limit
    ((Fraction(1, 4), ''), (Fraction(1, 10), ''))
    """

    kind: ClassVar[str] = "maximal_correlation"
    at_most: Number | None = None
    square_at_most: Number | None = None

    def __init__(
        self,
        at_most: Number | None = None,
        square_at_most: Number | None = None,
        secret: Secret | None = None,
        priors: WrittenRows | None = None,
    ) -> None:
        if (at_most is None) == (square_at_most is None):
            raise InputError(
                f"constraints: {self.kind}: expected one of at_most and square_at_most, got "
                f"{'neither' if at_most is None else 'both'}"
            )
        given = {"at_most": at_most, "square_at_most": square_at_most}
        self._take(secret, priors, **{name: None if x is None else self._amount(x, name) for name, x in given.items()})

    @property
    def limit(self) -> tuple[Fraction, str]:
        """That of the square."""
        if self.at_most is not None:
            return self._amount(self.at_most) ** 2, ""
        return self._amount(self.square_at_most), ""
