"""One record against the rows that a release can select for it, and the same with equal rows merged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalenius.information import log_sum_exp, mutual_information
from dalenius.information.arrays import Floats, Integers
from dalenius.reduction.counting import Completions

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class RecordChannel:
    """max I(A; Y) over the masses p(a,k) >= 0 with sum p = 1 and H(p) >= b, Y the output of the row R(k) that is selected.

    A class k stands for N(a,k) datasets with letter a, over which p(a,k) is spread evenly: H(p) = -sum p log p + sum p log N.

    Attributes
    ----------
    record, times : int
        The record, and how many records share this very channel: equally many completions of every letter to every row.
    log_uniform : (letters, classes)
        log(N(a,k) / |X|): the log masses of the uniform prior; -inf where letter a has no such completion.
    rows : (classes, outputs)
        R(k,y), row-stochastic.
    max_knowledge : float
        log |X| - b in nats: H(p) >= b says that the relative entropy of p to the uniform prior is at most this.
    """

    record: int
    times: int
    log_uniform: Floats
    rows: Floats
    max_knowledge: float

    @property
    def letters(self) -> int:
        return int(self.log_uniform.shape[0])

    @property
    def uniform(self) -> Floats:
        """The uniform prior, as masses p(a,k)."""
        return np.exp(self.log_uniform)

    @cached_property
    def told_by_uniform(self) -> float:
        """I(A; Y) in nats at the uniform prior: what every search begins with."""
        return float(mutual_information(self.uniform @ self.rows))

    @cached_property
    def granted(self) -> float:
        """`max_knowledge` and what doubles err by in the logarithm of a sum of masses.

        A bound of slope beta is beta times such a sum, and is off by beta times that.
        """
        least = float(self.log_uniform[np.isfinite(self.log_uniform)].min())
        return self.max_knowledge + 2.0 * EPS * (2.0 - least)


# Equal rows of a channel merged, and outputs that never occur left out: one record's leakage depends on nothing else.
#
# The leakage of record i sees the other records z only through the row that (a, z) selects in the channel. Grouping the z of
# each letter a by that row gives classes k of N(a,k) members; spreading mass evenly inside a class maximises the entropy. So
#
#     max I(X_i; Y) over priors with H(P) >= b   =   max I(A; Y) over p(a,k) >= 0, sum p = 1, -sum p log p + sum p log N >= b.


def distinct_rows(channel: Floats) -> tuple[Floats, Integers]:
    """The distinct rows of a channel in lexicographic order, and which of them each input has.

    Numbers that are not negative are in the order of their bytes, the highest first: NumPy sorts wide rows by these in no time.
    """
    rows = np.ascontiguousarray(channel + 0.0, dtype=">f8").view(f"V{8 * channel.shape[1]}")
    _, first, row_of_input = np.unique(rows.reshape(-1), return_index=True, return_inverse=True)
    return channel[first], row_of_input


@dataclass(frozen=True)
class Aggregation:
    """A channel's distinct rows on the outputs that occur.

    Attributes
    ----------
    rows : (classes, kept outputs)
    row_of_input : (inputs,)
        The class of every input of the channel.
    kept_outputs : (kept outputs,)
        The outputs that occur, ascending.
    output_count : int
        How many outputs the channel has.

    >>> two = Aggregation.of(np.array([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [0.5, 0.0, 0.5]]))
    >>> two.rows.tolist(), two.row_of_input.tolist(), two.kept_outputs.tolist()
    ([[0.5, 0.5], [1.0, 0.0]], [0, 1, 0], [0, 2])
    """

    rows: Floats
    row_of_input: Integers
    kept_outputs: Integers
    output_count: int

    @classmethod
    def of(cls, channel: Floats) -> Aggregation:
        """Of a channel (inputs, outputs)."""
        kept = np.flatnonzero(channel.any(axis=0))
        return cls(*distinct_rows(channel[:, kept]), kept, channel.shape[1])

    def apply(self, completions: Completions, max_knowledge: float) -> AggregatedRecord:
        """A kind of record, its completions to channel inputs given, against the channel."""
        return AggregatedRecord(
            record=completions.record,
            times=completions.times,
            log_uniform=self._merged(completions.log_uniform),
            rows=self.rows,
            max_knowledge=max_knowledge,
            aggregation=self,
            completions=completions,
        )

    def lift_outputs(self, values: Floats, fill: float = 0.0) -> Floats:
        """Values per kept output (last axis) as values per output, `fill` for those that never occur."""
        full = np.full((*values.shape[:-1], self.output_count), fill)
        full[..., self.kept_outputs] = values
        return full

    def _merged(self, log_uniform: Floats) -> Floats:
        """Logarithms per (letter, input) added up to such per (letter, class)."""
        classes = len(self.rows)
        if classes == log_uniform.shape[1]:
            merged = np.empty_like(log_uniform)
            merged[:, self.row_of_input] = log_uniform
            return merged
        groups = (np.where(self.row_of_input == k, log_uniform, -np.inf) for k in range(classes))
        return np.stack([log_sum_exp(group) for group in groups], axis=1)


@dataclass(frozen=True)
class AggregatedRecord(RecordChannel):
    """A record channel that knows the way back to the inputs and outputs of the channel that it was made of.

    Attributes
    ----------
    aggregation : Aggregation
        What was done to the channel.
    completions : Completions
        The record's completions to the channel's own inputs.
    """

    aggregation: Aggregation
    completions: Completions

    def apply(self, masses: Floats) -> Floats:
        """Masses on (letter, channel input) as masses p(a,k)."""
        p = np.zeros(self.log_uniform.shape)
        np.add.at(p.T, self.aggregation.row_of_input, masses.T)
        return np.where(np.isfinite(self.log_uniform), p, 0.0)

    def lift(self, p: Floats) -> Floats:
        """Masses p(a,k) spread evenly over each class's datasets: masses on (letter, channel input)."""
        merged = np.where(np.isfinite(self.log_uniform), self.log_uniform, 0.0)
        shares = np.exp(self.completions.log_uniform - merged[:, self.aggregation.row_of_input])
        return p[:, self.aggregation.row_of_input] * shares

    def lift_outputs(self, values: Floats, fill: float = 0.0) -> Floats:
        """Values per output of the record channel (last axis) as values per output of the channel, `fill` where that never occurs."""
        return self.aggregation.lift_outputs(values, fill)
