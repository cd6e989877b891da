"""Two-sided geometric noise that nothing cuts off."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction
from dalenius.model.mechanisms.base import MAX_EPSILON, ExactEntries, Floats, Mechanism, epsilon_of, strictly_called
from dalenius.model.mechanisms.geometric import Geometric
from dalenius.model.queries.base import Integers

__all__ = ["DiscreteLaplace", "discrete_laplace"]


@dataclass(frozen=True)
class DiscreteLaplace(Mechanism):
    """Discrete Laplace noise (two-sided geometric noise) on an integer: output y of value v has probability a^|y-v| (1-a)/(1+a).

    a = e^-epsilon, or e^(-1/scale); y is any integer.

    Parameters
    ----------
    epsilon : number in (0, 1000], optional
        Privacy parameter for sensitivity 1, in nats.
    scale : number, optional
        1/epsilon; instead of `epsilon`.

    Raises
    ------
    InputError
        If neither or both are given, one is out of range, or it is not given by name.

    Notes
    -----
    Of an output up to the least value, and of one from the largest value on, only the side matters: its column is a multiple of that
    value's own. Merging them loses nothing, and what is left is `Geometric` on the range of the values: the channel that is worked
    with, whose first output means "at most the least value" and its last one "at least the largest" (docs/certificate-format.md).

    >>> import numpy as np
    >>> bool(np.array_equal(discrete_laplace(scale=2).channel(np.arange(3)), Geometric(0.5).channel(np.arange(3))))
    True
    """

    kind: ClassVar[str] = "discrete_laplace"
    epsilon: Fraction | None = None
    scale: Fraction | None = None

    @strictly_called
    def __init__(self, epsilon: Number | None = None, *, scale: Number | None = None) -> None:
        if (epsilon is None) == (scale is None):
            raise InputError("mechanism: discrete_laplace needs either epsilon or scale")
        if epsilon is not None:
            object.__setattr__(self, "epsilon", epsilon_of(epsilon, positive=True))
        if scale is not None:
            number = as_fraction(scale, "mechanism: scale")
            if number * MAX_EPSILON < 1:
                raise InputError(f"mechanism: scale must be at least 1/{MAX_EPSILON}, got {brief(scale)}")
            object.__setattr__(self, "scale", number)

    @property
    def merged(self) -> Geometric:
        """The same where outputs that only the side tells apart are one."""
        if self.scale is not None:
            return Geometric(1 / self.scale)
        assert self.epsilon is not None
        return Geometric(self.epsilon)

    def channel(self, values: Integers) -> Floats:
        return self.merged.channel(values) if values.size > 1 else np.ones((1, 1))

    def exact_entries(self, values: Integers) -> ExactEntries:
        return self.merged.exact_entries(values) if values.size > 1 else ExactEntries.of_rows([[Fraction(1)]])

    def output_labels(self, values: Integers) -> list[str]:
        if values.size == 1:
            return ["any"]
        inside = self.merged.output_labels(values)[1:-1]
        return [f"at most {values[0]}", *inside, f"at least {values[-1]}"]


discrete_laplace = DiscreteLaplace
