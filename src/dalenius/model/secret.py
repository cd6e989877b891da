"""Secrets: what may be revealed about the data, and what is known besides, as functions of the dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar, TypeAlias

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_integer, as_law, as_list
from dalenius.information.arrays import Integers
from dalenius.model.fields import Given, declared, listed
from dalenius.model.queries import QUERIES, Query
from dalenius.model.records import Records
from dalenius.model.shelf import Shelved, Stated, check_keys, read_shelved

MOST = 1_000_000
MOST_SETS = 2048  # selections of one secret, each with a law of its own in the programs
MOST_LISTED = 2**18  # that are looked at to find these
Family = tuple[tuple[int, ...], ...]  # the channel inputs of each cell with one value of what is given, each ascending
Selection = tuple[int, tuple[tuple[int, int], ...]]  # what is given, and values of the secret with their inputs


def _as_numbers(value: Integer | Sequence[Integer], what: str) -> tuple[int, ...]:
    """Numbers of records, ascending; one may stand without a list."""
    given: Any = as_list(value, what) if hasattr(value, "__len__") else [value]
    numbers = sorted(as_integer(i, what, at_least=0, at_most=MOST) for i in given)
    if not numbers or len(set(numbers)) < len(numbers):
        raise InputError(f"{what} must be at least one record, each once; got {brief(value)}")
    return tuple(numbers)


def _as_groups(value: Sequence[Sequence[Integer]], what: str) -> tuple[tuple[int, ...], ...]:
    groups = list[tuple[int, ...]]()
    for j, group in enumerate(as_list(value, what)):
        of = f"{what}[{j}]"
        groups.append(tuple(as_integer(a, of, at_least=0, at_most=MOST) for a in as_list(group, of)))
        if not groups[-1]:
            raise InputError(f"{of} must be at least one letter")
    if len(set().union(*groups)) < sum(map(len, groups)):
        raise InputError(f"{what} must have no letter twice")
    return tuple(groups)


@declared
class Letters(Shelved):
    """The letters of some records, or of all but some; with `groups` only in which group each letter is.

    Parameters
    ----------
    records : int or sequence of int, optional
        Whose letters are told.
    others : int or sequence of int, optional
        Instead: whose letters are not told, those of all other records being so.
    groups : sequence of sequences of int, optional
        Lists of letters that are not told apart; every letter of the records is in exactly one.

    Raises
    ------
    InputError
        If neither or both of `records` and `others` are given, a number comes twice, or a group is empty.

    >>> Letters(0).values(Records(2, alphabet=2)).tolist(), Letters(others=0).values(Records(2, alphabet=2)).tolist()
    ([0, 0, 1, 1], [0, 1, 0, 1])
    >>> Letters([0, 1], groups=[[0], [1, 2]]).values(Records(2, alphabet=3)).tolist()
    [0, 1, 1, 2, 3, 3, 2, 3, 3]
    """

    kind: ClassVar[str] = "letters"
    room: ClassVar[str] = "letters"
    records: Given[Integer | Sequence[Integer] | None, tuple[int, ...] | None] = Given(
        _as_numbers, default=None, tables=listed("a list of numbers of records")
    )
    others: Given[Integer | Sequence[Integer] | None, tuple[int, ...] | None] = Given(
        _as_numbers, default=None, kw_only=True, tables=listed("a list of numbers of records")
    )
    groups: Given[Sequence[Sequence[Integer]] | None, tuple[tuple[int, ...], ...] | None] = Given(
        _as_groups, default=None, kw_only=True
    )

    def __post_init__(self) -> None:
        if (self.records is None) == (self.others is None):
            raise InputError("letters: give either records, whose letters are revealed, or others, all but these")

    def told(self, records: Records) -> list[int]:
        """The records whose letters are revealed, ascending."""
        listed = self.others if self.records is None else self.records
        assert listed is not None
        if listed[-1] >= len(records):
            raise InputError(
                f"letters: there is no record {listed[-1]}; records are numbered from 0 to {len(records) - 1}"
            )
        if self.records is not None:
            return list(listed)
        left = set(range(len(records))) - set(listed)
        return sorted(left)

    def check(self, records: Records) -> None:
        """Raise `InputError` if a record is not there, or the groups are not those of the records' letters."""
        largest = max((records.alphabets[i] for i in self.told(records)), default=0)
        if self.groups is not None and {a for one in self.groups for a in one} != set(range(largest)):
            raise InputError(
                f"letters: groups must have each of the letters 0 to {largest - 1} of these records once, and no others"
            )

    def values(self, records: Records) -> Integers:
        """A number for each dataset, in lexicographic order, equal exactly where the same is told."""
        told = np.zeros(records.datasets, dtype=np.int64)
        for i in self.told(records):
            letters, size = records.letters_of_datasets(i), records.alphabets[i]
            if self.groups is not None:
                group_of = np.zeros(max(map(max, self.groups)) + 1, dtype=np.int64)
                for j, one in enumerate(self.groups):
                    group_of[list(one)] = j
                letters, size = group_of[letters], len(self.groups)
            told = told * size + letters
        return told


