"""Objects of other packages as records and mechanisms: tables, mass functions, measurements of OpenDP and diffprivlib."""

from __future__ import annotations

import importlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, Protocol, TypeVar

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction, as_list
from dalenius.model.adversaries import IndependentBlocks
from dalenius.model.adversaries.independent_blocks import by_size, is_missing, told_apart
from dalenius.model.mechanisms import Channel, DiscreteLaplace, Geometric, Mechanism, RandomizedResponse, Symmetric
from dalenius.model.records import Records
from dalenius.notebook import in_brief
from dalenius.strict_json import parse_object

WHOLE = {f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64, 128)} | {
    "usize"
}  # what OpenDP calls whole numbers
NUMBERS = ("make_sum", "make_count", "make_count_distinct")  # what OpenDP makes one number of many with
CONSTRUCTORS = ("make_laplace", "make_geometric", "make_randomized_response_bool", "make_randomized_response")

MOST_NAMES = 20  # of columns in a message

A = TypeVar("A")


class Table(Protocol):
    """A data frame, or a mapping of names to columns."""

    def __getitem__(self, name: str) -> Iterable[Hashable]: ...


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
    """

    __repr__ = in_brief

    records: Records
    blocks: IndependentBlocks
    letters: tuple[Hashable, ...]
    dataset: tuple[int, ...]
    answer: str = "answer"


def from_frame(
    table: Table,
    *,
    answer: str,
    household: str,
    letters: Sequence[Hashable] | None = None,
    entropy_at_least: Number | None = None,
) -> People:
    """Two columns of a table as records, households and a dataset.

    Parameters
    ----------
    table : pandas.DataFrame, or a mapping of names to columns
    answer, household : str
        Names of columns. Rows with the same household are a block, in the order in which households first occur.
    letters : sequence, optional
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
        cannot be told from others (a list, or True among ones), or an answer is none of the letters. No message repeats an answer.

    >>> people = from_frame({"home": [7, 8, 7], "vote": ["no", "yes", "yes"]}, answer="vote", household="home", letters=["no", "yes"])
    >>> people.records.count, people.blocks.sizes, people.dataset
    (3, (2, 1), (0, 1, 1))
    """
    answers, homes = _column(table, answer), _column(table, household)
    if len(answers) != len(homes):
        raise InputError(f"table: the columns have {len(answers)} and {len(homes)} rows; expected as many of both")
    if any(map(is_missing, homes)):
        raise InputError(f"table: a row has no {household}; give everybody a household, one of their own if need be")
    if missing := sum(map(is_missing, answers)):
        raise InputError(
            f"table: expected an answer in every row, but {missing} of {len(answers)} rows have no {answer}; leave these rows out, or "
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
    if not place.keys() >= set(answers):
        raise InputError(
            f"table: an answer in the column {answer} is none of the {len(listed)} letters that there may be"
        )
    members: dict[Hashable, list[int]] = {}
    for home, given in zip(homes, answers, strict=True):
        members.setdefault(home, []).append(place[given])
    return People(
        Records(len(answers), alphabet=len(listed), answer=str(answer), letters=list(map(str, listed))),
        IndependentBlocks(sizes=[len(block) for block in members.values()], entropy_at_least=entropy_at_least),
        tuple(listed),
        tuple(letter for block in members.values() for letter in block),
        str(answer),
    )


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
    for v, pmf in enumerate(listed := as_list(pmfs, "mechanism: pmfs")):
        if not isinstance(pmf, Mapping):
            raise InputError(f"mechanism: pmfs[{v}] must be a mapping from outputs to probabilities, got {brief(pmf)}")
    outputs = dict.fromkeys(output for pmf in listed for output in pmf)
    return Channel([[pmf.get(output, 0) for output in outputs] for pmf in listed])


def from_diffprivlib(mechanism: object) -> Mechanism:
    """The mechanism of an object of `diffprivlib.mechanisms`, read from its attributes; diffprivlib itself is not imported.

    ``Geometric`` is `DiscreteLaplace` with epsilon/sensitivity, ``GeometricTruncated`` the `Geometric` with its range (both clamp),
    and ``Binary`` is `RandomizedResponse` of two values.

    Raises
    ------
    InputError
        If it is none of these, or an attribute is missing; a ``delta`` is not supported.

    >>> class GeometricTruncated:
    ...     epsilon, sensitivity, delta, lower, upper = 1.0, 2, 0.0, 0, 10
    >>> from_diffprivlib(GeometricTruncated())
    Geometric(epsilon=Fraction(1, 2), range=(0, 10))
    """
    name = type(mechanism).__name__
    if name not in ("Geometric", "GeometricTruncated", "Binary"):
        raise InputError(f"mechanism: of diffprivlib Geometric, GeometricTruncated and Binary are known; got {name}")
    if getattr(mechanism, "delta", 0.0) != 0.0:
        raise InputError(f"mechanism: {name} with a delta is not known; give one with delta 0")
    epsilon = _attribute(mechanism, "epsilon")
    if name == "Binary":
        return RandomizedResponse(epsilon, k=2)
    sensitivity = _attribute(mechanism, "sensitivity")
    if sensitivity <= 0:
        raise InputError(f"mechanism: {name} must have a sensitivity above 0, got {sensitivity}")
    rate = epsilon / sensitivity
    if name == "Geometric":
        return DiscreteLaplace(rate)
    ends = [_attribute(mechanism, end) for end in ("lower", "upper")]
    if any(end.denominator != 1 for end in ends):
        raise InputError(f"mechanism: the range of {name} must be whole numbers, got {ends[0]} to {ends[1]}")
    return Geometric(rate, range=[int(end) for end in ends])


def from_opendp(measurement: object) -> Mechanism:
    """The mechanism of an OpenDP measurement, read from the tree of its constructors.

    Of a chain it is what measures at the end: what is measured, a count or a sum, is for you to state. ``make_laplace`` and
    ``make_geometric`` on whole numbers are `DiscreteLaplace` (with bounds `Geometric`, which clamps as well);
    ``make_randomized_response_bool`` and ``make_randomized_response`` are `Symmetric`. Numbers are taken exactly as the doubles
    that they are.

    Parameters
    ----------
    measurement : opendp.Measurement or str
        Or the text that ``opendp.mod.serialize(measurement)`` returns, for which OpenDP need not be installed.

    Raises
    ------
    InputError
        If it is no measurement, or made by another constructor; the message names the known ones.

    >>> text = '{"__function__": "make_randomized_response_bool", "__kwargs__": {"prob": 0.75, "constant_time": false}}'
    >>> from_opendp(text)
    Symmetric(flip=Fraction(1, 4), k=2)
    """
    tree = _tree(measurement)
    while tree.get("__function__") == "make_chain_mt":
        tree = _argument(tree, "measurement1", dict)
    name, arguments = tree.get("__function__"), tree.get("__kwargs__")
    if name not in CONSTRUCTORS or not isinstance(arguments, Mapping):
        raise InputError(
            f"mechanism: of OpenDP {', '.join(CONSTRUCTORS)} and chains of them are known; got {brief(name)}"
        )
    if name == "make_randomized_response_bool":
        return Symmetric(1 - _probability(tree), k=2)
    if name == "make_randomized_response":
        return Symmetric(1 - _probability(tree), k=len(_argument(tree, "categories", list)))
    if arguments.get("k") is not None:
        raise InputError(f"mechanism: {name} is known without k, on a grid of whole numbers")
    _need_whole_number(name, arguments.get("input_domain"))
    scale, bounds = _double(tree, "scale"), arguments.get("bounds")
    if scale == 0:
        raise InputError(f"mechanism: {name} of scale 0 adds no noise")
    if bounds is None:
        return DiscreteLaplace(scale=scale)
    return Geometric(1 / scale, range=bounds.get("__tuple__") if isinstance(bounds, Mapping) else bounds)


def _tree(measurement: object) -> Mapping[str, Any]:
    """The tree that `opendp.mod.serialize` gives."""
    if not isinstance(measurement, str):
        try:
            serialize = importlib.import_module("opendp.mod").serialize
        except ImportError:
            raise InputError(
                "mechanism: expected the text of opendp.mod.serialize(measurement); to give the measurement itself, pip install opendp"
            ) from None
        try:
            measurement = serialize(measurement)
        except Exception as error:  # noqa: BLE001 - of OpenDP's own, whatever they are
            raise InputError(f"mechanism: OpenDP cannot serialize it: {error}") from None
    return parse_object(str(measurement), number=Fraction)


def _argument(tree: Mapping[str, Any], name: str, kind: type[A]) -> A:
    arguments = tree.get("__kwargs__")
    value = arguments.get(name) if isinstance(arguments, Mapping) else None
    if not isinstance(value, kind):
        raise InputError(f"mechanism: {tree.get('__function__')} has no {name} that is known; got {brief(value)}")
    return value


def _double(tree: Mapping[str, Any], name: str) -> Fraction:
    """A number, as the double that it is."""
    return Fraction(float(_argument(tree, name, Rational)))  # type: ignore[type-abstract]


def _probability(tree: Mapping[str, Any]) -> Fraction:
    """With which an answer is kept."""
    prob = _double(tree, "prob")
    if not 0 <= prob <= 1:
        raise InputError(f"mechanism: {tree.get('__function__')}: prob is a probability, expected 0 to 1, got {prob}")
    return prob


def _need_whole_number(noise: str, domain: Any) -> None:
    """Raise `InputError` unless what gets the noise is one whole number: a domain of such, or the count or sum of a pipeline."""
    made, where = domain, "input_domain"
    while (name := _name(made)) in ("transformation_output_domain", "make_chain_tt"):
        where = "this" if name == "transformation_output_domain" else "transformation1"  # the last of a chain
        made = made["__kwargs__"].get(where)
    if name != "atom_domain" and name not in NUMBERS:
        raise InputError(
            f"mechanism: {noise} is known on one number: an atom_domain, or what {', '.join(NUMBERS)} makes; got {brief(name)}, whose "
            "numbers would each get noise of their own"
        )
    if (kind := _number_type(made)) not in WHOLE:
        raise InputError(f"mechanism: {noise} is known on whole numbers (i32, u64, ...), got {brief(kind)}")


def _name(made: Any) -> str | None:
    """The function that made a domain or a transformation; None of what has no arguments."""
    known = isinstance(made, Mapping) and isinstance(made.get("__kwargs__"), Mapping)
    return str(made.get("__function__")) if known else None


def _number_type(made: Any) -> str | None:
    """The type of the numbers of a domain, or of what a transformation makes: its own, or that of what it is made of."""
    if _name(made) is None:
        return None
    arguments = made["__kwargs__"]
    for key in ("T", "TO", "TOA"):
        if isinstance(arguments.get(key), str):
            return str(arguments[key])
    inner = ("this", "atom_domain", "transformation1", "input_domain")
    return next((found for key in inner if (found := _number_type(arguments.get(key)))), None)


def _attribute(mechanism: object, name: str) -> Fraction:
    value = getattr(mechanism, name, None)
    if value is None:
        raise InputError(f"mechanism: {type(mechanism).__name__} has no {name}; expected a mechanism of diffprivlib")
    return as_fraction(value, f"mechanism: {name}")
