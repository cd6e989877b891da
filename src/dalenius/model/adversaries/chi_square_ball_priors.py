"""Laws within a chi-square divergence of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.information.measures import ChiSquareBall
from dalenius.model.adversaries.base import BallPriors

__all__ = ["ChiSquareBallPriors"]


@dataclass(frozen=True, init=False)
class ChiSquareBallPriors(BallPriors):
    """Laws p with sum_a (p(a) - q(a))^2 / q(a) <= radius, q the center.

    Parameters
    ----------
    center : sequence of numbers
        A law, divided by its exact sum, which may differ from 1 by at most 1e-9.
    radius : number

    Raises
    ------
    InputError
        If `center` is no law or `radius` is negative or no number.

    >>> ChiSquareBallPriors([0.5, 0.5], 0.04).radius
    Fraction(1, 25)
    """

    kind: ClassVar[str] = "chi_square_ball_priors"
    ball = ChiSquareBall
    _words = "a chi-square ball"
