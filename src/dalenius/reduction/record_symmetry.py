"""Symmetries of a record channel: exchanges of letters, inputs and outputs that leave the matrix and the numbers of completions alone.

A triple (alpha, pi, tau) with N(alpha(a),pi(k)) = N(a,k) and R(pi(k),tau(y)) = R(k,y) moves a prior to one with the same leakage and
the same entropy; for one letter a pair (pi, tau) with N(a,pi(k)) = N(a,k) leaves its row problem alone. They are looked for among
exchanges of two outputs, shifts and mirror images, and compared exactly: entries as the checker makes them, counts as integers.
A certificate may name only what is exact; what is not found costs time, never truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dalenius.information.arrays import Floats, Integers
from dalenius.model import WorstCaseLeakage
from dalenius.reduction.counting import exact_counts
from dalenius.reduction.record_channel import AggregatedRecord, RecordChannel

MOST_ENTRIES = 1 << 16  # of a channel of which more than its mirror image is looked at
MOST_MIRRORED = 1 << 20  # of one of which that is
MOST_PRODUCTS = 2000  # of an exchange of letters and a move of outputs
MOST_OUTPUTS = 64  # whose exchanges are tried two by two


@dataclass(frozen=True, eq=False)
class RowSymmetry:
    """Images of the channel's inputs and outputs, and of the classes and the outputs of the record channel."""

    inputs: Integers
    outputs: Integers
    classes: Integers
    kept: Integers

    def seen_by(self, move: RowSymmetry) -> RowSymmetry:
        """The same symmetry where everything was moved: it takes the image of an output to the image of what it took the output to."""
        both = ((getattr(self, f.name), getattr(move, f.name)) for f in fields(RowSymmetry))
        return RowSymmetry(*(_placed(where[own], where) for own, where in both))


@dataclass(frozen=True, eq=False)
class Triple(RowSymmetry):
    """The same with the letters' images."""

    letters: Integers

    def then(self, other: Triple) -> Triple:
        """First this one, then the other."""
        return Triple(*(getattr(other, f.name)[getattr(self, f.name)] for f in fields(Triple)))

    def box(self, ends: Floats) -> Floats:
        """Ends of ranges (letters, outputs), moved."""
        moved = np.empty_like(ends)
        moved[np.ix_(self.letters, self.kept)] = ends
        return moved


Source = tuple[
    int, Triple | None
]  # the letter whose row problem another one's is, and how to get from there; None: it is the same


