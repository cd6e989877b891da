"""The lossless aggregation: what one record's leakage depends on, and nothing else: fibres of equal rows.

The leakage of record i sees the other records z only through the row that (a, z) selects in the channel. Grouping the z of
each letter a by that row gives classes k of N(a,k) members; spreading mass evenly inside a class maximises the entropy. So

    max I(X_i; Y) over priors with H(P) >= b   =   max I(A; Y) over p(a,k) >= 0, sum p = 1, -sum p log p + sum p log N >= b.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dalenius.information import log_sum_exp
from dalenius.model.counting import log_shares, record_types
from dalenius.model.queries import AdditiveQuery, Identity, Query, TableQuery
from dalenius.model.records import Records

__all__ = ["Fibres", "RecordChannel", "fibres", "record_channels"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fibres:
    """log(N(a,v) / |X|) of record `first`, N(a,v) = completions of letter a with channel input v; so for `times` records."""

    first: int
    times: int
    log_shares: Floats


@dataclass(frozen=True)
class RecordChannel:
    """One record against the release: Problem 1 in its smallest form.

    Attributes
    ----------
    record, times : int
        The record, and how many records share this very channel: equally many completions of every letter to every row.
    log_shares : (letters, classes)
        log(N(a,k) / |X|): the uniform prior's log masses; -inf where letter a has no such completion.
    rows : (classes, outputs)
        The channel's distinct rows R(k,y), with columns that are zero removed.
    deficit : float
        log |X| - b in nats: H(p) >= b says that the relative entropy of p to the uniform prior is at most this.
    class_of_input, output_index, outputs, input_log_shares
        The way back to the channel's own inputs and outputs.
    """

    record: int
    times: int
    log_shares: Floats
    rows: Floats
    deficit: float
    class_of_input: NDArray[np.int64]
    output_index: NDArray[np.int64]
    outputs: int
    input_log_shares: Floats

    @property
    def letters(self) -> int:
        return int(self.log_shares.shape[0])

    @property
    def uniform(self) -> Floats:
        """The uniform prior, as masses p(a,k)."""
        return np.exp(self.log_shares)

    def expand_inputs(self, p: Floats) -> Floats:
        """Masses on (letter, class) spread evenly over each class's datasets: masses on (letter, channel input)."""
        share = np.exp(
            self.input_log_shares - np.where(np.isfinite(self.log_shares), self.log_shares, 0.0)[:, self.class_of_input]
        )
        return p[:, self.class_of_input] * share

    def expand_outputs(self, values: Floats, fill: float = 0.0) -> Floats:
        """Values per kept output (last axis), with `fill` at outputs that never occur."""
        full = np.full((*values.shape[:-1], self.outputs), fill)
        full[..., self.output_index] = values
        return full


def fibres(query: Query, records: Records) -> list[Fibres]:
    """The counts of completions of every kind of record.

    >>> from dalenius.model.queries import Parity
    >>> [(f.times, f.log_shares.round(3).tolist()) for f in fibres(Parity(), Records(3, alphabet=2))]
    [(3, [[-1.386, -1.386], [-1.386, -1.386]])]
    """
    if isinstance(query, AdditiveQuery):
        types = record_types(query, records)
        tables = log_shares(query, records, types)
        return [Fibres(t.first, t.times, table) for t, table in zip(types, tables, strict=True)]
    assert isinstance(query, TableQuery)
    return [Fibres(i, 1, _enumerated(query, records, i)) for i in range(len(records))]


def _enumerated(query: TableQuery, records: Records, record: int) -> Floats:
    index = query.index_of_dataset(records)
    stride = int(np.prod(records.alphabets[record + 1 :], dtype=np.int64))
    letter = (np.arange(index.size) // stride) % records.alphabets[record]
    counts = np.zeros((records.alphabets[record], query.values(records).size))
    np.add.at(counts, (letter, index), 1.0)
    with np.errstate(divide="ignore"):
        return np.log(counts / index.size)


def record_channels(
    query: Query, records: Records, channel: Floats, *, inputs: str, deficit: float
) -> list[RecordChannel]:
    """The record channels of a release, one for each kind of record; records with one letter leak nothing and are left out.

    Parameters
    ----------
    channel : (inputs, outputs)
        Row-stochastic; its rows belong to query values or to datasets, as `inputs` says.
    """
    kept = np.flatnonzero(channel.any(axis=0))
    rows, class_of_input = np.unique(channel[:, kept], axis=0, return_inverse=True)
    class_of_input = class_of_input.reshape(-1)
    result: dict[bytes, RecordChannel] = {}
    for part in fibres(Identity() if inputs == "dataset" else query, records):
        if part.log_shares.shape[0] > 1:
            merged = _merge(part.log_shares, class_of_input, rows.shape[0])
            key = bytes(str(merged.shape), "ascii") + merged.tobytes()
            if key in result:  # equal counts of equal rows: the same problem
                result[key] = replace(result[key], times=result[key].times + part.times)
                continue
            result[key] = RecordChannel(
                record=part.first,
                times=part.times,
                log_shares=merged,
                rows=rows,
                deficit=deficit,
                class_of_input=class_of_input,
                output_index=kept,
                outputs=channel.shape[1],
                input_log_shares=part.log_shares,
            )
    return list(result.values())


def _merge(log_shares: Floats, class_of_input: NDArray[np.int64], classes: int) -> Floats:
    if classes == log_shares.shape[1]:
        merged = np.empty_like(log_shares)
        merged[:, class_of_input] = log_shares
        return merged
    return np.stack([log_sum_exp(np.where(class_of_input == k, log_shares, -np.inf)) for k in range(classes)], axis=1)
