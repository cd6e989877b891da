"""Questions of which no whole matrix is written out: counts of very many people, and tables' cells against people in blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model.adversaries import Adversary
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.mechanisms import NOISES, Mechanism
from dalenius.model.mechanisms.base import MAX_ENTRIES, Part
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.records import Records


@dataclass(frozen=True)
class WideCount:
    """A count with two-sided geometric noise whose channel would have more than 2^24 entries.

    Attributes
    ----------
    records : int
        n.
    letters, counted : int
        Of each record: its letters, and how many of them are counted.
    epsilon : Fraction
        Of the noise.
    contributions : (letters,)
        1 for a letter that is counted, else 0.
    """

    records: int
    letters: int
    epsilon: Fraction
    contributions: tuple[int, ...]

    @property
    def counted(self) -> int:
        """Number of letters that are counted."""
        return sum(self.contributions)

    @classmethod
    def of(
        cls,
        query: Query,
        records: Records,
        mechanism: Mechanism,
        adversary: Adversary | None,
        entries: int | None = None,
    ) -> WideCount | None:
        """None where the question is another one, or the channel has no more entries (docs/certificate-format.md, wide counts).

        >>> from dalenius.model.adversaries import ProductPriors
        >>> from dalenius.model.mechanisms import Geometric
        >>> from dalenius.model.queries import Count
        >>> WideCount.of(Count(), Records(4095, alphabet=2), Geometric(0.5), ProductPriors()) is None
        True
        >>> WideCount.of(Count(), Records(4096, alphabet=2), Geometric(0.5), ProductPriors()).counted
        1
        """
        epsilon, sums = mechanism.two_sided, query.sums
        if epsilon is None or sums is None or not sums.counts or len(records.runs) > 1:
            return None
        if adversary is None or not (adversary.bound or adversary.all_products):
            return None
        n, letters = len(records), records.alphabets[0]
        low, high = mechanism.span(np.array([0, n]))
        if low > 0 or high < n or (n + 1) * (high - low + 1) <= (entries or MAX_ENTRIES):
            return None
        return cls(n, letters, epsilon, sums.contribution(0, letters))


# What tables come down to against people in blocks: the steps of one cell, how many cells there are, and the largest block.
#
# I(X_i; Y) is convex in the channel from the record to the release, so that everybody else's data are known but those of the own
# block, and of these it is known what they are for each letter of the record (docs/theory.md, histograms).


FAINT = 1e-150  # of which the reciprocal, and products with it, are still numbers
MOST = 2**16  # entries of a cell's steps
DISCRETE = ", ".join(kind for kind, noise in NOISES.items() if not noise.on_a_line)
KNOWN = f"noise on whole numbers without a range ({DISCRETE}; geometric may have one)"


@dataclass(frozen=True)
class Cells:
    """The cells of one kind of tables: of a histogram, or of margins with as many cells and the same noise.

    Attributes
    ----------
    count : int
        Of a table.
    size : int
        The records of the largest block.
    noise : Mechanism
        What is added to the counts 0, ..., size that the block can make in a cell, the others' being known.
    slack : float
        Nats that the leakage may be above that of `noise` by a table, where this is clamped.
    tables : tuple of tuples of int
        Of each table the attributes.
    """

    count: int
    size: int
    noise: Mechanism
    slack: float
    tables: tuple[tuple[int, ...], ...]

    @cached_property
    def steps(self) -> Floats:
        """T[s, l], the probability of output l where s records of the block are in a cell, (size + 1, outputs).

        Where noise is so small that a probability underflows, `FAINT` stands for it: the search needs ratios of all of them, and
        what it finds is proved anew.
        """
        return np.maximum(self.noise.channel(np.arange(self.size + 1)), FAINT)

    @property
    def log_histograms(self) -> float:
        """The logarithm of how many histograms a block can have in a table."""
        return math.log(math.comb(self.size + self.count - 1, self.size))


@dataclass(frozen=True)
class NoisyTables:
    """A histogram, or margins of one, as far as an audit needs them.

    Attributes
    ----------
    letters : int
        Of a record: combinations of attributes.
    attributes : tuple of int
        How many values each has.
    record : int
        The first of the largest block.
    kinds : tuple of Cells
        In the order of their first tables.
    """

    letters: int
    attributes: tuple[int, ...]
    record: int
    kinds: tuple[Cells, ...]

    @classmethod
    def of(cls, query: AdditiveQuery, records: Records, mechanism: Mechanism, adversary: Adversary) -> NoisyTables:
        """Of tables of these records.

        Raises
        ------
        InputError
            If the adversary or the mechanism is none that is known for histograms, or the steps of a cell are too many.
        """
        name = "a table" if query.in_tables else "a histogram"
        letters, (size, record) = records.alphabets[0], _largest(name, records, adversary)
        attributes, tables = query.crossed(letters)
        parts = mechanism.independent if query.in_tables else ()
        noises = _noises(parts, len(tables)) if parts else [mechanism] * len(tables)
        for noise in dict.fromkeys(noises):
            _need_known(name, noise, len(records))
        kinds = dict[tuple[int, Mechanism], list[tuple[int, ...]]]()
        for table, noise in zip(tables, noises, strict=True):
            kinds.setdefault((math.prod(attributes[j] for j in table), noise), []).append(table)
        found = list[Cells]()
        for (count, noise), alike in kinds.items():
            own = noise.alone().clamped(np.arange(size + 1))
            low, high = own.span(np.array([0, size]))
            if (size + 1) * (width := high - low + 1) > MOST:
                raise InputError(
                    f"mechanism: {size + 1} counts of a cell with {width} outputs are more than {MOST} numbers; make blocks smaller, "
                    "or the scale"
                )
            found.append(Cells(count, size, own, count * noise.hidden(letters), tuple(alike)))
        return cls(letters, attributes, record, tuple(found))

    @property
    def entries(self) -> int:
        """Numbers in all steps."""
        return sum(cells.steps.size for cells in self.kinds)


def _largest(name: str, records: Records, adversary: Adversary) -> tuple[int, int]:
    """The size of the largest block, and its first record."""
    blocks = as_blocks(adversary)
    if blocks is None:
        raise InputError(f"query: {name} is audited against independent_blocks or product_priors, got {adversary.kind}")
    if blocks.entropy_at_least is not None:
        raise InputError(f"adversary: entropy_at_least inside blocks is not known for {name}; leave it out")
    best = start = record = 0
    for size, times in blocks.sizes_of(records):
        if size > best:
            best, record = size, start
        start += size * times
    return best, record


def _noises(parts: Sequence[Part], tables: int) -> list[Mechanism]:
    """The noise of every table, in their order."""
    ordered = sorted(parts, key=lambda part: part.on)
    if [(part.on, part.times) for part in ordered] != [(t, 1) for t in range(tables)]:
        raise InputError(
            f"mechanism: several_releases of {tables} tables must have one part on each, from 0 to {tables - 1}, with times = 1"
        )
    return [part.mechanism for part in ordered]


def _need_known(name: str, noise: Mechanism, records: int) -> None:
    """Refuse noise that something cuts off, or that is none."""
    if not noise.shifts or noise.on_a_line:
        raise InputError(f"mechanism: {name} is audited with {KNOWN}; got {noise.kind}")
    low, high = noise.span(np.array([0, records]))
    if low > 0 or high < records:
        raise InputError(
            f"mechanism: a cell's count runs from 0 to {records}, outside the range {[low, high]}; widen it"
        )
