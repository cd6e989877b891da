"""A question about one household by itself, as a part of one about all of them."""

from __future__ import annotations

from dataclasses import dataclass

from dalenius.model.mechanisms import Mechanism
from dalenius.model.queries import Query
from dalenius.model.records import Records

__all__ = ["Piece"]


@dataclass(frozen=True)
class Piece:
    """Some blocks that nobody can tell apart, with a total of the other records, as a question about one of them by itself.

    Attributes
    ----------
    block, first, times : int
        The first block, its first record, and how many blocks there are.
    total : int, tuple of int, or None
        What the contributions of the other records add up to; None where that makes no difference. Where letters are randomised, how
        many others have each letter.
    records, query, mechanism
        Of the question.
    slack : float
        Nats that the leakage may be above that of the question: of noise that nothing cuts off, and is clamped here far out.
    bounds, attained : bool
        Whether its upper bound is one of those that together bound the leakage, and whether its lower bound is a lower bound of that.
    """

    block: int
    first: int
    times: int
    total: int | tuple[int, ...] | None
    records: Records
    query: Query
    mechanism: Mechanism
    slack: float = 0.0
    bounds: bool = True
    attained: bool = True

    @property
    def written(self) -> str | None:
        """The total, as certificates write it."""
        if isinstance(self.total, tuple):
            return ",".join(map(str, self.total))
        return None if self.total is None else str(self.total)
