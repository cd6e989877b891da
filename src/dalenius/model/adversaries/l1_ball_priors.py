"""Laws within a total variation of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.information.measures import PriorBall
from dalenius.model.adversaries.base import BallPriors

__all__ = ["L1BallPriors"]


@dataclass(frozen=True, init=False)
class L1BallPriors(BallPriors):
    """Laws p with sum_a |p(a) - q(a)| <= radius, q the center: twice the total variation distance.

    Parameters
    ----------
    center : sequence of numbers
        A law, divided by its exact sum, which may differ from 1 by at most 1e-9.
    radius : number
        From 0, the center alone, to 2, all laws.

    Raises
    ------
    InputError
        If `center` is no law or `radius` is negative or no number.

    >>> L1BallPriors([0.5, 0.5], 0.2).radius
    Fraction(1, 5)
    """

    kind: ClassVar[str] = "l1_ball_priors"
    ball = PriorBall
    _words = "an L1 ball"
