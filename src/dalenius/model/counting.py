"""How many settings of the other records lead to each query value: convolution in the log domain, no dataset is listed.

Counts are kept as log shares, log(count / number of settings): they stay of moderate size where the counts have thousands
of digits, and so do the rounding errors. A distribution of sums is the array of log shares of the sums low, low + step, ...;
modulo m it has length m and low = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.model.queries import AdditiveQuery
from dalenius.model.queries.base import Integers, spacing
from dalenius.model.records import Records

__all__ = ["RecordType", "index_of_sum", "log_shares", "other_sums", "record_types"]

Floats = NDArray[np.float64]
FEW_SHIFTS = 64


@dataclass(frozen=True)
class RecordType:
    """Records that nobody can tell apart: equal alphabets, equal contributions. `first` stands for all `times` of them."""

    first: int
    times: int
    contribution: tuple[int, ...]


@dataclass(frozen=True)
class _Sums:
    low: int
    step: int
    logs: Floats

    def attained(self) -> Integers:
        """The sums that occur."""
        return self.low + self.step * np.flatnonzero(np.isfinite(self.logs))


Convolution = Callable[[_Sums, _Sums, int | None], _Sums]


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


def log_shares(query: AdditiveQuery, records: Records, types: list[RecordType]) -> list[Floats]:
    """For each record type, log(N(a,v) / |X|): the share of datasets with letter a and the v-th query value (-inf for none).

    N(a, .) is the distribution of the sum of all other records, shifted by what letter a adds.
    """
    others = _sums_of_others(query.modulus(), types, _convolve)
    return [_by_value(query, records, t, sums) for t, sums in zip(types, others, strict=True)]


def other_sums(query: AdditiveQuery, types: list[RecordType]) -> list[Integers]:
    """For each record type, the sums that all other records can have (modulo the query's modulus), ascending.

    >>> from dalenius.model.queries import Count
    >>> other_sums(Count(), record_types(Count(), Records(4, alphabet=2)))[0].tolist()
    [0, 1, 2, 3]
    """
    return [sums.attained() for sums in _sums_of_others(query.modulus(), types, _reach)]


def index_of_sum(query: AdditiveQuery, records: Records, sums: Integers) -> Integers:
    """Index among the query's values of the value at each sum that occurs; not yet reduced modulo the query's modulus."""
    modulus = query.modulus()
    return query.index_of_sum(sums if modulus is None else sums % modulus, records)


def _sums_of_others(modulus: int | None, types: list[RecordType], convolve: Convolution) -> list[_Sums]:
    """For each record type, the sum of all records but one of this type."""
    step = 1 if modulus else spacing(t.contribution for t in types)
    own = [_letter_sums(t.contribution, modulus, step) for t in types]
    powers = [_power(sums, t.times, modulus, convolve) for t, sums in zip(types, own, strict=True)]
    before, after = [_zero(modulus, step)], [_zero(modulus, step)]
    for power in powers:
        before.append(convolve(before[-1], power, modulus))
    for power in reversed(powers):
        after.append(convolve(after[-1], power, modulus))
    result = []
    for j, (t, sums) in enumerate(zip(types, own, strict=True)):
        others = convolve(before[j], after[len(types) - 1 - j], modulus)
        result.append(convolve(others, _power(sums, t.times - 1, modulus, convolve), modulus))
    return result


def _by_value(query: AdditiveQuery, records: Records, record_type: RecordType, others: _Sums) -> Floats:
    table = np.full((len(record_type.contribution), query.values(records).size), -np.inf)
    finite = others.logs[np.isfinite(others.logs)]
    for letter, added in enumerate(record_type.contribution):
        index = index_of_sum(query, records, others.attained() + added)
        np.logaddexp.at(table[letter], index, finite)
    return table - np.log(len(record_type.contribution))


def _zero(modulus: int | None, step: int) -> _Sums:
    logs = np.full(modulus or 1, -np.inf)
    logs[0] = 0.0
    return _Sums(0, step, logs)


def _letter_sums(contribution: tuple[int, ...], modulus: int | None, step: int) -> _Sums:
    low = 0 if modulus else min(contribution)
    counts = np.bincount((np.array(contribution) - low) // step, minlength=modulus or 1)
    with np.errstate(divide="ignore"):
        return _Sums(low, step, np.log(counts / len(contribution)))


def _power(sums: _Sums, times: int, modulus: int | None, convolve: Convolution) -> _Sums:
    result, square = _zero(modulus, sums.step), sums
    while times:
        if times & 1:
            result = convolve(result, square, modulus)
        times >>= 1
        if times:
            square = convolve(square, square, modulus)
    return result


def _convolve(a: _Sums, b: _Sums, modulus: int | None) -> _Sums:
    """log sum exp(a_i + b_j) over i + j = s: one pass for the largest term of every s, one for the sum relative to it."""
    short, long = sorted((a.logs, b.logs), key=len)
    top = np.full(short.size + long.size - 1, -np.inf)
    places = np.flatnonzero(np.isfinite(short))
    for i in places:
        window = top[i : i + long.size]
        np.maximum(window, short[i] + long, out=window)
    base = np.where(np.isfinite(top), top, 0.0)
    total = np.zeros(top.size)
    for i in places:
        total[i : i + long.size] += np.exp(short[i] + long - base[i : i + long.size])
    with np.errstate(divide="ignore"):
        logs = np.log(total) + base
    return _folded(a.low + b.low, a.step, logs, modulus)


def _reach(a: _Sums, b: _Sums, modulus: int | None) -> _Sums:
    """Which sums occur at all (logs 0 or -inf): few shifts, or else pairs counted by FFT, whose errors are far below one half."""
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
    return _folded(a.low + b.low, a.step, np.where(occurs, 0.0, -np.inf), modulus)


def _folded(low: int, step: int, logs: Floats, modulus: int | None) -> _Sums:
    if modulus is None:
        return _Sums(low, step, logs)
    folded = np.full((-(-logs.size // modulus), modulus), -np.inf)
    folded.ravel()[: logs.size] = logs
    return _Sums(0, 1, np.logaddexp.reduce(folded, axis=0))
