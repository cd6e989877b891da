"""How many settings of the other records lead to each query value: convolution in the log domain, no dataset is listed.

Counts are kept as log shares, log(count / number of settings): they stay of moderate size where the counts have thousands
of digits, and so do the rounding errors. A distribution of sums is the array of log shares of the sums low, low + step, ...;
modulo m it has length m and low = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.problems.queries import AdditiveQuery
from dalenius.problems.queries.base import spacing
from dalenius.problems.records import Records

__all__ = ["RecordType", "log_shares", "record_types"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RecordType:
    """Records that nobody can tell apart: equal alphabets, equal contributions. `first` stands for all `times` of them."""

    first: int
    times: int
    contribution: tuple[int, ...]


@dataclass(frozen=True)
class _Sums:
    low: int
    logs: Floats


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
    modulus = query.modulus()
    step = 1 if modulus else spacing(t.contribution for t in types)
    own = [_letter_sums(t.contribution, modulus, step) for t in types]
    before, after = [_zero(modulus)], [_zero(modulus)]
    for t, sums in zip(types, own, strict=True):
        before.append(_convolve(before[-1], _power(sums, t.times, modulus), modulus))
    for t, sums in zip(reversed(types), reversed(own), strict=True):
        after.append(_convolve(after[-1], _power(sums, t.times, modulus), modulus))
    tables = []
    for j, (t, sums) in enumerate(zip(types, own, strict=True)):
        others = _convolve(before[j], after[len(types) - 1 - j], modulus)
        others = _convolve(others, _power(sums, t.times - 1, modulus), modulus)
        tables.append(_by_value(query, records, t, others, step))
    return tables


def _by_value(query: AdditiveQuery, records: Records, record_type: RecordType, others: _Sums, step: int) -> Floats:
    modulus = query.modulus()
    table = np.full((len(record_type.contribution), query.values(records).size), -np.inf)
    attained = np.flatnonzero(np.isfinite(others.logs))
    for letter, added in enumerate(record_type.contribution):
        sums = others.low + step * attained + added
        index = query.index_of_sum(sums if modulus is None else sums % modulus, records)
        np.logaddexp.at(table[letter], index, others.logs[attained])
    return table - np.log(len(record_type.contribution))


def _zero(modulus: int | None) -> _Sums:
    logs = np.full(modulus or 1, -np.inf)
    logs[0] = 0.0
    return _Sums(0, logs)


def _letter_sums(contribution: tuple[int, ...], modulus: int | None, step: int) -> _Sums:
    low = 0 if modulus else min(contribution)
    counts = np.bincount((np.array(contribution) - low) // step, minlength=modulus or 1)
    with np.errstate(divide="ignore"):
        return _Sums(low, np.log(counts / len(contribution)))


def _power(sums: _Sums, times: int, modulus: int | None) -> _Sums:
    result, square = _zero(modulus), sums
    while times:
        if times & 1:
            result = _convolve(result, square, modulus)
        times >>= 1
        if times:
            square = _convolve(square, square, modulus)
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
    if modulus is None:
        return _Sums(a.low + b.low, logs)
    folded = np.full((-(-logs.size // modulus), modulus), -np.inf)
    folded.ravel()[: logs.size] = logs
    return _Sums(0, np.logaddexp.reduce(folded, axis=0))
