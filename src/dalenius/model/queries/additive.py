"""Queries that are sums of what the letters add, or what becomes of such a sum."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, as_integer, as_list
from dalenius.information.arrays import Integers
from dalenius.model.fields import Given, Whole, declared, whole
from dalenius.model.queries.base import (
    MAX_INTEGER,
    MAX_SPAN,
    MAX_VALUES,
    AdditiveQuery,
    as_integers,
    attained_sums_of,
    spacing,
)
from dalenius.model.records import MAX_ALPHABET, Records

Weights: TypeAlias = Sequence[Integer] | Integers


def _as_weights(value: Weights | Sequence[Weights], what: str) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
    rows = as_list(value, what)
    if not rows:
        raise InputError("query: weights must not be empty; leave them out to let letter a weigh a")
    nested = [hasattr(row, "__len__") and not isinstance(row, str) for row in rows]
    if any(nested) and not all(nested):
        raise InputError("query: weights must be a list of integers or a list of lists, not a mixture")
    return tuple(as_integers(row, what) for row in rows) if all(nested) else as_integers(rows, what)


@declared
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
    words: ClassVar[str] = "a sum of them"
    hidden_by: ClassVar[str] = "shifts"
    weights: Given[Weights | Sequence[Weights] | None, tuple[int, ...] | tuple[tuple[int, ...], ...] | None] = Given(
        _as_weights, default=None
    )

    @property
    def adds_letters(self) -> bool:
        return self.weights is None

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


def _as_letters(value: Collection[Integer] | Integers, what: str) -> tuple[int, ...]:
    counted = sorted(as_integer(a, what, at_least=0, at_most=MAX_ALPHABET - 1) for a in as_list(value, what))
    if not counted or len(set(counted)) < len(counted):
        raise InputError(f"{what} must be a non-empty list of distinct letters, got {brief(counted)}")
    return tuple(counted)


@declared
class Count(AdditiveQuery):
    """f(x) = number of records whose letter is in `letters` (by default the letter 1: a bit count).

    Raises
    ------
    InputError
        If the letters are empty or repeated, or one lies in no record's alphabet.

    >>> Count().values(Records(3, alphabet=2)).tolist()
    [0, 1, 2, 3]
    """

    kind: ClassVar[str] = "count"
    words: ClassVar[str] = "how many of them are {letters}"
    counts: ClassVar[bool] = True
    hidden_by: ClassVar[str] = "shifts"
    adds_letters: ClassVar[bool] = True
    letters: Given[Collection[Integer] | Integers, tuple[int, ...]] = Given(_as_letters, default=(1,))

    @property
    def adds_ones(self) -> bool:
        return self.letters == (1,)

    def check(self, records: Records) -> None:
        if max(self.letters) >= max(records.alphabets):
            raise InputError(
                f"query: letter {max(self.letters)} is in no record's alphabet (the largest has letters 0 to "
                f"{max(records.alphabets) - 1})"
            )

    def check_values(self, records: Records) -> None:
        if len(records) >= MAX_VALUES:
            raise InputError(
                f"query: a count over {len(records)} records has more than {MAX_VALUES} values; as many as that are known against "
                "independent_blocks (of size 1: independent records), or with geometric or discrete_laplace noise against "
                "product_priors and entropy_at_least"
            )

    def of_block(self, first: int, records: Records) -> Count:
        """Without the letters that no record of the block has; one that has none of them counts nothing, and is no question."""
        return Count([letter for letter in self.letters if letter < max(records.alphabets)])

    def values(self, records: Records) -> Integers:
        return np.arange(len(records) + 1)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return tuple(int(letter in self.letters) for letter in range(alphabet))


@declared
class ModularSum(AdditiveQuery):
    """f(x) = sum of the letters modulo m; every residue is listed as a value.

    Raises
    ------
    InputError
        If the modulus is no integer from 2 to 65,536.

    >>> ModularSum(3).values(Records(3, alphabet=3)).tolist()
    [0, 1, 2]
    """

    kind: ClassVar[str] = "modular_sum"
    words: ClassVar[str] = "their sum modulo {modulus}"
    hidden_by: ClassVar[str] = "alike"
    adds_letters: ClassVar[bool] = True
    m: Whole = Given(whole(at_least=2, at_most=MAX_VALUES), key="modulus")

    def values(self, records: Records) -> Integers:
        return np.arange(self.m)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return tuple(letter % self.m for letter in range(alphabet))

    def modulus(self) -> int:
        return self.m


class Parity(AdditiveQuery):
    """f(x) = sum of the letters modulo 2; the query of the source paper's experiments.

    >>> Parity().values(Records(4, alphabet=2)).tolist()
    [0, 1]
    """

    kind: ClassVar[str] = "parity"
    words: ClassVar[str] = "whether an odd number of them are 1"
    hidden_by: ClassVar[str] = "on_a_bit"
    adds_letters: ClassVar[bool] = True

    def values(self, records: Records) -> Integers:
        return np.arange(2)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return tuple(range(alphabet))

    def modulus(self) -> int:
        return 2


@declared
class Threshold(AdditiveQuery):
    """f(x) = 1 if the sum of the letters is at least `at`, else 0.

    Raises
    ------
    InputError
        If `at` is no integer.

    >>> Threshold(2).values(Records(3, alphabet=2)).tolist()
    [0, 1]
    """

    kind: ClassVar[str] = "threshold"
    words: ClassVar[str] = "whether their sum is at least {at}"
    cuts: ClassVar[bool] = True
    adds_letters: ClassVar[bool] = True
    at: Whole = Given(whole(at_least=-MAX_INTEGER, at_most=MAX_INTEGER))

    def values(self, records: Records) -> Integers:
        return np.arange(2)

    def contribution(self, record: int, alphabet: int) -> tuple[int, ...]:
        return tuple(range(alphabet))

    def undecided(self, own: Records, records: Records) -> Iterator[tuple[int, Threshold]]:
        mine, most = (sum(times * (size - 1) for size, times in each.runs) for each in (own, records))
        totals = range(max(self.at - mine, 0), min(self.at - 1, most - mine) + 1)
        return ((total, Threshold(self.at - total)) for total in totals)

    def index_of_sum(self, sums: Integers, records: Records) -> Integers:
        return (sums >= self.at).astype(np.int64)
