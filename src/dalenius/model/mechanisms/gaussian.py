"""Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.exact import Number
from dalenius.information.arrays import Floats
from dalenius.information.noise_rows import gaussian_rows
from dalenius.model.mechanisms.base import strictly_called
from dalenius.model.mechanisms.real_noise import RealNoise, scale_of

__all__ = ["Gaussian", "gaussian"]


@dataclass(frozen=True)
class Gaussian(RealNoise):
    """Gaussian noise on the real line: of the value v any real number y comes out, with a Gaussian density around it.

    g(y) = e^(-(y - v)^2 / (2 scale^2)) / (scale sqrt(2 pi)).

    Parameters
    ----------
    scale : number in [1/1000, 10^6]
        sigma, the standard deviation.

    Raises
    ------
    InputError
        If `scale` is out of range. `MaximalLeakage` raises it against an adversary for whom it is not known what such noise tells,
        and for queries of more than 64 values, or values that span more than 64 scales.

    >>> import dalenius as dl
    >>> result = dl.solve(dl.MaximalLeakage(records=dl.Records(1000, alphabet=2), query=dl.Count(),
    ...     mechanism=dl.gaussian(2), adversary=dl.IndependentBlocks(4)))
    >>> 0.33683082034 < result.lower <= result.upper < 0.33683082035
    True
    """

    kind: ClassVar[str] = "gaussian"

    @strictly_called
    def __init__(self, scale: Number) -> None:
        object.__setattr__(self, "scale", scale_of(scale))

    def rows(self, points: Floats) -> Floats:
        return gaussian_rows(points)


gaussian = Gaussian