@dataclass(frozen=True)
class RecordSymmetries:
    """Symmetries found of one record.

    Attributes
    ----------
    triples : tuple of Triple
        Of the whole record.
    rows : tuple of (tuple of RowSymmetry), by letter
        Of each letter's row problem alone.
    alike : tuple of int
        For every letter the first one with the same number of completions to each input.
    """

    triples: tuple[Triple, ...]
    rows: tuple[tuple[RowSymmetry, ...], ...]
    alike: tuple[int, ...]

    def within(self, low: Floats, high: Floats) -> RecordSymmetries:
        """With the triples that leave a box of the conditionals (letters, outputs) as it is."""
        kept = (t for t in self.triples if np.array_equal(t.box(low), low) and np.array_equal(t.box(high), high))
        return replace(self, triples=tuple(kept))

    def least(self, ends: Floats) -> Floats:
        """Ends (letters, outputs) of a channel's ranges, lowered to the least of their orbit.

        A symmetry maps the exact entries onto each other, so the exact ends on an orbit are one number. Their doubles may differ in
        the last digit, and are made one here: from then on ends are the same where they are equal.
        """
        while True:
            before, ends = ends, ends.copy()
            for triple in self.triples:
                ends = np.minimum(ends, triple.box(ends))
            for own, moves in zip(ends, self.rows, strict=True):
                for move in moves:
                    own[move.kept] = np.minimum(own[move.kept], own)
            if np.array_equal(ends, before):
                return ends

    def sources(self, low: Floats, high: Floats) -> tuple[Source, ...]:
        """For every letter the first one whose row problem it has on a box that the triples leave alone, as it is or moved by them."""
        keys = [(first, low[a].tobytes(), high[a].tobytes()) for a, first in enumerate(self.alike)]
        found: dict[int, Source] = {}
        for first, key in enumerate(keys):
            if first in found:
                continue
            found |= {letter: (first, None) for letter, other in enumerate(keys) if other == key}
            queue: list[int] = [first]
            while queue:
                letter = queue.pop()
                way = found[letter][1]
                for triple in self.triples:
                    if (image := int(triple.letters[letter])) not in found:
                        found[image] = first, triple if way is None else way.then(triple)
                        queue.append(image)
        return tuple(found[letter] for letter in range(len(keys)))

    def orbit(self, letter: int, output: int, outputs: int) -> tuple[NDArray[np.bool_], tuple[Triple, ...]]:
        """The pairs (letter, output), as a table, that triples take one to, and few triples that make them."""
        table = np.zeros((len(self.rows), outputs), dtype=np.bool_)
        table[letter, output] = True
        used = list[Triple]()
        grows = True
        while grows:
            grows = False
            for triple in self.triples:
                image = table.copy()
                image[np.ix_(triple.letters, triple.kept)] |= table
                if not np.array_equal(image, table):
                    table, grows = image, True
                    if not any(triple is known for known in used):
                        used.append(triple)
        return table, tuple(used)

    def outputs(self, size: int) -> Integers:
        """The orbit of each output of the record channel under the triples."""
        return orbits_of(size, [triple.kept for triple in self.triples])

    @classmethod
    def none(cls, record: RecordChannel) -> RecordSymmetries:
        """None: where something is given that they would move, a letter law for instance."""
        return cls((), ((),) * record.letters, _first_alike(record.log_uniform))

    @classmethod
    def of(cls, problem: WorstCaseLeakage, record: AggregatedRecord) -> RecordSymmetries:
        """Those of a record; none where the channel or its numbers are large, or entries are not known to be equal.

        >>> import dalenius as dl
        >>> from dalenius.reduction import record_channels
        >>> problem = dl.WorstCaseLeakage(records=dl.Records(3, alphabet=3), query=dl.ModularSum(3), mechanism=dl.symmetric("0.2"),
        ...     adversary=dl.EntropyAtLeast("0.9 max"))
        >>> found = RecordSymmetries.of(problem, record_channels(problem)[0])
        >>> len(found.rows[0]) >= 3, sorted({tuple(triple.letters.tolist()) for triple in found.triples})[:2]
        (True, [(0, 1, 2), (0, 2, 1)])
        """
        kept, entries = record.aggregation.kept_outputs, _entries(problem)
        listed = exact_counts(problem.query_of_inputs, problem.records, record.record)
        if listed is None:
            return cls((), ((),) * record.letters, _first_alike(record.completions.log_uniform))
        counts = _numbered(listed)
        if entries is None:
            return cls((), ((),) * record.letters, _first_alike(counts))
        ordered = np.sort(entries[:, kept], axis=0)
        moves = [move for move in _likely(len(kept), problem) if np.array_equal(ordered[:, move], ordered)]
        table = _Table(entries, counts.T, kept, record.aggregation.row_of_input)
        rows: dict[bytes, tuple[RowSymmetry, ...]] = {}  # letters with the same counts have the same
        for own in counts:
            if own.tobytes() not in rows:
                rows[own.tobytes()] = tuple(table.row_symmetries(own, moves))
        triples = _with_products(list(table.triples(moves)))
        return cls(triples, tuple(rows[own.tobytes()] for own in counts), _first_alike(counts))


def _entries(problem: WorstCaseLeakage) -> Integers | None:
    """The channel's entries as numbers; None where it is large, or nobody knows which of them are equal."""
    return None if problem.channel.size > MOST_MIRRORED else problem.alike