Function: TypeAlias = Query | Letters
LISTS = ("histogram", "margins", "joint")  # queries of which a list of functions says the same
FUNCTIONS: dict[str, type[Query] | type[Letters]] = {
    **{kind: query for kind, query in QUERIES.items() if kind not in LISTS},
    Letters.kind: Letters,
}


def _as_functions(value: Function | Sequence[Function], what: str) -> tuple[Function, ...]:
    functions = (value,) if isinstance(value, Query | Letters) else as_list(value, what)
    for function in functions:
        if isinstance(function, Query) and function.kind in LISTS:
            raise InputError(f"{what} may be several functions: give a list of them instead of a {function.kind}")
        if not isinstance(function, Query | Letters):
            raise InputError(
                f"{what} must be a function of the data, a query or Letters, or a list of them; got {brief(function)}"
            )
    return tuple(functions)


@declared
class Secret(metaclass=Stated):
    """A secret g of the data, which a release must not reveal, also not to whom knows w: it may reveal I( g(X); Y | w(X) ).

    Parameters
    ----------
    of : function, or a sequence of functions
        What the secret is: a query (`Count()`, `Threshold(2)`: a majority, `Table(...)`: anything), or `Letters` of some records;
        of several all together.
    given : function, or a sequence of functions, optional
        What is known besides; nothing if left out.

    Raises
    ------
    InputError
        If something is no function of the data, or the secret is none at all.

    >>> from dalenius.model.queries import Threshold
    >>> Secret(Threshold(2), given=Letters(2)).given
    (Letters(records=(2,), others=None, groups=None),)
    """

    room: ClassVar[str] = "secret"
    of: Given[Function | Sequence[Function], tuple[Function, ...]] = Given(_as_functions)
    given: Given[Function | Sequence[Function], tuple[Function, ...]] = Given(_as_functions, default=())

    def __post_init__(self) -> None:
        if not self.of:
            raise InputError("secret: of must be at least one function of the data")

    def check(self, records: Records) -> None:
        """Raise `InputError` if a function does not fit these records, of which there must be few datasets."""
        records.enumerable("a secret", "Ask about a smaller database, such as one household of yours")
        for function in (*self.of, *self.given):
            function.check(records)
            if isinstance(function, Query):
                function.check_values(records)

    def values(self, records: Records) -> tuple[Integers, Integers]:
        """For each dataset the number of the secret's value and of what is given, both in the order in which they first occur.

        >>> Secret(Letters(1), given=Letters(0)).values(Records(2, alphabet=2))[0].tolist()
        [0, 1, 0, 1]
        """
        return _together(self.of, records), _together(self.given, records)

    def knows_all_but_one(self, records: Records) -> bool:
        """True if what is given are the letters of all records but one, so that laws of independent records are as good as any."""
        if len(self.given) != 1 or not isinstance(self.given[0], Letters) or self.given[0].groups is not None:
            return False
        return len(self.given[0].told(records)) == len(records) - 1

    def joint(self, records: Records, query: Query, law: Sequence[Number]) -> list[list[Fraction]]:
        """P(s, v): the secret's value with each value of a query, under a law of the datasets: what designs limit as a secret.

        Parameters
        ----------
        records : Records
        query : Query
            Whose values are the mechanism's inputs.
        law : sequence of numbers
            |X| weights in lexicographic order of the datasets, exact; divided by their sum, which may differ from 1 by at most 1e-9.

        Raises
        ------
        InputError
            If something is given besides, or the law does not have one weight for each of at most 65,536 datasets.

        >>> from dalenius.model.queries import Count, Threshold
        >>> [[str(p) for p in row] for row in Secret(Threshold(2)).joint(Records(2, alphabet=2), Count(), ["1/4"] * 4)]
        [['1/4', '1/2', '0'], ['0', '0', '1/4']]
        """
        self.check(records)
        if self.given:
            raise InputError(
                "secret: a joint law of a secret and a value has nothing that is given besides; leave given out"
            )
        weights = as_law(law, "law")
        if len(weights) != records.datasets:
            raise InputError(
                f"law: expected one weight for each of the {records.datasets} datasets, got {len(weights)}"
            )
        values, of = query.index_of_dataset(records), self.values(records)[0]
        table = [[Fraction(0)] * len(query.values(records)) for _ in range(int(of.max()) + 1)]
        for s, v, weight in zip(of.tolist(), values.tolist(), weights, strict=True):
            table[s][v] += weight
        return table

    def to_model(self) -> dict[str, Any]:
        """The table of a model file, and of its normal form."""
        return {
            "of": [function.to_model() for function in self.of],
            "given": [function.to_model() for function in self.given],
        }

    normal_form = to_model

    @classmethod
    def from_table(cls, table: Any, where: str) -> Secret:
        """Build from a table [[secrets]] of a model file."""
        if not isinstance(table, Mapping):
            raise InputError(f"{where}: expected a table, got {brief(table)}")
        check_keys(table, ("of", "given"), where)
        if "of" not in table:
            raise InputError(
                f'{where}: missing of, a table such as {{ kind = "threshold", at = 2 }}, or a list of them'
            )
        return cls(_read(table["of"], f"{where} of"), _read(table.get("given", []), f"{where} given"))


