"""Subset selection."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_integer
from dalenius.information.set_channels import FixedSets
from dalenius.model.mechanisms.base import strictly_called
from dalenius.model.mechanisms.protocols import LocalProtocol

__all__ = ["SubsetSelection", "subset_selection"]


@dataclass(frozen=True)
class SubsetSelection(LocalProtocol):
    """It reports a set of `size` inputs: one with the true input e^epsilon times as likely as one without it.

    With size 1 it is k-ary randomised response; near k / (e^epsilon + 1) it tells most about a uniform law.

    Parameters
    ----------
    epsilon : number or str
        Nats, ``"1 bits"`` or ``"log 3"``; see `LocalProtocol`.
    size : int
        From 1 to the number of inputs less 1.
    k : int, optional
        Number of inputs; left out, it is the query's.

    Raises
    ------
    InputError
        If epsilon is negative or cannot be read, or `size` or `k` does not fit.

    Notes
    -----
    Source: M. Ye, A. Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy", IEEE Trans.
    Inf. Theory 64 (2018).

    >>> subset_selection("log 3", size=1).exact_channel(np.arange(3)).tolist()[0]
    [3/5, 1/5, 1/5]
    """

    kind: ClassVar[str] = "subset_selection"
    size: int = field(kw_only=True)

    @strictly_called
    def __init__(self, epsilon: Number, *, size: Integer, k: Integer | None = None) -> None:
        self._keep(epsilon, k)
        object.__setattr__(self, "size", as_integer(size, "mechanism: size", at_least=1))

    def check_inputs(self, inputs: int) -> None:
        super().check_inputs(inputs)
        if self.size >= inputs:
            raise InputError(f"mechanism: size must be below the number of inputs, {inputs}, got {self.size}")

    def _outputs(self, inputs: int) -> int:
        return comb(inputs, self.size)

    def members(self, inputs: int) -> NDArray[np.bool_]:
        found = np.zeros((inputs, self._outputs(inputs)), dtype=bool)
        for y, chosen in enumerate(combinations(range(inputs), self.size)):
            found[list(chosen), y] = True
        return found

    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        total = comb(inputs - 1, self.size - 1) * factor + comb(inputs - 1, self.size)
        return np.full(self._outputs(inputs), 1 / total)

    def sets(self, inputs: int) -> FixedSets:
        return FixedSets(inputs, self.nats, self.size)


subset_selection = SubsetSelection
