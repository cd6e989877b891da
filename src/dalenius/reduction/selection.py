"""Selections of a record: the channel input of each of its letters once the others are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Floats, Integers
from dalenius.model.adversaries import IndependentBlocks
from dalenius.model.problems.pieces import PlacedBlock, placed_blocks, reached_values
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.records import Records
from dalenius.model.sums import other_sums, record_types

MAX_NUMBERS = 2**22  # in the selections of a record; the checker's own limit


@dataclass(frozen=True)
class Selections:
    """The selections of one kind of record: I(X_i; Y) is largest at a setting of the others, where it is a capacity of their rows.

    Attributes
    ----------
    record, times : int
        The first record of the kind, and how many records have these very selections.
    inputs : (selections, letters)
        The channel input of the dataset (a, z) for each letter a: one row for all settings z of the other records that give the
        same row, in lexicographic order.
    input_count : int
        How many inputs the channel has.
    """

    record: int
    times: int
    inputs: Integers
    input_count: int

    @property
    def letters(self) -> int:
        return int(self.inputs.shape[1])

    def apply(self, channel: Floats) -> Floats:
        """The rows that each selection selects: (selections, letters, outputs)."""
        return channel[self.inputs]

    def lift(self, selection: int, law: Floats) -> Floats:
        """A law of the letters, the others being known, as masses on (letter, channel input)."""
        masses = np.zeros((self.letters, self.input_count))
        masses[np.arange(self.letters), self.inputs[selection]] = law
        return masses


def selections(query: Query, records: Records) -> list[Selections]:
    """The selections of every kind of record; records with one letter leak nothing and are left out.

    Raises
    ------
    InputError
        If a record has more selections than the checker looks at.

    >>> from dalenius.model.queries import Count
    >>> [(s.times, s.inputs.tolist()) for s in selections(Count(), Records(3, alphabet=2))]
    [(3, [[0, 1], [1, 2], [2, 3]])]
    """
    return _by_sum(query.sums, records) if query.sums else _by_dataset(query, records)


def _by_sum(query: AdditiveQuery, records: Records) -> list[Selections]:
    """Selections from the sums that the other records can have; no dataset is listed."""
    types, values = record_types(query, records), query.values(records).size
    result = []
    for kind, others in zip(types, other_sums(query, types), strict=True):
        if len(kind.contribution) == 1:
            continue
        added = np.array(kind.contribution)
        distinct = np.empty((0, added.size), dtype=np.int64)
        for part in np.array_split(others, -(-others.size * added.size // MAX_NUMBERS)):
            index = query.index_of_total(np.add.outer(part, added), records)
            distinct = _distinct(np.concatenate([distinct, index]), kind.first)
        result.append(Selections(kind.first, kind.times, distinct, values))
    return result


def _by_dataset(query: Query, records: Records) -> list[Selections]:
    """Selections from the list of all datasets; records with equal lists are of one kind."""
    index, values = query.index_of_dataset(records), query.values(records).size
    kinds: dict[tuple[int, bytes], Selections] = {}
    for record, letters in enumerate(records.alphabets):
        if letters == 1:
            continue
        distinct = _distinct(index[records.datasets_by_letter(record).T], record)
        first = kinds.get(key := (letters, distinct.tobytes()))
        record, times = (first.record, first.times + 1) if first else (record, 1)
        kinds[key] = Selections(record, times, distinct, values)
    return list(kinds.values())


def _distinct(rows: Integers, record: int) -> Integers:
    distinct = np.unique(rows, axis=0)
    if distinct.size > MAX_NUMBERS:
        raise InputError(
            f"nothing can be proved about this model: the selections of record {record} hold more than {MAX_NUMBERS} numbers "
            "(docs/certificate-format.md); give the adversary an entropy bound instead, or coarsen the query"
        )
    return distinct


@dataclass(frozen=True)
class RowSets:
    """The selections of one kind of record as sets (with repetition) of a channel's distinct rows.

    Attributes
    ----------
    selections : Selections
    row_of_input : (inputs,)
        Which of the distinct rows every channel input has.
    sets : (sets, letters)
        The rows of a selection in ascending order; selections of equal rows share one set.
    set_of : (selections,)
        The set of each selection.
    """

    selections: Selections
    row_of_input: Integers
    sets: Integers
    set_of: Integers

    @classmethod
    def of(cls, selections: Selections, row_of_input: Integers) -> RowSets:
        rows = np.sort(row_of_input[selections.inputs], axis=1)
        sets, set_of = np.unique(rows, axis=0, return_inverse=True)
        return cls(selections, row_of_input, sets, set_of.reshape(-1))

    def apply(self, rows: Floats) -> Floats:
        """The rows of each set, (sets, letters, outputs), out of the channel's distinct ones."""
        return rows[self.sets]

    def lift(self, number: int, law: Floats) -> tuple[int, Floats]:
        """A law on the rows of a set as one on the letters of the first selection with these rows."""
        selection = int(np.argmax(self.set_of == number))
        letters = np.empty(self.selections.letters)
        letters[np.argsort(self.row_of_input[self.selections.inputs[selection]], kind="stable")] = law
        return selection, letters


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
        return channel[self.inputs]

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

    >>> from dalenius.model.queries import Count
    >>> [found] = block_selections(Count(), Records(2, alphabet=2), IndependentBlocks(2))
    >>> found.inputs.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    placed = tuple(placed_blocks(query, records, adversary))
    found: dict[int, dict[tuple[int, ...], tuple[int, int, tuple[int, ...]]]] = {}
    for place, block in enumerate(placed):
        for record, letters in reached_values(block):
            known = found.setdefault(len(letters), {})
            for own in _product(letters).tolist():
                inputs = tuple(block.inputs[v] for v in own)
                if len(set(inputs)) > 1:
                    known.setdefault(inputs, (place, record, tuple(own)))
    return [_table(placed, known) for _, known in sorted(found.items()) if known]


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
