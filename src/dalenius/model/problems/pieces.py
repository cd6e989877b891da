"""Pieces of a question about independent blocks: a question about each block, for every total of the other records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from dalenius.errors import InputError
from dalenius.information.arrays import Floats, Integers
from dalenius.model.adversaries.independent_blocks import BlockKind, IndependentBlocks
from dalenius.model.mechanisms import NOISES, Mechanism
from dalenius.model.mechanisms.independent_releases import APART
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.records import Records
from dalenius.model.sums import RecordType, attained_sums, other_sums, record_types


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
    query: AdditiveQuery
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


# What a question about independent blocks comes down to: questions about one block each, for every total of the other records.
#
# I(X_i; Y) is convex in the channel from the own block to the release, so the rest of the data is at one dataset, and matters through
# the sum of its contributions alone. Noise that is added to the sum makes all totals the same question (docs/theory.md, independent
# blocks).


KNOWN = (
    f"count or sum with exponential, or noise without a range ({', '.join(NOISES)}; geometric may have one); "
    "parity or modular_sum with symmetric or randomized_response; parity with any noise on a bit; several_releases of these but "
    "exponential, Gaussian and real ones, of a joint query, too; threshold, also with adaptive, with any noise on a bit; any of these "
    "but a joint query with a matrix from its values, or adaptive with matrices; histogram with randomized_histogram"
)
MOST, MOST_SELECTED = 100_000, 2**22


@dataclass(frozen=True)
class PlacedBlock:
    """A block with a total of the other records, where mechanisms are matrices from the query's values.

    Attributes
    ----------
    block, first, times : int
        The first block, its first record, and how many blocks there are that nobody can tell apart.
    total : int
        What the contributions of the other records add up to.
    records, query
        The block's own.
    inputs : (values,)
        For each value of its own query, ascending, the index of the value that it makes together with the total.
    """

    block: int
    first: int
    times: int
    total: int
    records: Records
    query: AdditiveQuery
    inputs: tuple[int, ...]


def placed_blocks(query: Query, records: Records, adversary: IndependentBlocks) -> list[PlacedBlock]:
    """All of them, but for those in which no letter changes the query's value.

    Raises
    ------
    InputError
        If the query adds nothing up, there are more than 100,000, or their records' letters select more than 2^22 numbers.

    >>> from dalenius.model.queries import Count
    >>> [placed.inputs for placed in placed_blocks(Count(), Records(4, alphabet=2), IndependentBlocks(2))]
    [(0, 1, 2), (1, 2, 3), (2, 3, 4)]
    """
    sums = query.sums
    if sums is None or not (sums.hidden_by or sums.cuts):
        raise InputError(
            f"adversary: designs against independent_blocks know count, sum, parity, modular_sum and threshold; got {query.kind}"
        )
    query.check_values(records)
    found = list[PlacedBlock]()
    for kind in _kinds(sums, records, adversary):
        found += _placed(sums, records, kind)
        _need_few(found)
    selected = sum(len(letters) * prod(map(len, letters)) for block in found for _, letters in reached_values(block))
    if selected > MOST_SELECTED:
        raise InputError(
            f"adversary: the letters of the blocks' records select more than {MOST_SELECTED} numbers; make blocks smaller, or coarsen "
            "the query"
        )
    return found


def reached_values(block: PlacedBlock) -> Iterator[tuple[int, list[Integers]]]:
    """For each type of record with several letters: its first record, and which values of the block's own query a letter can have."""
    types = record_types(block.query, block.records)
    for kind, others in zip(types, other_sums(block.query, types), strict=True):
        if len(kind.contribution) > 1:
            reached = [np.unique(block.query.index_of_total(others + c, block.records)) for c in kind.contribution]
            yield block.first + kind.first, reached


def pieces(query: Query, records: Records, mechanism: Mechanism, adversary: IndependentBlocks) -> list[Piece]:
    """All of them; those that reveal nothing about anybody, because no letter changes the query's value, are left out.

    Raises
    ------
    InputError
        If it is not known what such a query and mechanism come down to, or there are more than 100,000 pieces.

    >>> from dalenius.model.mechanisms import Geometric
    >>> from dalenius.model.queries import Count
    >>> [piece] = pieces(Count(), Records(1_000_000, alphabet=2), Geometric(0.5), IndependentBlocks(4))
    >>> piece.times, piece.total, piece.query.values(piece.records).tolist()
    (250000, None, [0, 1, 2, 3, 4])
    """
    sums = query.sums
    if sums is None:
        raise InputError(_unknown(query, mechanism))
    split = _way(sums, mechanism)
    if mechanism.on_a_line and adversary.entropy_at_least is not None:
        raise InputError(
            f"adversary: independent_blocks with {mechanism.kind} knows no entropy: any law of a block is; leave entropy_at_least out"
        )
    if mechanism.listed:
        query.check_values(records)
        mechanism.channel(query.values(records))
    if len(sums.together) > 1 and len(set(records.alphabets)) > 1:
        raise InputError("query: against independent_blocks a joint query needs records of one alphabet")
    _need_in_range(sums, records, mechanism)
    found = list[Piece]()
    for kind in _kinds(sums, records, adversary):
        found += split(sums, records, mechanism, kind)
        _need_few(found)
    return found


