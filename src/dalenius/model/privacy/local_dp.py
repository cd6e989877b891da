"""Local differential privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.model.privacy.base import Privacy, Reference

__all__ = ["LocalDP"]


@dataclass(frozen=True)
class LocalDP(Privacy):
    """Q(x,y) <= e^epsilon Q(x',y) for all outputs y and all inputs x, x' that datasets have.

    Parameters
    ----------
    epsilon : number or str
        Nats, or ``"1 bits"``, or ``"log 3"``; see `Privacy`.

    Raises
    ------
    InputError
        If epsilon cannot be read, or is above 1000.

    Notes
    -----
    Source: P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016): k-ary randomised
    response, right with probability e^epsilon / (e^epsilon + k - 1), is the best for Hamming distortion and a uniform law.

    >>> import dalenius as dl
    >>> problem = dl.MinDistortion(records=dl.Records(1, alphabet=3), query=dl.Identity(), distortion=dl.Hamming(),
    ...     privacy=dl.LocalDP("log 2"))
    >>> result = dl.solve(problem)
    >>> result.distortion, result.exp_epsilon, result.lower <= 0.5 <= result.upper
    (Fraction(1, 2), Fraction(2, 1), True)
    """

    kind: ClassVar[str] = "local_dp"

    def check(self, possible: Sequence[int], inputs: int) -> None:
        """It fits all mechanisms."""

    def references(self, possible: Sequence[int], law: Sequence[Fraction]) -> list[Reference]:
        return [Reference(tuple(possible))]
