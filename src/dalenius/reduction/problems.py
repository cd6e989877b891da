"""The reductions of a problem: its own records and query, and the inputs that its mechanisms have."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from dalenius.information.arrays import Floats, Integers
from dalenius.model import WorstCaseLeakage
from dalenius.model.problem import Problem
from dalenius.model.queries import Query
from dalenius.model.records import Records
from dalenius.reduction.counting import Completions, completions, exact_counts
from dalenius.reduction.record_channel import AggregatedRecord, Aggregation
from dalenius.reduction.selection import MAX_NUMBERS, Selections, selections


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
