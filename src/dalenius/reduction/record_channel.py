"""One record against the rows that a release can select for it, and the same with equal rows merged."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dalenius.information import log_sum_exp, mutual_information
from dalenius.information.arrays import Floats, Integers
from dalenius.model import WorstCaseLeakage
from dalenius.model.problem import Problem
from dalenius.model.queries import Query
from dalenius.model.records import Records
from dalenius.reduction.counting import Completions, completions, exact_counts
from dalenius.reduction.selection import MAX_NUMBERS, Selections, selections

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


# --after


@dataclass(frozen=True)
class DatasetPairs:
    """The pairs (letter of a record, channel input) that some dataset has. I(X_i; Y) depends on a prior through their masses alone.

    Attributes
    ----------
    record : int
    letters, inputs : (pairs,)
        The letter and the input of every pair, in lexicographic order.
    shape : (letters, inputs)
        How many there are.
    order : (datasets,)
        The datasets sorted by their pairs.
    starts : (pairs,)
        Where in this order the datasets of each pair begin.
    """

    record: int
    letters: Integers
    inputs: Integers
    shape: tuple[int, int]
    order: Integers
    starts: Integers

    @classmethod
    def of(cls, query: Query, records: Records, record: int) -> DatasetPairs:
        """Of the datasets of these records, whose channel inputs are the query's values.

        >>> from dalenius.model.queries import Parity
        >>> pairs = DatasetPairs.of(Parity(), Records(2, alphabet=2), 0)
        >>> pairs.table(pairs.apply(np.array([0.4, 0.3, 0.2, 0.1]))).tolist()
        [[0.4, 0.3], [0.1, 0.2]]
        """
        shape = records.alphabets[record], query.values(records).size
        place = np.ravel_multi_index((records.letters_of_datasets(record), query.index_of_dataset(records)), shape)
        order = np.argsort(place, kind="stable")
        present, starts = np.unique(place[order], return_index=True)
        letters, inputs = np.unravel_index(present, shape)
        return cls(record, letters, inputs, shape, order, starts)

    def apply(self, priors: Floats) -> Floats:
        """The masses of the pairs, (..., pairs), under priors (..., datasets)."""
        return np.add.reduceat(priors[..., self.order], self.starts, axis=-1)

    def lift(self, masses: Floats) -> Floats:
        """Priors (..., datasets) with these masses of the pairs, spread evenly: those of the largest entropy."""
        sizes = np.diff(self.starts, append=self.order.size)
        priors = np.empty((*masses.shape[:-1], self.order.size))
        priors[..., self.order] = np.repeat(masses / sizes, sizes, axis=-1)
        return priors

    def table(self, masses: Floats) -> Floats:
        """Masses of the pairs as a matrix (..., letters, inputs)."""
        full = np.zeros((*masses.shape[:-1], *self.shape))
        full[..., self.letters, self.inputs] = masses
        return full


def record_completions(problem: Problem) -> list[Completions]:
    """The completions of each kind of record's letters to mechanism inputs; records with one letter leak nothing and are left out."""
    return [part for part in completions(problem.query_of_inputs, problem.records) if part.letters > 1]


def record_channels(problem: WorstCaseLeakage) -> list[AggregatedRecord]:
    """An audit against an entropy bound in its smallest form: a record channel for each kind of record with more than one letter.

    Raises
    ------
    InputError
        If the adversary has no entropy bound.
    """
    max_knowledge, aggregation = problem.max_knowledge, Aggregation.of(problem.channel)
    kinds: dict[tuple[int, bytes], list[AggregatedRecord]] = {}
    for part in record_completions(problem):
        record = aggregation.apply(part, max_knowledge)
        near = kinds.setdefault((record.letters, record.log_uniform.tobytes()), [])
        place = next((k for k, other in enumerate(near) if _one_problem(problem, other.record, record.record)), None)
        if place is None:
            near.append(record)
        else:
            near[place] = replace(near[place], times=near[place].times + record.times)
    return sorted((record for near in kinds.values() for record in near), key=lambda record: record.record)


def _one_problem(problem: WorstCaseLeakage, record: int, other: int) -> bool:
    """True if two records have the same numbers of completions to each row: on integers and exact rows, as the checker decides it."""
    tables = (_by_row(problem, i) for i in (record, other))
    return (table := next(tables)) is not None and table == next(tables)


def _by_row(problem: WorstCaseLeakage, record: int) -> list[Counter[int]] | None:
    """N(a, k) by letter, k the first input with the same row; None where the numbers have too many digits."""
    counts = exact_counts(problem.query_of_inputs, problem.records, record)
    if counts is None:
        return None
    found = [Counter[int]() for _ in counts]
    for own, table in zip(found, counts, strict=True):
        for row, n in zip(problem.equal_rows, table, strict=True):
            own[row] += n
    return [+own for own in found]


def record_selections(problem: Problem) -> list[Selections]:
    """The mechanism inputs that the letters of a record select, for each kind of record (docs/theory.md, independent records).

    Raises
    ------
    InputError
        If a record has more selections than the checker looks at.
    """
    return problem.once("selections", lambda: selections(problem.query_of_inputs, problem.records))


def need_countable(problem: Problem) -> None:
    """Raise `InputError` if a proof against independent records would list more than the checker looks at."""
    many = problem.records.log_datasets > math.log(MAX_NUMBERS)  # no more numbers are in the selections
    if many and isinstance(problem, WorstCaseLeakage) and problem.route.audit in ("product_priors", "law_class"):
        record_selections(problem)


def dataset_pairs(problem: Problem, record: int) -> DatasetPairs:
    """The pairs of a record's letter and a mechanism input that datasets have; for few datasets."""
    return DatasetPairs.of(problem.query_of_inputs, problem.records, record)
