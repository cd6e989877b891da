"""Objects of other packages as records and mechanisms: tables, mass functions, mechanisms of diffprivlib."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Protocol

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction, as_list
from dalenius.information.arrays import Integers
from dalenius.model.adversaries import IndependentBlocks
from dalenius.model.adversaries.independent_blocks import by_size, is_missing, told_apart
from dalenius.model.mechanisms import (
    Channel,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Geometric,
    Laplace,
    Mechanism,
    RandomizedResponse,
)
from dalenius.model.queries.margins import SEPARATOR
from dalenius.model.records import Records
from dalenius.notebook import in_brief

DIFFPRIVLIB: dict[str, type[DiscreteGaussian | Gaussian] | None] = {  # and the noise whose scale they have worked out
    **dict.fromkeys(("Geometric", "GeometricTruncated", "Binary", "Laplace")),
    **dict.fromkeys(("Gaussian", "GaussianAnalytic"), Gaussian),
    "GaussianDiscrete": DiscreteGaussian,
}
MOST_NAMES = 20  # of columns in a message
OF_FUNCTION = (
    "write dl.from_pmfs([f(v) for v in values]), where f(v) maps each output to its probability at the query's value v"
)


class Table(Protocol):
    """A data frame, or a mapping of names to columns."""

    def __getitem__(self, name: str) -> Iterable[Hashable]: ...


class FileTable(dict[str, list[Hashable]]):
    """Columns that were read from a file, and the line of each row."""

    def __init__(self, columns: Mapping[str, list[Hashable]], lines: Sequence[int]) -> None:
        super().__init__(columns)
        self.lines = lines


@dataclass(frozen=True)
class People:
    """The people of a table, one household after the other.

    Attributes
    ----------
    records : Records
    blocks : IndependentBlocks
        Their households.
    letters : tuple
        What the letters 0, 1, ... stand for.
    dataset : tuple of int
        The letter of each, for a release; no model and no certificate holds it.
    answer : str
        The column of the answers.
    attributes : tuple of int
        For each such column how many answers there may be.
    """

    __repr__ = in_brief

    records: Records
    blocks: IndependentBlocks
    letters: tuple[Hashable, ...]
    dataset: tuple[int, ...]
    answer: str = "answer"
    attributes: tuple[int, ...] = ()


def from_frame(
    table: Table,
    *,
    answer: str | Sequence[str],
    household: str,
    letters: Sequence[Hashable] | Mapping[str, Sequence[Hashable]] | None = None,
    entropy_at_least: Number | None = None,
) -> People:
    """Columns of a table as records, households and a dataset.

    Parameters
    ----------
    table : pandas.DataFrame, or a mapping of names to columns
    answer : str or sequence of str
        The column of the answers; of several columns a person's letter is the combination of what stands in them, as `Margins` has it.
    household : str
        A column. Rows with the same household are a block, in the order in which households first occur.
    letters : sequence, or mapping of columns to sequences, optional
        The answers that there could be, in the order of their letters. Left out they are those that occur, numbers by their size and
        others by their texts: then the model depends on the data.
    entropy_at_least : number or str, optional
        Of the own household, as `IndependentBlocks` has it.

    Returns
    -------
    People

    Raises
    ------
    InputError
        If a column is missing or empty, columns differ in length, a household or an answer is missing (None, NaN, NA, NaT), an entry
        cannot be told from others (a list, or True among ones), or an answer is none of the letters. Messages name the first such row,
        and never repeat an answer.

    >>> people = from_frame({"home": [7, 8, 7], "vote": ["no", "yes", "yes"]}, answer="vote", household="home", letters=["no", "yes"])
    >>> people.records.count, people.blocks.sizes, people.dataset
    (3, (2, 1), (0, 1, 1))
    """
    names = [answer] if isinstance(answer, str) else [str(name) for name in as_list(answer, "answer")]
    if not names or len(set(names)) < len(names):
        raise InputError("answer: expected a column, or several different ones")
    if letters is not None and not isinstance(letters, Mapping):
        if len(names) > 1:
            raise InputError("letters: of several columns expected a mapping of each to its answers")
        letters = {names[0]: letters}
    if strange := set(letters or ()) - set(names):
        raise InputError(f"letters: expected only {', '.join(names)}, got {brief(min(map(str, strange)))}, too")
    homes, columns = _column(table, household), [_column(table, name) for name in names]
    if short := [len(column) for column in columns if len(column) != len(homes)]:
        raise InputError(f"table: the columns have {short[0]} and {len(homes)} rows; expected as many of both")
    if missing := _rows_of(table, map(is_missing, homes)):
        raise InputError(
            f"table: {missing} have no {household}; give everybody a household, one of their own if need be"
        )
    read = [
        _placed(table, column, name, (letters or {}).get(name)) for name, column in zip(names, columns, strict=True)
    ]
    combined = list(product(*(own for own, _ in read)))
    listed: list[Hashable] = read[0][0] if len(read) == 1 else [*combined]
    given = np.zeros(len(homes), dtype=np.int64)
    for own, places in read:
        given = given * len(own) + places
    members: dict[Hashable, list[int]] = {}
    for home, letter in zip(homes, given.tolist(), strict=True):
        members.setdefault(home, []).append(letter)
    spelled = [SEPARATOR.join(map(str, each)) for each in combined]
    return People(
        Records(len(homes), alphabet=len(listed), answer=SEPARATOR.join(names), letters=spelled),
        IndependentBlocks(sizes=[len(block) for block in members.values()], entropy_at_least=entropy_at_least),
        tuple(listed),
        tuple(letter for block in members.values() for letter in block),
        SEPARATOR.join(names),
        tuple(len(own) for own, _ in read),
    )


def _rows_of(table: Table, wrong: Iterable[bool]) -> str:
    """The number of wrong rows, and the first of them, by its line in a file; empty if none is.

    >>> _rows_of({}, [False, True, True]), _rows_of(FileTable({}, [2, 3]), [False, True])
    ('2 of 3 rows (the first: row 1, counted from 0)', '1 of 2 rows (the first: line 3)')
    """
    rows = list(wrong)
    places = [place for place, bad in enumerate(rows) if bad]
    if not places:
        return ""
    lines = table.lines if isinstance(table, FileTable) else None
    first = f"line {lines[places[0]]}" if lines else f"row {places[0]}, counted from 0"
    return f"{len(places)} of {len(rows)} rows (the first: {first})"


def _placed(
    table: Table, answers: list[Hashable], name: str, letters: Sequence[Hashable] | None
) -> tuple[list[Hashable], Integers]:
    """The answers of a column that there may be, and everybody's by its place among them."""
    if missing := _rows_of(table, map(is_missing, answers)):
        raise InputError(
            f"table: expected an answer in every row, but {missing} have no {name}; leave these rows out, or "
            "write a word of its own there, such as 'unknown'"
        )
    listed = (
        sorted(set(answers), key=by_size) if letters is None else told_apart(as_list(letters, "letters"), "letters")
    )
    if any(map(is_missing, listed)):
        raise InputError(
            "letters: expected answers, got a missing value (None, NaN, NA or NaT); give a word for it, such as 'unknown'"
        )
    if len(set(listed)) < len(listed) or not listed:
        raise InputError("letters: expected different answers, at least one")
    place = {letter: k for k, letter in enumerate(listed)}
    if strange := _rows_of(table, (given not in place for given in answers)):
        raise InputError(
            f"table: {strange} have an answer in the column {name} that is none of the {len(listed)} letters that there may be"
        )
    return listed, np.array([place[given] for given in answers])


