"""The sums of a query's records: which records are alike, and which sums several of them have; no dataset is listed.

A distribution of sums is the array of logarithms at the sums low, low + step, ...; modulo m it has length m and low = 0. What the
logarithms are of, and so how two distributions make a third, is the caller's choice: here it is whether a sum occurs at all
(logs 0 or -inf); `dalenius.reduction.counting` counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.queries.base import spacing
from dalenius.model.records import Records

FEW_SHIFTS = 64


@dataclass(frozen=True)
class RecordType:
    """Records that nobody can tell apart: equal alphabets, equal contributions. `first` stands for all `times` of them."""

    first: int
    times: int
    contribution: tuple[int, ...]


@dataclass(frozen=True)
class Sums:
    """A distribution of sums: `logs` at low, low + step, ...; -inf where a sum does not occur."""

    low: int
    step: int
    logs: Floats

    def attained(self) -> Integers:
        """The sums that occur, ascending."""
        return self.low + self.step * np.flatnonzero(np.isfinite(self.logs))


Convolution = Callable[
    [Sums, Sums, int | None], Sums
]  # of the sums of some records and of some others, modulo the third


def record_types(query: AdditiveQuery, records: Records) -> list[RecordType]:
    """The records grouped by what their letters contribute, in order of first appearance."""
    first: dict[tuple[int, ...], int] = {}
    times: dict[tuple[int, ...], int] = {}
    if query.varies_by_record():
        runs = [(i, 1, query.contribution(i, size)) for i, size in enumerate(records.alphabets)]
    else:
        starts = np.cumsum([0] + [n for _, n in records.runs])
        runs = [
            (int(start), n, query.contribution(0, size)) for start, (size, n) in zip(starts, records.runs, strict=False)
        ]
    for start, n, contribution in runs:
        first.setdefault(contribution, start)
        times[contribution] = times.get(contribution, 0) + n
    return [RecordType(first[c], times[c], c) for c in first]


def other_sums(query: AdditiveQuery, types: list[RecordType]) -> list[Integers]:
    """For each record type, the sums that all other records can have (modulo the query's modulus), ascending.

    >>> from dalenius.model.queries import Count
    >>> other_sums(Count(), record_types(Count(), Records(4, alphabet=2)))[0].tolist()
    [0, 1, 2, 3]
    """
    return [sums.attained() for sums in sums_of_others(query.modulus(), types, _reached)]


def attained_values(query: Query, records: Records) -> Integers:
    """Indices among the query's values of those that some dataset has, ascending.

    >>> from dalenius.model.queries import Threshold
    >>> attained_values(Threshold(5), Records(4, alphabet=2)).tolist()
    [0]
    """
    sums = query.sums
    if sums is None:
        return np.unique(query.index_of_dataset(records))
    return np.unique(sums.index_of_total(attained_sums(sums, record_types(sums, records)), records))


def attained_sums(query: AdditiveQuery, types: list[RecordType]) -> Integers:
    """The sums that all records of these types can have together (modulo the query's modulus), ascending.

    >>> from dalenius.model.queries import Count
    >>> attained_sums(Count(), record_types(Count(), Records(3, alphabet=2))).tolist()
    [0, 1, 2, 3]
    """
    modulus = query.modulus()
    step = _step(modulus, types)
    powers = (_power(_letter_sums(t, modulus, step), t.times, modulus, _reached) for t in types)
    return reduce(lambda a, b: _reached(a, b, modulus), powers, _zero(modulus, step)).attained()


def sums_of_others(modulus: int | None, types: list[RecordType], convolve: Convolution) -> Iterator[Sums]:
    """For each record type, the sum of all records but one of this type.

    A letter's logarithm is that of its share among the record's letters; `convolve` says what becomes of them.
    """
    step = _step(modulus, types)
    own = [_letter_sums(t, modulus, step) for t in types]
    alone = len(types) == 1  # then no type has others of another
    powers = [] if alone else [_power(sums, t.times, modulus, convolve) for t, sums in zip(types, own, strict=True)]

    def both(a: Sums, b: Sums) -> Sums:
        return convolve(a, b, modulus)

    before = accumulate(powers[:-1], both, initial=_zero(modulus, step))
    after = list(accumulate(reversed(powers[1:]), both, initial=_zero(modulus, step)))[::-1]
    for t, sums, first, last in zip(types, own, before, after, strict=True):
        yield both(both(first, last), _power(sums, t.times - 1, modulus, convolve))


def folded(low: int, step: int, logs: Floats, modulus: int | None) -> Sums:
    """The distribution with these logarithms, its sums taken modulo the query's modulus."""
    if modulus is None:
        return Sums(low, step, logs)
    rounds = np.full((-(-logs.size // modulus), modulus), -np.inf)
    rounds.ravel()[: logs.size] = logs
    return Sums(0, 1, np.logaddexp.reduce(rounds, axis=0))


def _step(modulus: int | None, types: list[RecordType]) -> int:
    return 1 if modulus else spacing(t.contribution for t in types)


def _zero(modulus: int | None, step: int) -> Sums:
    logs = np.full(modulus or 1, -np.inf)
    logs[0] = 0.0
    return Sums(0, step, logs)


def _letter_sums(kind: RecordType, modulus: int | None, step: int) -> Sums:
    low, added = (0, np.array(kind.contribution) % modulus) if modulus else (min(kind.contribution), kind.contribution)
    counts = np.bincount((np.asarray(added) - low) // step, minlength=modulus or 1)
    with np.errstate(divide="ignore"):
        return Sums(low, step, np.log(counts / len(kind.contribution)))


def _power(sums: Sums, times: int, modulus: int | None, convolve: Convolution) -> Sums:
    result, square = _zero(modulus, sums.step), sums
    while times:
        if times & 1:
            result = convolve(result, square, modulus)
        times >>= 1
        if times:
            square = convolve(square, square, modulus)
    return result


def _reached(a: Sums, b: Sums, modulus: int | None) -> Sums:
    """Sums that occur at all (logs 0 or -inf): few shifts, or else pairs counted by FFT, whose errors are far below one half."""
    few, many = sorted((np.isfinite(a.logs), np.isfinite(b.logs)), key=np.count_nonzero)
    occurs = np.zeros(few.size + many.size - 1, dtype=bool)
    places = np.flatnonzero(few)
    if places.size <= FEW_SHIFTS:
        for i in places:
            occurs[i : i + many.size] |= many
    else:
        size = 1 << (occurs.size - 1).bit_length()
        pairs = np.fft.irfft(np.fft.rfft(few, size) * np.fft.rfft(many, size), size)
        occurs = pairs[: occurs.size] > 0.5
    return folded(a.low + b.low, a.step, np.where(occurs, 0.0, -np.inf), modulus)