def numbered(labels: Integers) -> Integers:
    """The same labels as numbers 0, 1, ... in the order in which they first occur.

    >>> numbered(np.array([7, 3, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    _, first, of = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[of.reshape(-1)]


def _together(functions: Iterable[Function], records: Records) -> Integers:
    """The joint value of all functions at each dataset, numbered."""
    told = np.zeros(records.datasets, dtype=np.int64)
    for function in functions:
        more = numbered(
            function.values(records) if isinstance(function, Letters) else function.index_of_dataset(records)
        )
        told = numbered(told * (int(more.max()) + 1) + more)
    return told


def _read(tables: Any, where: str) -> list[Function]:
    """The functions of one table, or of a list of tables."""
    listed = [tables] if isinstance(tables, Mapping) else as_list(tables, where)
    shelf: dict[str, type[Any]] = {**FUNCTIONS}
    return [read_shelved(shelf, table, where) for table in listed]


@dataclass(frozen=True, eq=False)
class Told:
    """One secret, dataset by dataset: the numbers of its value and of the value of what is given, and the channel input."""

    of: Integers
    given: Integers
    inputs: Integers

    @cached_property
    def triples(self) -> tuple[Integers, Integers]:
        """The different (given, of, input), ascending, and the first dataset of each."""
        triples, first = np.unique(np.stack([self.given, self.of, self.inputs]), axis=1, return_index=True)
        return triples, first

    @cached_property
    def families(self) -> list[Family]:
        """For each value of what is given the inputs of its cells, in the order of the secret's values.

        >>> Told(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 1, 2])).families
        [((0,), (1,)), ((1,), (2,))]
        """
        given, of, inputs = self.triples[0]
        starts = np.flatnonzero(np.r_[True, (np.diff(given) != 0) | (np.diff(of) != 0)])
        found: list[list[tuple[int, ...]]] = [[] for _ in range(int(given[-1]) + 1)]
        for start, cell in zip(starts.tolist(), np.split(inputs, starts[1:]), strict=True):
            found[given[start]].append(tuple(cell.tolist()))
        return [tuple(family) for family in found]

    @cached_property
    def selections(self) -> list[Selection]:
        """Of each set of inputs that is in no other one.

        Raises
        ------
        InputError
            If there are more than 2,048 of them.
        """
        found, seen, listed = dict[frozenset[int], Selection](), set[Family](), 0
        for given, family in enumerate(self.families):
            if tuple(sorted(family)) in seen:
                continue
            seen.add(tuple(sorted(family)))
            listed += prod(map(len, family))
            values = np.unique(self.of[self.given == given]).tolist() if listed <= MOST_LISTED else []
            for chosen in product(*family) if listed <= MOST_LISTED else ():
                first = {k: a for a, k in zip(reversed(values), reversed(chosen), strict=True)}
                found.setdefault(frozenset(first), (given, tuple(sorted((a, k) for k, a in first.items()))))
        sets = [each for each in found if len(each) > 1]
        mixed = len({len(each) for each in sets}) > 1 and len(sets) <= 4 * MOST_SETS
        largest = [each for each in sets if not any(each < other for other in sets)] if mixed else sets
        if listed > MOST_LISTED or len(largest) > MOST_SETS:
            raise InputError(
                f"the secret's values can be had from {max(listed, len(largest))} selections of inputs, and at most {MOST_SETS} are "
                "worked with; limit a coarser secret, or what is revealed of the query's value (dl.constraints.LeakageLimit)"
            )
        return [found[each] for each in largest]