def _column(table: Table, name: str) -> list[Hashable]:
    try:
        column = list(table[name])
    except (KeyError, TypeError, IndexError):
        names = list(getattr(table, "columns", table)) if isinstance(table, Iterable) else []
        told = f"; the table has {', '.join(map(str, names[:MOST_NAMES]))}" if names else ""
        raise InputError(f"table: expected a column {brief(name)}{told}") from None
    if not column:
        raise InputError(f"table: the column {brief(name)} is empty")
    return told_apart(column, f"table: the column {brief(name)}")


def from_pmfs(pmfs: Sequence[Mapping[Hashable, Number]]) -> Channel:
    """The mechanism with these probability mass functions, one for each value of the query, ascending.

    Parameters
    ----------
    pmfs : sequence of mappings from outputs to probabilities
        An output that one of them does not have has probability 0 there. Outputs are in the order in which they first occur.

    Returns
    -------
    Channel
        Each row divided by its exact sum.

    Raises
    ------
    InputError
        If there is none, one is no mapping, a probability is negative or no number, or a sum is not 1.

    >>> from_pmfs([{0: 0.9, 1: 0.1}, {1: 1}]).rows
    ((Fraction(9, 10), Fraction(1, 10)), (Fraction(0, 1), Fraction(1, 1)))
    """
    if callable(pmfs):
        raise InputError(f"mechanism: pmfs: expected a list of mappings, got a function; {OF_FUNCTION}")
    for v, pmf in enumerate(listed := as_list(pmfs, "mechanism: pmfs")):
        if not isinstance(pmf, Mapping):
            raise InputError(f"mechanism: pmfs[{v}] must be a mapping from outputs to probabilities, got {brief(pmf)}")
    outputs = dict.fromkeys(output for pmf in listed for output in pmf)
    return Channel([[pmf.get(output, 0) for output in outputs] for pmf in listed])


