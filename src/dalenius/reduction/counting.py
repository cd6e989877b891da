"""In how many settings, and with what probability, the others complete a letter to each value: no dataset is listed.

Counts are kept as log(count / number of datasets): these stay of moderate size where the counts have thousands of digits, and so do
the rounding errors.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.model.laws import Law, Uniform, dataset_weights, sum_weights, width_of_sums
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.records import Records
from dalenius.model.sums import RecordType, Sums, folded, record_types, sums_of_others

FEW_DATASETS = 25.0  # nats: so few that numbers of completions are known as integers
MOST_BITS = 1 << 21  # of all sums together, up to which they are counted exactly


@dataclass(frozen=True)
class Completions:
    """The numbers N(a,v) of completions of the letters a of one kind of record to datasets with the value v.

    Attributes
    ----------
    record, times : int
        The first record of the kind, and how many records nobody can tell from it.
    log_uniform : (letters, values)
        log(N(a,v) / |X|): the log masses of the uniform prior; -inf where there is no such completion.
    """

    record: int
    times: int
    log_uniform: Floats

    @property
    def letters(self) -> int:
        return int(self.log_uniform.shape[0])

    @property
    def uniform(self) -> Floats:
        """The uniform prior, as masses on (letter, value)."""
        return np.exp(self.log_uniform)


def completions(query: Query, records: Records) -> list[Completions]:
    """The numbers of completions for every kind of record, records with one letter included.

    >>> from dalenius.model.queries import Parity
    >>> [(c.times, c.log_uniform.round(3).tolist()) for c in completions(Parity(), Records(3, alphabet=2))]
    [(3, [[-1.386, -1.386], [-1.386, -1.386]])]
    """
    return list(_of_sums(query.sums, records) if query.sums else _of_datasets(query, records))


def exact_counts(query: Query, records: Records, record: int) -> list[list[int]] | None:
    """N(a,v) of one record exactly, by letter, then by value; None where the numbers have too many digits.

    >>> from dalenius.model.queries import Count
    >>> exact_counts(Count(), Records(4, alphabet=2), 0)
    [[1, 3, 3, 1, 0], [0, 1, 3, 3, 1]]
    """
    sums = query.sums
    if sums is None:
        counts = np.exp(next(part for part in _of_datasets(query, records) if part.record == record).log_uniform)
        return [[round(count * math.exp(records.log_datasets)) for count in row] for row in counts.tolist()]
    types, own = record_types(sums, records), sums.contribution(record, records.alphabets[record])
    if (records.log_datasets / math.log(2.0) + 2) * width_of_sums(sums, types) > MOST_BITS:
        return None
    others = [dataclasses.replace(t, times=t.times - (t.contribution == own)) for t in types]
    totals, settings = sum_weights(sums, others, Uniform())
    table = [[0] * query.values(records).size for _ in own]
    for row, added in zip(table, own, strict=True):
        for v, count in zip(sums.index_of_total(totals + added, records).tolist(), settings, strict=True):
            row[v] += count
    return table


def _of_sums(query: AdditiveQuery, records: Records) -> Iterator[Completions]:
    """N(a, .) is the distribution of the sum of all other records, shifted by what letter a adds."""
    types = record_types(query, records)
    for kind, others in zip(types, sums_of_others(query.modulus(), types, _convolved), strict=True):
        yield Completions(kind.first, kind.times, _by_value(query, records, kind, others))


def _of_datasets(query: Query, records: Records) -> Iterator[Completions]:
    """Counted one dataset after the other; every record is a kind of its own."""
    index, values = query.index_of_dataset(records), query.values(records).size
    for record, letters in enumerate(records.alphabets):
        counts = np.zeros((letters, values))
        np.add.at(counts, (records.letters_of_datasets(record), index), 1.0)
        with np.errstate(divide="ignore"):
            yield Completions(record, 1, np.log(counts / index.size))


def _by_value(query: AdditiveQuery, records: Records, kind: RecordType, others: Sums) -> Floats:
    table = np.full((len(kind.contribution), query.values(records).size), -np.inf)
    finite = others.logs[np.isfinite(others.logs)]
    for letter, added in enumerate(kind.contribution):
        np.logaddexp.at(table[letter], query.index_of_total(others.attained() + added, records), finite)
    return _whole(table - np.log(len(kind.contribution)), records.log_datasets)


def _whole(log_shares: Floats, log_datasets: float) -> Floats:
    """Logarithms of shares of datasets; where these are few, the numbers are made whole again, so that equal ones look equal."""
    if log_datasets > FEW_DATASETS:
        return log_shares
    with np.errstate(divide="ignore"):
        return np.log(np.round(np.exp(log_shares + log_datasets))) - log_datasets


def _convolved(a: Sums, b: Sums, modulus: int | None) -> Sums:
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
    return folded(a.low + b.low, a.step, logs, modulus)


@dataclass(frozen=True)
class Settings:
    """Settings of the other records where all are independent, for records that nobody can tell apart.

    Attributes
    ----------
    record, times : int
        The first record of the kind, and how many are of it.
    inputs : (settings, letters)
        The channel input that each letter selects.
    weights : whole numbers, one a setting, all above 0
        Proportional to the probability of the setting.
    """

    record: int
    times: int
    inputs: Integers
    weights: tuple[int, ...]


def settings_of_others(query: Query, records: Records, law: Law) -> list[Settings]:
    """The settings of the others for every kind of record.

    >>> from dalenius.model.laws import Iid
    >>> from dalenius.model.queries import Count
    >>> [(s.inputs.tolist(), s.weights) for s in settings_of_others(Count(), Records(3, alphabet=2), Iid([0.25, 0.75]))]
    [([[0, 1], [1, 2], [2, 3]], (1, 6, 9))]
    """
    return list(_by_sum(query.sums, records, law) if query.sums else _by_dataset(query, records, law))


def _by_sum(query: AdditiveQuery, records: Records, law: Law) -> Iterator[Settings]:
    types = record_types(query, records)
    for place, kind in enumerate(types):
        others = [dataclasses.replace(t, times=t.times - (j == place)) for j, t in enumerate(types)]
        sums, weights = sum_weights(query, others, law)
        index = query.index_of_total(np.add.outer(sums, np.array(kind.contribution)), records)
        yield Settings(kind.first, kind.times, index, tuple(weights))


def _by_dataset(query: Query, records: Records, law: Law) -> Iterator[Settings]:
    """Every record is a kind of its own; a setting weighs what all its datasets do."""
    index, weights = query.index_of_dataset(records), np.array(dataset_weights(records, law), dtype=object)
    for record in range(len(records)):
        datasets = records.datasets_by_letter(record)
        masses = weights[datasets].sum(axis=0)
        there = np.flatnonzero(masses != 0)
        yield Settings(record, 1, index[datasets].T[there], tuple(masses[there].tolist()))
