"""Counts of so many people that no matrix is written out: what an audit needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass

from dalenius.model.adversaries import Adversary, EntropyAtLeast, ProductPriors
from dalenius.model.mechanisms import DiscreteLaplace, Geometric, Mechanism
from dalenius.model.mechanisms.base import MAX_ENTRIES
from dalenius.model.queries import Count, Query
from dalenius.model.records import Records

__all__ = ["WideCount"]


@dataclass(frozen=True)
class WideCount:
    """A count with two-sided geometric noise whose channel would have more than 2^24 entries.

    Attributes
    ----------
    records : int
        n.
    letters, counted : int
        Of each record: its letters, and how many of them are counted.
    noise : Geometric
        Without a range.
    contributions : (letters,)
        1 for a letter that is counted, else 0.
    """

    records: int
    letters: int
    noise: Geometric
    contributions: tuple[int, ...]

    @property
    def counted(self) -> int:
        """How many letters are counted."""
        return sum(self.contributions)

    @classmethod
    def of(cls, query: Query, records: Records, mechanism: Mechanism, adversary: Adversary | None) -> WideCount | None:
        """None where the question is another one, or small enough (docs/certificate-format.md, wide counts).

        >>> WideCount.of(Count(), Records(4095, alphabet=2), Geometric(0.5), ProductPriors()) is None
        True
        >>> WideCount.of(Count(), Records(4096, alphabet=2), Geometric(0.5), ProductPriors()).counted
        1
        """
        known = isinstance(query, Count) and isinstance(mechanism, Geometric | DiscreteLaplace)
        if not known or not isinstance(adversary, EntropyAtLeast | ProductPriors) or len(records.runs) > 1:
            return None
        assert isinstance(query, Count)
        n, letters = len(records), records.alphabets[0]
        noise = mechanism.merged if isinstance(mechanism, DiscreteLaplace) else mechanism
        assert isinstance(noise, Geometric)
        low, high = noise.range or (0, n)
        if low > 0 or high < n or (n + 1) * (high - low + 1) <= MAX_ENTRIES:
            return None
        return cls(n, letters, Geometric(noise.epsilon), query.contribution(0, letters))