def from_diffprivlib(mechanism: object) -> Mechanism:
    """The mechanism of an object of `diffprivlib.mechanisms`, read from its attributes; diffprivlib itself is not imported.

    ``Geometric`` is `DiscreteLaplace` with epsilon/sensitivity, ``GeometricTruncated`` the `Geometric` with its range (both clamp),
    and ``Binary`` is `RandomizedResponse` of two values. ``GaussianDiscrete`` is `DiscreteGaussian`, ``Laplace`` and ``Gaussian``
    (``GaussianAnalytic``) the real noise of their scales, which diffprivlib itself draws as doubles.

    Versions 0.4 to 0.6 (0.6.6) have these attributes; before 0.4 a mechanism had none until it was set.

    Raises
    ------
    InputError
        If it is none of these, or an attribute is missing; a ``delta`` is known where it makes the scale.

    >>> class GeometricTruncated:
    ...     epsilon, sensitivity, delta, lower, upper = 1.0, 2, 0.0, 0, 10
    >>> from_diffprivlib(GeometricTruncated())
    Geometric(epsilon=Fraction(1, 2), range=(0, 10))
    """
    name = type(mechanism).__name__
    if name not in DIFFPRIVLIB:
        raise InputError(f"mechanism: of diffprivlib {', '.join(DIFFPRIVLIB)} are known; got {name}")
    if (made := DIFFPRIVLIB[name]) is not None:
        if (scale := _attribute(mechanism, "_scale")) <= 0:
            raise InputError(f"mechanism: {name} of scale {scale} adds no noise")
        return made(scale=scale)
    if getattr(mechanism, "delta", 0.0) != 0.0:
        raise InputError(f"mechanism: {name} with a delta is not known; give one with delta 0")
    epsilon = _attribute(mechanism, "epsilon")
    if name == "Binary":
        return RandomizedResponse(epsilon, k=2)
    sensitivity = _attribute(mechanism, "sensitivity")
    if sensitivity <= 0:
        raise InputError(f"mechanism: {name} must have a sensitivity above 0, got {sensitivity}")
    rate = epsilon / sensitivity
    if name == "Laplace":
        return Laplace(1 / rate)
    if name == "Geometric":
        return DiscreteLaplace(rate)
    ends = [_attribute(mechanism, end) for end in ("lower", "upper")]
    if any(end.denominator != 1 for end in ends):
        raise InputError(f"mechanism: the range of {name} must be whole numbers, got {ends[0]} to {ends[1]}")
    return Geometric(rate, range=[int(end) for end in ends])


def _attribute(mechanism: object, name: str) -> Fraction:
    value = getattr(mechanism, name, None)
    if value is None:
        raise InputError(f"mechanism: {type(mechanism).__name__} has no {name}; expected a mechanism of diffprivlib")
    return as_fraction(value, f"mechanism: {name}")