def own_rows(query: Query, records: Records, mechanism: Mechanism, record: int) -> Floats | None:
    """The channel from one record's letters (letters, outputs) where whoever knows the others sees it only shifted.

    None where it is not known to be shifted, has real outputs, or reveals nothing; clamped far out where nothing cuts noise off.

    >>> from dalenius.model.mechanisms import Geometric
    >>> from dalenius.model.queries import Count
    >>> own_rows(Count(), Records(1_000_000, alphabet=2), Geometric(0.5), 0).round(4).tolist()
    [[0.6225, 0.3775], [0.3775, 0.6225]]
    """
    sums = query.sums
    if sums is None or len(sums.together) > 1 or mechanism.on_a_line or mechanism.independent:
        return None
    one = BlockKind(record, record, 1, _block(records, record, 1))
    if not _is_same(sums, mechanism) or not _tells(sums, one):
        return None
    (piece,) = _same(sums, records, mechanism, one)
    own = piece.query
    letters = own.index_of_total(np.array(own.contribution(0, one.records.alphabets[0])), piece.records)
    return piece.mechanism.channel(own.values(piece.records))[letters]


def _kinds(query: AdditiveQuery, records: Records, adversary: IndependentBlocks) -> Iterator[BlockKind]:
    """The kinds of blocks in which some letter changes the query's value."""
    about = (
        (lambda start, size: query.of_block(start, _block(records, start, size))) if query.varies_by_record() else None
    )
    return (kind for kind in adversary.kinds_of(records, about) if _tells(query, kind))


def _need_few(found: Sequence[object]) -> None:
    if len(found) > MOST:
        raise InputError(f"adversary: the blocks come down to more than {MOST} audits; make fewer kinds of them")


def _block(records: Records, start: int, size: int) -> Records:
    return Records(alphabets=records.alphabets[start : start + size])


Way = Callable[[AdditiveQuery, Records, Mechanism, BlockKind], Iterator[Piece]]


def _way(query: AdditiveQuery, mechanism: Mechanism) -> Way:
    """Parts of a query and a mechanism (docs/certificate-format.md, independent blocks)."""
    parts, stages = _parts(query, mechanism), list(mechanism.stages())
    if parts and all(_is_same(*part) for part in parts):
        return _same
    if query.by_cell and mechanism.leaves_others:
        return _known_letters
    if query.hidden_by == "shifts" and mechanism.ranged:
        return _ranged
    if query.cuts and all(one.on_a_bit or one.by_value for one in stages):
        return _undecided
    if query.hidden_by and all(one.by_value for one in stages):
        return _rows
    for one, _, j in mechanism.independent:
        for asked in query.together[j : j + 1]:
            _way(asked, one)  # what is not known alone either is refused by itself
            if one.tail or not _is_same(asked, one):
                told = f"does not know {query.kind} with {mechanism.kind} of {one.kind}"
                raise InputError(f"adversary: independent_blocks {told}; {APART}")
    raise InputError(_unknown(query, mechanism))


def _parts(query: AdditiveQuery, mechanism: Mechanism) -> list[tuple[AdditiveQuery, Mechanism]]:
    """Releases, each with its query; nothing where a part is on none or clamped, or a query is known in no part."""
    queries, parts = query.together, mechanism.independent
    if not parts:
        return [] if len(queries) > 1 else [(query, mechanism)]
    known = all(one.hidden_by for one in queries)
    if not known or any(part.on >= len(queries) or part.mechanism.tail for part in parts):
        return []
    return [(queries[part.on], part.mechanism) for part in parts]


def _is_same(query: AdditiveQuery, mechanism: Mechanism) -> bool:
    """True if all totals of the others are one question."""
    return bool(query.hidden_by) and bool(getattr(mechanism, query.hidden_by))


def _same(query: AdditiveQuery, records: Records, mechanism: Mechanism, kind: BlockKind) -> Iterator[Piece]:
    """Channels for which the total of the others makes no difference, one or several at once.

    Noise with infinite tails is clamped so far beyond the block's own values that what this hides is next to nothing.
    """
    own, noise = query.of_block(kind.first, kind.records), mechanism.alone()
    slack = noise.hidden(max(kind.records.alphabets))
    if noise.tail:
        noise = noise.clamped(own.values(kind.records))
    yield Piece(kind.block, kind.first, kind.times, None, kind.records, own, noise, slack)


