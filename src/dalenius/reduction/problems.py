"""The reductions of a problem: its own records and query, and the inputs that its mechanisms have."""

from __future__ import annotations

from dataclasses import replace

from dalenius.model import MaximalLeakage
from dalenius.model.problem import Problem
from dalenius.reduction.aggregation import AggregatedRecord, Aggregation
from dalenius.reduction.counting import Completions, completions
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
    kinds: dict[tuple[int, bytes], AggregatedRecord] = {}
    for part in record_completions(problem):
        record = aggregation.apply(part, max_knowledge)
        alike = kinds.setdefault(key := (record.letters, record.log_uniform.tobytes()), record)
        if alike is not record:  # equal counts of equal rows: the same problem
            kinds[key] = replace(alike, times=alike.times + record.times)
    return list(kinds.values())


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
