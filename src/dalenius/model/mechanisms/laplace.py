"""Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.exact import Number
from dalenius.information.arrays import Floats
from dalenius.information.noise_rows import laplace_rows
from dalenius.model.mechanisms.base import strictly_called
from dalenius.model.mechanisms.real_noise import RealNoise, scale_of

__all__ = ["Laplace", "laplace"]


@dataclass(frozen=True)
class Laplace(RealNoise):
    """Laplace noise on the real line: of the value v any real number y comes out, with a density that falls on both sides.

    g(y) = e^(-|y - v| / scale) / (2 scale).

    Parameters
    ----------
    scale : number in [1/1000, 10^6]
        b; the standard deviation is sqrt(2) b.

    Raises
    ------
    InputError
        If `scale` is out of range. `MaximalLeakage` raises it against an adversary for whom it is not known what such noise tells,
        and for queries of more than 64 values, or values that span more than 64 scales.

    >>> import dalenius as dl
    >>> result = dl.solve(dl.MaximalLeakage(records=dl.Records(1, alphabet=2), query=dl.Count(),
    ...     mechanism=dl.laplace(1), adversary=dl.ProductPriors()))
    >>> 0.0885196402 < result.lower <= result.upper < 0.0885196403
    True
    """

    kind: ClassVar[str] = "laplace"

    @strictly_called
    def __init__(self, scale: Number) -> None:
        object.__setattr__(self, "scale", scale_of(scale))

    def rows(self, points: Floats) -> Floats:
        return laplace_rows(points)


laplace = Laplace