def _known_letters(query: AdditiveQuery, records: Records, mechanism: Mechanism, kind: BlockKind) -> Iterator[Piece]:
    """Randomised letters: how many of the others have each letter makes a difference, but not which letter is which."""
    own, size = query.of_block(kind.first, kind.records), len(kind.records)
    known = mechanism.known_others(size, len(records) - size, records.alphabets[0])
    for total in dict.fromkeys((*known.above, *known.below)):
        noise, bounds, attained = mechanism.with_others(total), total in known.above, total in known.below
        yield Piece(
            kind.block, kind.first, kind.times, total, kind.records, own, noise, bounds=bounds, attained=attained
        )


def _ranged(query: AdditiveQuery, records: Records, mechanism: Mechanism, kind: BlockKind) -> Iterator[Piece]:
    """Every total of the others lies elsewhere between the ends of the range."""
    own, listed = query.of_block(kind.first, kind.records), query.values(records)
    values, ends = own.values(kind.records), (int(listed[0]), int(listed[-1]))
    for total in attained_sums(query, _others(query, records, kind)).tolist():
        noise = mechanism.at_total(total, values, ends)
        yield Piece(kind.block, kind.first, kind.times, total, kind.records, own, noise)


def _ends(query: AdditiveQuery, records: Records) -> tuple[int, int]:
    """The least and the greatest sum."""
    types = record_types(query, records)
    least, most = (sum(t.times * end(t.contribution) for t in types) for end in (min, max))
    return least, most


def _undecided(query: AdditiveQuery, records: Records, mechanism: Mechanism, kind: BlockKind) -> Iterator[Piece]:
    """The rest of the query once the others' letters are counted; only where the block can still decide."""
    for placed in _placed(query, records, kind):
        yield Piece(kind.block, kind.first, kind.times, placed.total, kind.records, placed.query, mechanism)


def _rows(query: AdditiveQuery, records: Records, mechanism: Mechanism, kind: BlockKind) -> Iterator[Piece]:
    """The rows of the values that are left, for every total."""
    for placed in _placed(query, records, kind):
        noise = mechanism.of_rows(placed.inputs)
        yield Piece(kind.block, kind.first, kind.times, placed.total, kind.records, placed.query, noise)


def _placed(query: AdditiveQuery, records: Records, kind: BlockKind) -> Iterator[PlacedBlock]:
    if query.cuts:
        for total, left in query.undecided(kind.records, records):
            yield PlacedBlock(kind.block, kind.first, kind.times, total, kind.records, left, (0, 1))
        return
    own = query.of_block(kind.first, kind.records)
    values = own.values(kind.records)
    for total in attained_sums(query, _others(query, records, kind)).tolist():
        inputs = _places(query, records, values + total)
        yield PlacedBlock(kind.block, kind.first, kind.times, total, kind.records, own, inputs)


def _places(query: AdditiveQuery, records: Records, values: np.ndarray) -> tuple[int, ...]:
    """Places of these values among the query's."""
    modulus = query.modulus()
    listed = values if modulus is None else values % modulus
    return tuple(np.searchsorted(query.values(records), listed).tolist())


def _others(query: AdditiveQuery, records: Records, kind: BlockKind) -> list[RecordType]:
    """The types of the records outside the block."""
    own = {t.contribution: t.times for t in record_types(query.of_block(kind.first, kind.records), kind.records)}
    types = (replace(t, times=t.times - own.get(t.contribution, 0)) for t in record_types(query, records))
    return [t for t in types if t.times]


def _tells(query: AdditiveQuery, kind: BlockKind) -> bool:
    """True if some letter of some record of the block changes the query's sum."""
    modulus = query.modulus()
    sizes = (
        enumerate(kind.records.alphabets, kind.first)
        if query.varies_by_record()
        else ((0, a) for a, _ in kind.records.runs)
    )
    contributions = (query.contribution(record, size) for record, size in sizes)
    return any(len({c if modulus is None else c % modulus for c in row}) > 1 for row in contributions)


def _need_in_range(query: AdditiveQuery, records: Records, mechanism: Mechanism) -> None:
    """Refuse a range that does not have all sums."""
    for own, part in _parts(query, mechanism):
        if own.hidden_by != "shifts":
            continue
        least, most = _ends(own, records)
        lo, hi = part.span(np.array([least, most]))
        if not lo <= least <= most <= hi:
            raise InputError(
                f"mechanism: the query's values run from {least} to {most}, outside the range [{lo}, {hi}]; widen it"
            )


def _unknown(query: Query, mechanism: Mechanism) -> str:
    if mechanism.is_own or mechanism.against_blocks:
        instead = mechanism.against_blocks or "its matrix, dl.Channel(rows), with a row for each of the query's values"
        return f"adversary: independent_blocks does not know {query.kind} with {mechanism.kind}; write {instead}"
    return f"adversary: independent_blocks knows {KNOWN}; got {query.kind} with {mechanism.kind}"
