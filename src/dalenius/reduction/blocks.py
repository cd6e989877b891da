"""What a record of a block decides once all but the block is known: each of its letters may go with another dataset of the block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from dalenius.errors import DaleniusError
from dalenius.information.arrays import Floats, Integers
from dalenius.model.adversaries import IndependentBlocks
from dalenius.model.problems.pieces import PlacedBlock, placed_blocks
from dalenius.model.queries import Query
from dalenius.model.records import Records
from dalenius.model.sums import other_sums, record_types
from dalenius.reduction.selection import MAX_NUMBERS

__all__ = ["BlockSelections", "block_selections"]


@dataclass(frozen=True)
class BlockSelections:
    """The selections of records of blocks with as many letters: where the block's law is anything, one of them is the worst.

    Attributes
    ----------
    blocks : sequence of PlacedBlock
    place : (selections,)
        Which of the blocks a selection is about.
    record : (selections,)
        The record, numbered among all.
    own, inputs : (selections, letters)
        What each letter selects: an index among the values of the block's own query, and the channel input.
    """

    blocks: tuple[PlacedBlock, ...]
    place: Integers
    record: Integers
    own: Integers
    inputs: Integers

    @property
    def letters(self) -> int:
        return int(self.inputs.shape[1])

    def apply(self, channel: Floats) -> Floats:
        """The rows that each selection selects: (selections, letters, outputs)."""
        return np.asarray(channel[self.inputs])

    def leading(self, values: Floats) -> Integers:
        """Those with the largest value of all that send a letter to an input; of equals those whose inputs are farthest apart."""
        span = self.inputs.max(axis=1) - self.inputs.min(axis=1)
        order = np.lexsort((-span, -np.round(values, 9)))
        found = [order[np.unique(self.inputs[order, a], return_index=True)[1]] for a in range(self.letters)]
        return np.unique(np.concatenate(found))

    def own_masses(self, selection: int, law: Floats) -> tuple[PlacedBlock, Floats]:
        """A law of the letters as masses on (letter, value of the block's own query)."""
        placed = self.blocks[self.place[selection]]
        masses = np.zeros((self.letters, len(placed.inputs)))
        masses[np.arange(self.letters), self.own[selection]] = law
        return placed, masses


def block_selections(query: Query, records: Records, adversary: IndependentBlocks) -> list[BlockSelections]:
    """All of them that differ in what they select, for each number of letters.

    *Why these*: I(X_i; Y) is convex in the law of the own block given X_i, too, so that each letter goes to one dataset of the block.

    Raises
    ------
    DaleniusError
        If there are more than 2^22 numbers in them.

    >>> from dalenius.model.queries import Count
    >>> [found] = block_selections(Count(), Records(2, alphabet=2), IndependentBlocks(2))
    >>> found.inputs.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    placed = tuple(placed_blocks(query, records, adversary))
    found: dict[int, dict[tuple[int, ...], tuple[int, int, tuple[int, ...]]]] = {}
    numbers = 0
    for place, block in enumerate(placed):
        for record, letters in _reached(block):
            numbers += len(letters) * prod(map(len, letters))
            if numbers > MAX_NUMBERS:
                raise DaleniusError(
                    f"nothing can be designed against these blocks: their records' letters select more than {MAX_NUMBERS} numbers; "
                    "make blocks smaller, or coarsen the query"
                )
            known = found.setdefault(len(letters), {})
            for own in _product(letters).tolist():
                inputs = tuple(block.inputs[v] for v in own)
                if len(set(inputs)) > 1:
                    known.setdefault(inputs, (place, record, tuple(own)))
    return [_table(placed, known) for _, known in sorted(found.items()) if known]


def _reached(block: PlacedBlock) -> Iterator[tuple[int, list[Integers]]]:
    """For each type of record with several letters: its first record, and which values of the block's own query a letter can have."""
    types = record_types(block.query, block.records)
    for kind, others in zip(types, other_sums(block.query, types), strict=True):
        if len(kind.contribution) > 1:
            reached = [np.unique(block.query.index_of_total(others + c, block.records)) for c in kind.contribution]
            yield block.first + kind.first, reached


def _product(letters: list[Integers]) -> Integers:
    """Every choice of one value a letter."""
    return np.stack(np.meshgrid(*letters, indexing="ij"), axis=-1).reshape(-1, len(letters))


def _table(
    placed: tuple[PlacedBlock, ...], known: dict[tuple[int, ...], tuple[int, int, tuple[int, ...]]]
) -> BlockSelections:
    """One for all tuples of inputs that were not met before or the other way round."""
    inputs = sorted(known)
    place, record, own = zip(*(known[each] for each in inputs), strict=True)
    return BlockSelections(placed, np.array(place), np.array(record), np.array(own), np.array(inputs))
