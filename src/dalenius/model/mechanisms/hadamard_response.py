"""Hadamard response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.exact import Integer, Number
from dalenius.information.set_channels import ParitySets
from dalenius.model.mechanisms.base import strictly_called
from dalenius.model.mechanisms.protocols import LocalProtocol

__all__ = ["HadamardResponse", "hadamard_response"]


@dataclass(frozen=True)
class HadamardResponse(LocalProtocol):
    """Input x is the row x + 1 of a Hadamard matrix; outputs where it has a +1 are e^epsilon times as likely as the others.

    There are as many outputs as the smallest power of 2 above the number of inputs.

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
    Source: J. Acharya, Z. Sun, H. Zhang, "Hadamard response: estimating distributions privately, efficiently, and with little
    communication", AISTATS 2019.

    >>> hadamard_response("log 3").exact_channel(np.arange(2)).tolist()
    [[3/8, 1/8, 3/8, 1/8], [3/8, 3/8, 1/8, 1/8]]
    """

    kind: ClassVar[str] = "hadamard_response"

    @strictly_called
    def __init__(self, epsilon: Number, *, k: Integer | None = None) -> None:
        self._keep(epsilon, k)

    def _outputs(self, inputs: int) -> int:
        return 1 << inputs.bit_length()

    def members(self, inputs: int) -> NDArray[np.bool_]:
        common = np.arange(1, inputs + 1)[:, None] & np.arange(self._outputs(inputs))[None, :]
        return np.bitwise_count(common) % 2 == 0

    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        outputs = self._outputs(inputs)
        return np.full(outputs, 2 / (outputs * (factor + 1)))

    def sets(self, inputs: int) -> ParitySets:
        return ParitySets(inputs, self.nats)


hadamard_response = HadamardResponse
