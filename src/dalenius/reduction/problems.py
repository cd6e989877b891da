"""The reductions of a problem: its own records and query, and the inputs that its mechanisms have."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from dalenius.model import MaximalLeakage
from dalenius.model.problem import Problem
from dalenius.reduction.aggregation import AggregatedRecord, Aggregation
from dalenius.reduction.counting import Completions, completions, exact_counts
from dalenius.reduction.datasets import DatasetPairs
from dalenius.reduction.selection import Selections, selections

__all__ = ["dataset_pairs", "record_channels", "record_completions", "record_selections"]


def record_completions(problem: Problem) -> list[Completions]:
    """The completions of each kind of record's letters to mechanism inputs; records with one letter leak nothing and are left out."""
    return [part for part in completions(problem.query_of_inputs, problem.records) if part.letters > 1]


def record_channels(problem: MaximalLeakage) -> list[AggregatedRecord]:
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


def _one_problem(problem: MaximalLeakage, record: int, other: int) -> bool:
    """Whether two records have the same numbers of completions to each row: on integers and exact rows, as the checker decides it."""
    tables = (_by_row(problem, i) for i in (record, other))
    return (table := next(tables)) is not None and table == next(tables)


def _by_row(problem: MaximalLeakage, record: int) -> list[Counter[int]] | None:
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
    DaleniusError
        If a record has more selections than the checker looks at.
    """
    return selections(problem.query_of_inputs, problem.records)


def dataset_pairs(problem: Problem, record: int) -> DatasetPairs:
    """The pairs of a record's letter and a mechanism input that datasets have; for few datasets."""
    return DatasetPairs.of(problem.query_of_inputs, problem.records, record)