def _numbered(listed: list[list[int]]) -> Integers:
    """Integers of any size as small ones, 0 as 0."""
    number: dict[int, int] = {0: 0}
    return np.array([[number.setdefault(n, len(number)) for n in row] for row in listed], dtype=np.int64)


def _first_alike(table: Floats | Integers) -> tuple[int, ...]:
    first: dict[bytes, int] = {}
    return tuple(first.setdefault(row.tobytes(), a) for a, row in enumerate(table))


@dataclass(frozen=True)
class _Table:
    """Entries (inputs, outputs) and counts (inputs, letters) as numbers that are equal where what they stand for is.

    Outputs that are not kept have probability 0 in doubles, which the checker does not know: they stay where they are.
    """

    whole: Integers
    counts: Integers
    kept: Integers
    row_of_input: Integers

    @property
    def entries(self) -> Integers:
        """Of the kept outputs."""
        return self.whole[:, self.kept]

    def row_symmetries(self, counts: Integers, moves: list[Integers]) -> Iterator[RowSymmetry]:
        """Of the row problem of a letter with these counts."""
        own = np.flatnonzero(counts)
        for move in moves:
            found = _rearranged(np.column_stack([self.entries, counts])[own], _with(move, np.zeros(1, np.int64)))
            if found is not None and self._holds(own, own[found], move):
                yield RowSymmetry(*self._moves(own, own[found], move))

    def triples(self, moves: list[Integers]) -> Iterator[Triple]:
        """Exchanges of two letters that are alike, and for each move of outputs letters that go with it."""
        rows, row = np.unique(self.entries, axis=0, return_inverse=True)
        number: dict[tuple[int, ...], int] = {}
        listed = ((np.sort(self.counts[row.reshape(-1) == k], axis=0).T).tolist() for k in range(len(rows)))
        classes = np.array([[number.setdefault(tuple(n), len(number)) for n in letters] for letters in listed]).T
        still = np.arange(len(self.kept))
        if len(classes) <= MOST_OUTPUTS and self.whole.size <= MOST_ENTRIES:
            for letters in _exchanges(len(classes)):
                if np.array_equal(classes[letters], classes):
                    yield from self._triple(letters, still)
        for move in moves:
            moved = _rearranged(rows, move)
            companion = None if moved is None else _rearranged(classes, moved)
            if companion is not None:
                yield from self._triple(companion, move)

    def _triple(self, letters: Integers, move: Integers) -> Iterator[Triple]:
        """The triple with these letters and outputs, if there is one."""
        used = np.flatnonzero(self.counts.any(axis=1))
        found = _rearranged(np.column_stack([self.entries, self.counts])[used], _with(move, letters))
        if found is not None and self._holds(used, used[found], move):
            yield Triple(*self._moves(used, used[found], move), letters)

    def _holds(self, used: Integers, images: Integers, move: Integers) -> bool:
        """True if the channel is left alone at the outputs that are not kept, too."""
        outputs = np.arange(self.whole.shape[1])
        outputs[self.kept] = self.kept[move]
        return np.array_equal(self.whole[np.ix_(images, outputs)], self.whole[used])

    def _moves(self, used: Integers, images: Integers, move: Integers) -> tuple[Integers, Integers, Integers, Integers]:
        """Images of all inputs, outputs, classes and kept outputs, if these inputs and kept outputs go there."""
        inputs, outputs = np.arange(len(self.counts)), np.arange(self.whole.shape[1])
        inputs[used], outputs[self.kept] = images, self.kept[move]
        classes = np.arange(self.row_of_input.max() + 1)
        classes[self.row_of_input[used]] = self.row_of_input[images]
        return inputs, outputs, classes, move


def _placed(values: Integers, places: Integers) -> Integers:
    placed = np.empty_like(values)
    placed[places] = values
    return placed


