"""Independent records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.model.adversaries.base import Adversary
from dalenius.model.records import Records

__all__ = ["ProductPriors"]


@dataclass(frozen=True)
class ProductPriors(Adversary):
    """Every prior under which the records are independent: P(x) = P_0(x_0) P_1(x_1) ... P_{n-1}(x_{n-1}), with any P_i.

    This is the adversary of differential privacy, who may know all records but one. For epsilon-differentially private mechanisms on
    binary records L <= log 2 - h(1/(1 + e^epsilon)), with equality for randomised response.

    Notes
    -----
    I(X_i; Y) is convex in the law of every other record, so the worst others are known: L is the largest Shannon capacity of the rows
    that the letters of record i select, over the records i and the settings of the others (docs/theory.md).

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.ProductPriors())
    >>> dl.loads(dl.dumps(problem)).adversary
    ProductPriors()
    """

    kind: ClassVar[str] = "product_priors"

    def in_words(self) -> str:
        return "to whom the records are independent"

    def check(self, records: Records) -> None:
        """Every set of records has product priors."""
