"""Laws of the true data, and what they make of the inputs of a mechanism. `LAWS` maps the model file's `kind` to the class.

A table of kind ``csv`` states no law but where to read one: `CsvLaw` turns it into `Iid` when a model is loaded.

"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from flint import fmpz_poly

from dalenius.errors import InputError, brief
from dalenius.exact import MAX_SUM_BITS, Numbers, as_law, as_list, over_common_denominator
from dalenius.files import csv_column
from dalenius.information.arrays import Integers
from dalenius.model.fields import Given, as_text, declared
from dalenius.model.queries import AdditiveQuery, Query
from dalenius.model.queries.base import spacing
from dalenius.model.records import Records
from dalenius.model.shelf import Shelved, read_shelved
from dalenius.model.sums import RecordType, record_types


class Law(Shelved):
    """Distribution of the data that the release is to describe well: p(x) = product over the records of P(x_i)."""

    room: ClassVar[str] = "law"
    shelf: ClassVar[dict[str, type[Any]]] = {}

    @classmethod
    def of_kind(cls, table: Any, where: str) -> Any:
        """The law that a model file's table describes, also where it says in which file the law is: `CsvLaw`."""
        kinds: dict[str, type[Any]] = {**cls.shelf, CsvLaw.kind: CsvLaw}  # for the message that lists them
        return read_shelved(kinds, table, where)

    @abstractmethod
    def weights(self, alphabet: int) -> tuple[int, ...]:
        """Whole numbers proportional to the probabilities of the letters of a record with this alphabet."""

    def check(self, records: Records) -> None:
        """Raise `InputError` if the law does not fit these records."""


