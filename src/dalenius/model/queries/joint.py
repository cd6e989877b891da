"""Several queries of one dataset, together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import as_list
from dalenius.information.arrays import Integers
from dalenius.model.fields import keep
from dalenius.model.queries.additive import Count, ModularSum, Parity, Sum, Threshold
from dalenius.model.queries.base import MAX_SPAN, MAX_VALUES, AdditiveQuery, attained_sums_of, spacing
from dalenius.model.records import Records
from dalenius.model.shelf import check_keys, read_shelved

PARTS: dict[str, type[AdditiveQuery]] = {part.kind: part for part in (Parity, ModularSum, Count, Sum, Threshold)}
MOST = 8


class _Digit(NamedTuple):
    """One query's contributions as a digit of the sum of codes."""

    low: int
    step: int
    size: int
    place: int


@dataclass(frozen=True)
class Joint(AdditiveQuery):
    """f(x) = (f_1(x), ..., f_J(x)); its values are numbered, the vectors that some dataset has in lexicographic order.

    Parameters
    ----------
    *queries : Parity, ModularSum, Count, Sum or Threshold
        From 2 to 8 of them. Which of them a release is about is said by the parts of `several_releases`, or of `adaptive`.

    Raises
    ------
    InputError
        If there are fewer or more, or one of another kind; `check_values` raises it where the sums span too much.

    >>> Joint(Count(), Sum([0, 5])).vectors(Records(2, alphabet=2)).tolist()
    [[0, 0], [1, 1], [2, 2]]
    """

    kind: ClassVar[str] = "joint"
    words: ClassVar[str] = "several functions of them together"
    audits_only: ClassVar[str] = "query: a joint query is for audits with problem worst_case_leakage, got"
    queries: tuple[AdditiveQuery, ...]
    records: Records | None = field(default=None, init=False, compare=False, repr=False)

    def __init__(self, *queries: AdditiveQuery) -> None:
        if not 2 <= len(queries) <= MOST:
            raise InputError(f"query: a joint query has from 2 to {MOST} queries, got {len(queries)}")
        for query in queries:
            if not isinstance(query, tuple(PARTS.values())):
                told = "; tables of the same people are one query, margins" if getattr(query, "by_cell", False) else ""
                raise InputError(f"query: a joint query is made of {', '.join(PARTS)}; got {brief(query)}{told}")
        keep(self, queries=queries)

    @property
    def together(self) -> tuple[AdditiveQuery, ...]:
        return self.queries

    def of_records(self, records: Records) -> Self:
        """The same query, which knows whose: how sums are coded depends on how large they can be."""
        if self.records == records:
            return self
        made = type(self)(*self.queries)
        keep(made, records=records)
        return made

    def check(self, records: Records) -> None:
        for query in self.queries:
            query.check(records)

    def check_values(self, records: Records) -> None:
        for query in self.queries:
            query.check_values(records)
        span = self.of_records(records).span
        if span > MAX_SPAN:
            raise InputError(f"query: the vectors of sums span {span} steps; at most {MAX_SPAN} are supported")
        if len(self.vectors(records)) > MAX_VALUES:
            raise InputError(f"query: a joint query has at most {MAX_VALUES} vectors, got {len(self.vectors(records))}")

    def values(self, records: Records) -> Integers:
        return np.arange(len(self.vectors(records)))

    def value(self, records: Records, letters: Sequence[int]) -> int:
        return super(Joint, self.of_records(records)).value(records, letters)

    def vectors(self, records: Records) -> Integers:
        return self.of_records(records)._vectors

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        """One number for the contributions to all sums."""
        own = {  # queries with one digit add the same to it
            digit.place: [(c - min(added)) // digit.step * digit.place for c in added]
            for query, digit in zip(self.queries, self._digits, strict=True)
            for added in [query.contribution(record, alphabet)]
        }
        return tuple(map(sum, zip(*own.values(), strict=True)))

    def varies_by_record(self) -> bool:
        return any(query.varies_by_record() for query in self.queries)

    def of_block(self, first: int, records: Records) -> Self:
        return type(self)(*(query.of_block(first, records) for query in self.queries))

    def index_of_sum(self, sums: Integers, records: Records) -> Integers:
        listed = np.asarray(sums)
        places = self._places(listed.reshape(-1))
        _, index = np.unique(np.vstack([self._vectors, places]), axis=0, return_inverse=True)
        found: Integers = index.reshape(-1)[len(self._vectors) :].reshape(listed.shape)
        return found

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str) -> Self:
        """Build from a table without `kind`."""
        check_keys(table, ("queries",), where)
        listed = as_list(table.get("queries", ()), f"{where}: queries")
        return cls(*(read_shelved(PARTS, query, f"{where}: queries[{j}]") for j, query in enumerate(listed)))

    @property
    def _whose(self) -> Records:
        if self.records is None:
            raise InputError("query: a joint query is about some records; use of_records")
        return self.records

    @cached_property
    def _digits(self) -> list[_Digit]:
        """A digit for every query; queries with the same contributions share one."""
        known, found, place = dict[tuple[tuple[int, ...], ...], _Digit](), list[_Digit](), 1
        for query in self.queries:
            kinds = [(times, query.contribution(record, size)) for record, size, times in self._kinds]
            step = spacing(added for _, added in kinds)
            alike = tuple(tuple((c - min(added)) // step for c in added) for _, added in kinds)
            low = sum(times * min(added) for times, added in kinds)
            if alike in known:
                found.append(known[alike]._replace(low=low, step=step))
                continue
            size = 1 + sum(times * max(added) for (times, _), added in zip(kinds, alike, strict=True))
            found.append(known.setdefault(alike, _Digit(low, step, size, place)))
            place *= size
        return found

    @property
    def _kinds(self) -> list[tuple[int, int, int]]:
        """Records, their letters, and how many are like them."""
        records = self._whose
        if self.varies_by_record():
            return [(i, size, 1) for i, size in enumerate(records.alphabets)]
        return [(0, size, times) for size, times in records.runs]

    @property
    def span(self) -> int:
        """Number of codes."""
        last = max(self._digits, key=lambda digit: digit.place)
        return last.place * last.size

    def _places(self, codes: Integers) -> Integers:
        """Places of each query's values in its list, for sums of codes, (sums, queries)."""
        columns = [
            query.index_of_total(digit.low + digit.step * (codes // digit.place % digit.size), self._whose)
            for query, digit in zip(self.queries, self._digits, strict=True)
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def _vectors(self) -> Integers:
        sums = attained_sums_of([(times, self.contribution(record, size)) for record, size, times in self._kinds])
        found: Integers = np.unique(self._places(sums), axis=0)
        return found