def orbits_of(size: int, moves: list[Integers]) -> Integers:
    """The number of the orbit of each point, counted in the order of their first points.

    >>> orbits_of(5, [np.array([1, 0, 2, 3, 4]), np.array([0, 1, 2, 4, 3])]).tolist()
    [0, 0, 1, 2, 2]
    """
    label = np.arange(size)
    while True:
        new = label
        for move in moves:
            least = np.minimum(new, new[move])
            moved = np.empty_like(least)
            moved[move] = least
            new = np.minimum(least, moved)
        if np.array_equal(new, label):
            return np.unique(label, return_inverse=True)[1].reshape(-1)
        label = new


def even(law: Floats, orbit: Integers) -> Floats:
    """The geometric mean of a law over orbits, normalised; where nothing moves, the law as it is.

    >>> even(np.array([0.1, 0.4, 0.5]), np.array([0, 0, 1])).round(6).tolist()
    [0.222222, 0.222222, 0.555556]
    """
    if len(law) == orbit.max() + 1:
        return law
    means = np.exp(np.bincount(orbit, np.log(law)) / np.bincount(orbit))[orbit]
    return means / means.sum()


def _with_products(triples: list[Triple]) -> tuple[Triple, ...]:
    """Exchanges of letters after moves of outputs join them, if they are few: a box may be left as it is by both together only."""
    still = [triple for triple in triples if np.array_equal(triple.kept, np.arange(len(triple.kept)))]
    moving = [triple for triple in triples if not any(triple is other for other in still)]
    products = (first.then(second) for first in moving for second in still)
    return (*triples, *(products if len(still) * len(moving) <= MOST_PRODUCTS else ()))


def _with(move: Integers, others: Integers) -> Integers:
    """One move of the columns of two tables side by side."""
    return np.concatenate([move, len(move) + others])


def _rearranged(table: Integers, columns: Integers) -> Integers | None:
    """Images of rows if columns go there: table[rows[k], columns[y]] = table[k, y]; None if there are none."""
    moved = np.empty_like(table)
    moved[:, columns] = table
    return found_again(moved, table)


def found_again(rows: Floats | Integers, table: Floats | Integers) -> Integers | None:
    """Places of the rows in a table of the same rows in some order; None if it has others.

    >>> found_again(np.array([[1, 2], [3, 4]]), np.array([[3, 4], [1, 2]])).tolist()
    [1, 0]
    """
    if rows.shape != table.shape:
        return None
    order, other = np.lexsort(rows.T), np.lexsort(table.T)
    if not np.array_equal(rows[order], table[other]):
        return None
    places = np.empty(len(table), dtype=np.int64)
    places[order] = other
    return places


def _likely(size: int, problem: WorstCaseLeakage) -> Iterator[Integers]:
    """Moves of outputs that channels often allow: exchanges of two, shifts, mirror images; of datasets also what records allow."""
    outputs, large = np.arange(size), problem.channel.size > MOST_ENTRIES
    if size <= MOST_OUTPUTS and not large:
        yield from _exchanges(size)
        if size > 2:
            for shift in range(1, size):
                yield np.roll(outputs, shift)
            yield (-outputs) % size
    if size > 2:
        yield outputs[::-1]
    if problem.inputs == "dataset" and size == len(problem.channel) and not large:
        yield from _of_datasets(outputs.reshape(problem.records.alphabets))


def _of_datasets(grid: Integers) -> Iterator[Integers]:
    """Exchanges of two letters of a record, and of two records."""
    for i, size in enumerate(grid.shape):
        for exchange in _exchanges(size):
            yield np.take(grid, exchange, axis=i).reshape(-1)
    for i, j in combinations(range(grid.ndim), 2):
        if grid.shape[i] == grid.shape[j]:
            yield np.swapaxes(grid, i, j).reshape(-1)


def _exchanges(size: int) -> Iterator[Integers]:
    for i, j in combinations(range(size), 2):
        exchange = np.arange(size)
        exchange[[i, j]] = j, i
        yield exchange
