"""Laws within a KL divergence of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.information.measures import KLBall
from dalenius.model.adversaries.base import BallPriors

__all__ = ["KLBallPriors"]


@dataclass(frozen=True, init=False)
class KLBallPriors(BallPriors):
    """Laws p with D(p || q) = sum_a p(a) log( p(a)/q(a) ) <= radius, q the center.

    Parameters
    ----------
    center : sequence of numbers
        A law, divided by its exact sum, which may differ from 1 by at most 1e-9.
    radius : number
        In nats.

    Raises
    ------
    InputError
        If `center` is no law or `radius` is negative or no number.

    >>> KLBallPriors([0.5, 0.5], "1/50").letters
    2
    """

    kind: ClassVar[str] = "kl_ball_priors"
    ball = KLBall
    _words = "a KL ball"
