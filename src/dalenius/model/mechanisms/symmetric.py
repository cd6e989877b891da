"""The k-ary symmetric channel."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import as_fraction, as_integer, brief
from dalenius.model.mechanisms.base import Floats, Mechanism, symmetric_channel
from dalenius.model.queries.base import Integers

__all__ = ["Symmetric", "symmetric"]


@dataclass(frozen=True)
class Symmetric(Mechanism):
    """Keeps the value with probability 1 - flip; otherwise moves to one of the k - 1 others, each flip/(k-1)."""

    kind: ClassVar[str] = "symmetric"
    flip: Fraction
    k: int | None = None

    def __post_init__(self) -> None:
        flip = as_fraction(self.flip, "mechanism: flip")
        if not 0 <= flip <= 1:
            raise InputError(f"mechanism: flip is a probability, expected 0 to 1, got {brief(self.flip)}")
        object.__setattr__(self, "flip", flip)
        if self.k is not None:
            object.__setattr__(self, "k", as_integer(self.k, "mechanism: k", at_least=2))

    def channel(self, values: Integers) -> Floats:
        return symmetric_channel(values, self.k, float(1 - self.flip), float(self.flip / max(values.size - 1, 1)))


def symmetric(k: int | None = None, flip: float | Fraction | str = 0.0) -> Symmetric:
    """The (generalised) binary symmetric channel of the source paper's experiments.

    Parameters
    ----------
    k : int or None
        Number of values and outputs; None takes it from the query.
    flip : number in [0, 1]
        Probability of leaving the value.

    Raises
    ------
    InputError
        If `flip` is no probability or `k` is below 2.

    >>> import numpy as np
    >>> symmetric(3, 0.2).channel(np.arange(3))[0].tolist()
    [0.8, 0.1, 0.1]
    """
    return Symmetric(flip, k)  # type: ignore[arg-type]
