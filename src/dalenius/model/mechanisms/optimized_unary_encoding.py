"""Optimised unary encoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dalenius.exact import Integer, Number
from dalenius.information.set_channels import RandomSets
from dalenius.model.mechanisms.base import strictly_called
from dalenius.model.mechanisms.protocols import LocalProtocol

__all__ = ["OptimizedUnaryEncoding", "optimized_unary_encoding"]


@dataclass(frozen=True)
class OptimizedUnaryEncoding(LocalProtocol):
    """A bit for each input: that of the true one is 1 with probability 1/2, every other with 1/(e^epsilon + 1), independently.

    Parameters
    ----------
    epsilon : number or str
        Nats, ``"1 bits"`` or ``"log 3"``; see `LocalProtocol`.
    k : int, optional
        Number of inputs; left out, it is the query's.

    Raises
    ------
    InputError
        If epsilon is negative or cannot be read, or `k` is below 2.

    Notes
    -----
    Source: T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
    2017.

    >>> optimized_unary_encoding("log 3").exact_channel(np.arange(2)).tolist()[0]
    [3/8, 3/8, 1/8, 1/8]
    """

    kind: ClassVar[str] = "optimized_unary_encoding"

    @strictly_called
    def __init__(self, epsilon: Number, *, k: Integer | None = None) -> None:
        self._keep(epsilon, k)

    def _outputs(self, inputs: int) -> int:
        return 1 << inputs

    def members(self, inputs: int) -> NDArray[np.bool_]:
        return (np.arange(self._outputs(inputs))[None, :] >> np.arange(inputs)[:, None] & 1).astype(bool)

    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        one = 1 / (1 + factor)
        ones = self.members(inputs).sum(axis=0).tolist()
        of_count = [one**count * (1 - one) ** (inputs - 1 - count) / 2 for count in range(inputs)]
        of_count.append(one**inputs / (1 - one) / 2)
        return np.array([of_count[count] for count in ones])

    def sets(self, inputs: int) -> RandomSets:
        return RandomSets(inputs, self.nats, 0.5, 1.0 / (float(arb(self.factor)) + 1.0))


optimized_unary_encoding = OptimizedUnaryEncoding