@declared
class Iid(Law):
    """p(x) = product over the records of P(x_i), with one law P of the letters for all records.

    P is *exactly* the probabilities divided by their exact sum; the sum may differ from 1 by at most 1e-9.

    Parameters
    ----------
    probabilities : list or array of numbers
        One for each letter; every record's alphabet has that many. Entries are exact (see `dalenius.exact.as_fraction`).

    Raises
    ------
    InputError
        If an entry is negative or no number, or they do not sum to 1; `check` raises it for an alphabet of another size.

    >>> Iid([0.3, 0.7]).weights(2)
    (3, 7)
    """

    kind: ClassVar[str] = "iid"
    probabilities: Given[Numbers, tuple[Fraction, ...]] = Given(as_law)

    @cached_property
    def _weights(self) -> tuple[int, ...]:
        numerators, _ = over_common_denominator(self.probabilities, "law: probabilities", most_bits=MAX_SUM_BITS)
        common = math.gcd(*numerators)
        return tuple(weight // common for weight in numerators)

    def weights(self, alphabet: int) -> tuple[int, ...]:
        return self._weights

    def check(self, records: Records) -> None:
        for record, size in enumerate(records.alphabets):
            if size != len(self.probabilities):
                raise InputError(
                    f"law: iid needs one probability for each letter of every record; record {record} has {size} letters, and "
                    f"{len(self.probabilities)} probabilities are listed"
                )


def _as_texts(value: Sequence[str], what: str) -> tuple[str, ...]:
    letters = tuple(as_list(value, what))
    for a, letter in enumerate(letters):
        if not isinstance(letter, str):
            raise InputError(f"{what}[{a}] must be the text that stands for letter {a}, got {brief(letter)}")
    if not letters or len(set(letters)) < len(letters):
        raise InputError(f"{what} must be a non-empty list of different texts, got {brief(list(letters))}")
    return letters


@declared
class CsvLaw(Shelved):
    """Place of a law: a column of a csv file with names in its first line. No law itself; `read` makes it one.

    Parameters
    ----------
    file : str
        The path of a plain file in UTF-8 of at most 64 MiB, relative to the folder that `read` is told.
    column : str
        A name in the first line.
    letters : sequence of str
        The texts that stand for letter 0, 1, ..., all different.

    Raises
    ------
    InputError
        If a key is no text, or letters are repeated or missing.
    """

    kind: ClassVar[str] = "csv"
    room: ClassVar[str] = "law"
    file: Given[str, str] = Given(as_text)
    column: Given[str, str] = Given(as_text)
    letters: Given[Sequence[str], tuple[str, ...]] = Given(_as_texts)

    def read(self, folder: str | Path = "") -> Iid:
        """The shares of the letters among the lines of the file, as a law of independent records."""
        path = Path(folder) / self.file
        counts = Counter[str]()
        for line, text in csv_column(path, self.column, entries=self.letters):
            if text not in self.letters:
                raise InputError(
                    f"{path}: line {line}: the entry in column {brief(self.column)} (not shown) is none of the letters "
                    f"{brief(list(self.letters))}; list it, or clean the file"
                )
            counts[text] += 1
        if not counts:
            raise InputError(f"{path}: no lines below the first one; expected at least one to take shares of")
        return Iid([Fraction(counts[letter], counts.total()) for letter in self.letters])


def resolved(model: Mapping[str, Any], folder: str | Path) -> Mapping[str, Any]:
    """The tables of a model file with the law that they say where to find."""
    return (
        {**model, "law": Law.of_kind(model["law"], "[law]").read(folder).to_model()} if is_elsewhere(model) else model
    )


def is_elsewhere(model: Mapping[str, Any]) -> bool:
    """True if a file does not state the law itself, but says where to find it."""
    law = model.get("law")
    return isinstance(law, Mapping) and law.get("kind") == CsvLaw.kind


def law_from_csv(path: str | Path, column: str, letters: Sequence[str]) -> Iid:
    """The law of independent records that a column of a csv file shows: each letter's share of the lines.

    Parameters
    ----------
    path : path
        A plain file in UTF-8 of at most 64 MiB, with the names of the columns in its first line.
    column : str
        The name of the column; other columns are not looked at.
    letters : sequence of str
        The texts that stand for letter 0, 1, ...

    Raises
    ------
    InputError
        If the file cannot be read, has no such column or no lines, or a line holds an unknown letter; the message names the line, and
        repeats nothing that stands in it.

    Notes
    -----
    The probabilities are the exact shares of the table: a design for this law, its certificate and its mechanism tell them to whoever
    gets these (docs/release.md).

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "survey.csv"
    ...     _ = path.write_text("age,smoker\\n41,no\\n29,yes\\n63,no\\n")
    ...     law_from_csv(path, "smoker", ["no", "yes"])
    Iid(probabilities=(Fraction(2, 3), Fraction(1, 3)))
    """
    return CsvLaw(str(path), column, letters).read()


class Uniform(Law):
    """p(x) = 1 / |X|.

    >>> Uniform().weights(3)
    (1, 1, 1)
    """

    kind: ClassVar[str] = "uniform"

    def weights(self, alphabet: int) -> tuple[int, ...]:
        return (1,) * alphabet


LAWS = Law.shelf
LAWS.update((law.kind, law) for law in (Uniform, Iid))


# The law of a mechanism's inputs, as whole numbers: weights of the query's values by powers of polynomials, or of every dataset.
#
# Weights w are exact: the probability of an input is its weight divided by the sum of all of them.


MAX_BITS = 4e8  # of all weights together; the checker's own limit
MAX_WIDTH = 2**22


def check_size(query: Query, records: Records, law: Law) -> None:
    """`InputError` if the weights of the query's values are too long to be computed exactly."""
    if query.sums is None:
        return
    width = width_of_sums(query.sums, record_types(query.sums, records))
    bits = width * (1 + sum(times * math.log2(sum(law.weights(size))) for size, times in records.runs))
    if bits > MAX_BITS or width > MAX_WIDTH:
        raise InputError(
            f"law: the exact law of the query's values would take {bits:.2g} bits, at most {MAX_BITS:.0e} are computed; use fewer "
            "records, a query with fewer values (parity, modular_sum), or rounder probabilities"
        )


def value_weights(query: Query, records: Records, law: Law) -> list[int]:
    """The weight of every value of the query; 0 where no dataset of positive probability has it.

    >>> from dalenius.model.laws import Iid
    >>> from dalenius.model.queries import Count
    >>> value_weights(Count(), Records(3, alphabet=2), Iid([0.25, 0.75]))
    [1, 9, 27, 27]
    """
    weights = [0] * query.values(records).size
    if query.sums is not None:
        totals, parts = sum_weights(query.sums, record_types(query.sums, records), law)
        index = query.sums.index_of_total(totals, records)
    else:
        index, parts = query.index_of_dataset(records), dataset_weights(records, law)
    for v, weight in zip(index.tolist(), parts, strict=True):
        weights[v] += weight
    return weights


def dataset_weights(records: Records, law: Law) -> list[int]:
    """The weight of every dataset, in lexicographic order; for few datasets.

    >>> from dalenius.model.laws import Iid
    >>> dataset_weights(Records(2, alphabet=2), Iid([0.25, 0.75]))
    [1, 3, 3, 9]
    """
    letters = [(np.array(law.weights(size), dtype=object), times) for size, times in records.runs if size > 1]
    weights = np.ones(1, dtype=object)
    for own, times in letters:
        for _ in range(times):
            weights = np.multiply.outer(weights, own).ravel()
    return weights.tolist()


def width_of_sums(query: AdditiveQuery, types: list[RecordType]) -> int:
    """Number of sums, from the smallest to the largest, one step apart."""
    step = spacing(t.contribution for t in types)
    span = sum(t.times * ((max(t.contribution) - min(t.contribution)) // step) for t in types)
    return query.modulus() or span + 1


def sum_weights(query: AdditiveQuery, types: list[RecordType], law: Law) -> tuple[Integers, list[int]]:
    """The sums of positive probability, ascending, and their weights: coefficients of prod_i sum_a w(a) x^(what a adds)."""
    modulus, width = query.modulus(), width_of_sums(query, types)
    step = 1 if modulus else spacing(t.contribution for t in types)
    low = 0 if modulus else sum(t.times * min(t.contribution) for t in types)
    cycle = fmpz_poly([-1, *[0] * (width - 1), 1])
    powers = (_power(_letters(t.contribution, modulus, step, law), t.times, cycle) for t in types)
    product = reduce(lambda a, b: a * b % cycle, powers, fmpz_poly([1]))
    weights = [int(weight) for weight in product.coeffs()]
    places = [j for j, weight in enumerate(weights) if weight]
    return low + step * np.array(places, dtype=np.int64), [weights[j] for j in places]


def _letters(contribution: tuple[int, ...], modulus: int | None, step: int, law: Law) -> fmpz_poly:
    low = 0 if modulus else min(contribution)
    places = [(added - low) // step for added in contribution]
    if modulus:
        places = [place % modulus for place in places]
    coefficients = [0] * (max(places) + 1)
    for place, weight in zip(places, law.weights(len(contribution)), strict=True):
        coefficients[place] += weight
    return fmpz_poly(coefficients)


def _power(base: fmpz_poly, times: int, cycle: fmpz_poly) -> fmpz_poly:
    """base^times modulo x^width - 1, without a detour through powers of higher degree than needed."""
    if base.degree() * times < cycle.degree():
        return base**times
    result = fmpz_poly([1])
    for bit in f"{times:b}":
        result = result * result % cycle
        if bit == "1":
            result = result * base % cycle
    return result
