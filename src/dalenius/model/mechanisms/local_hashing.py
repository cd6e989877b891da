"""Local hashing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dalenius.exact import Integer, Number, as_integer
from dalenius.information.set_channels import RandomSets
from dalenius.model.mechanisms.base import strictly_called
from dalenius.model.mechanisms.protocols import LocalProtocol
from dalenius.model.queries.base import MAX_INTEGER

__all__ = ["LocalHashing", "local_hashing"]


@dataclass(frozen=True)
class LocalHashing(LocalProtocol):
    """It hashes the input with a random function into buckets, and reports the function, and the bucket by randomised response.

    All functions are alike: this is the limit of hash families without structure. Best for estimates is `buckets` near e^epsilon + 1.

    Parameters
    ----------
    epsilon : number or str
        Nats, ``"1 bits"`` or ``"log 3"``; see `LocalProtocol`.
    buckets : int
        At least 2.
    k : int, optional
        Number of inputs; left out, it is the query's.

    Raises
    ------
    InputError
        If epsilon is negative or cannot be read, or `buckets` or `k` is below 2, or `buckets` above 10^9.

    Notes
    -----
    Source: T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
    2017.

    >>> local_hashing("log 3", buckets=2).exact_channel(np.arange(2)).tolist()[0]
    [3/16, 1/16, 1/16, 3/16, 3/16, 1/16, 1/16, 3/16]
    """

    kind: ClassVar[str] = "local_hashing"
    buckets: int = field(kw_only=True)

    @strictly_called
    def __init__(self, epsilon: Number, *, buckets: Integer, k: Integer | None = None) -> None:
        self._keep(epsilon, k)
        object.__setattr__(self, "buckets", as_integer(buckets, "mechanism: buckets", at_least=2, at_most=MAX_INTEGER))

    def _outputs(self, inputs: int) -> int:
        return int(self.buckets ** (inputs + 1))

    def members(self, inputs: int) -> NDArray[np.bool_]:
        outputs = np.arange(self._outputs(inputs))
        functions, bucket = outputs // self.buckets, outputs % self.buckets
        return (functions[None, :] // self.buckets ** np.arange(inputs)[:, None]) % self.buckets == bucket

    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        return np.full(self._outputs(inputs), 1 / (self.buckets**inputs * (factor + (self.buckets - 1))))

    def sets(self, inputs: int) -> RandomSets:
        factor = float(arb(self.factor))
        return RandomSets(inputs, self.nats, factor / (factor + self.buckets - 1), 1.0 / self.buckets)


local_hashing = LocalHashing
