"""Sum of integer weights of the letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from dalenius.errors import InputError
from dalenius.exact import Integer, as_integer, as_list
from dalenius.model.queries.base import (
    MAX_INTEGER,
    MAX_SPAN,
    MAX_VALUES,
    AdditiveQuery,
    Integers,
    attained_sums_of,
    spacing,
)
from dalenius.model.records import Records

__all__ = ["Sum"]

Weights: TypeAlias = Sequence[Integer] | Integers


@dataclass(frozen=True)
class Sum(AdditiveQuery):
    """f(x) = sum over the records of the weight of its letter; the values are all sums that some dataset has.

    Parameters
    ----------
    weights : sequence of int, or one such sequence a record, optional
        ``weights[a]`` for letter a of every record (as long as the largest alphabet), or ``weights[i][a]`` for
        letter a of record i. Left out, letter a weighs a.

    Raises
    ------
    InputError
        If a weight is no integer up to 10^9 in size, lengths do not fit the alphabets, or there are too many values.

    >>> Sum([0, 5]).values(Records(3, alphabet=2)).tolist()
    [0, 5, 10, 15]
    """

    kind: ClassVar[str] = "sum"
    weights: tuple[int, ...] | tuple[tuple[int, ...], ...] | None = None

    def __init__(self, weights: Weights | Sequence[Weights] | None = None) -> None:
        rows = None if weights is None else as_list(weights, "query: weights")
        object.__setattr__(self, "weights", None if rows is None else _listed(rows))

    def check(self, records: Records) -> None:
        if self.weights is not None:
            self._check_lengths(records)

    def check_values(self, records: Records) -> None:
        contributions = [(times, self.contribution(record, size)) for record, (size, times) in self._distinct(records)]
        step = spacing(c for _, c in contributions)
        span = sum(times * ((max(c) - min(c)) // step) for times, c in contributions)
        if span > MAX_SPAN:
            raise InputError(
                f"query: the sums span {span} steps; at most {MAX_SPAN} are supported. Coarsen the weights"
            )
        if self.values(records).size > MAX_VALUES:
            raise InputError(
                f"query: the sum has more than {MAX_VALUES} values; coarsen them, or ask against independent_blocks"
            )

    def _check_lengths(self, records: Records) -> None:
        assert self.weights is not None
        if self.varies_by_record():
            lengths = tuple(len(row) for row in self.weights)  # type: ignore[arg-type]
            if lengths != records.alphabets:
                raise InputError("query: weights given per record need one list a record, each as long as its alphabet")
        elif len(self.weights) != max(records.alphabets):
            raise InputError(
                f"query: weights must list one weight for each of the {max(records.alphabets)} letters, got "
                f"{len(self.weights)}"
            )

    def varies_by_record(self) -> bool:
        return self.weights is not None and isinstance(self.weights[0], tuple)

    def _distinct(self, records: Records) -> list[tuple[int, tuple[int, int]]]:
        if self.varies_by_record():
            return [(i, (size, 1)) for i, size in enumerate(records.alphabets)]
        return [(0, run) for run in records.runs]

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        if self.weights is None:
            return tuple(range(alphabet))
        row: Any = self.weights[record] if self.varies_by_record() else self.weights
        return tuple(row[:alphabet])

    def of_block(self, first: int, records: Records) -> Sum:
        """With the weights of its letters, and of its records where each has its own."""
        if self.weights is None:
            return self
        own: Any = (
            self.weights[first : first + len(records)]
            if self.varies_by_record()
            else self.weights[: max(records.alphabets)]
        )
        return Sum(own)

    def values(self, records: Records) -> Integers:
        return attained_sums_of((times, self.contribution(i, size)) for i, (size, times) in self._distinct(records))


def _listed(rows: list[Any]) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
    """The weights of all records, or a list of them for each."""
    if not rows:
        raise InputError("query: weights must not be empty; leave them out to let letter a weigh a")
    nested = [hasattr(row, "__len__") and not isinstance(row, str) for row in rows]
    if any(nested) and not all(nested):
        raise InputError("query: weights must be a list of integers or a list of lists, not a mixture")
    return tuple(map(_weights, rows)) if all(nested) else _weights(rows)


def _weights(row: Any) -> tuple[int, ...]:
    return tuple(
        as_integer(w, "query: weights", at_least=-MAX_INTEGER, at_most=MAX_INTEGER)
        for w in as_list(row, "query: weights")
    )
