"""Measurements of OpenDP, read from the tree of their constructors; OpenDP itself is not imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeVar, overload

from dalenius.errors import InputError, brief
from dalenius.exact import Integer
from dalenius.model.mechanisms import DiscreteGaussian, DiscreteLaplace, Geometric, Mechanism, Symmetric
from dalenius.model.queries import Count, Histogram, Identity, Query, Sum
from dalenius.model.records import MAX_ALPHABET, Records
from dalenius.notebook import in_brief
from dalenius.strict_json import parse_object

WHOLE = {f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64, 128)} | {"usize"}  # whole numbers
CELLS = "make_count_by_categories"
COUNTED = ("make_sum", "make_count", "make_count_distinct", CELLS)  # makes numbers of many rows
NOISE = ("make_laplace", "make_geometric", "make_gaussian")
CONSTRUCTORS = (*NOISE, "make_randomized_response_bool", "make_randomized_response")
WRAPPED = {  # what says the same in another notion of privacy, or a chain, to the measurement inside
    "make_chain_mt": "measurement1",
    **dict.fromkeys(("make_pureDP_to_zCDP", "make_pureDP_to_approxDP", "make_zCDP_to_approxDP"), "measurement"),
    **dict.fromkeys(("make_approximate", "make_fix_delta", "make_fixed_approxDP_to_approxDP"), "measurement"),
}
INSIDE = {  # a domain or a chain to what made it last
    "transformation_output_domain": "this",
    "measurement_input_domain": "this",  # of a Context
    "make_adaptive_composition": "input_domain",
    "make_sequential_composition": "input_domain",
    "make_chain_tt": "transformation1",
}
CAST = ("make_cast", "make_cast_default", "make_cast_inherent", "make_impute_constant", "make_identity")
BY_ROW = (*CAST, "make_clamp", "make_drop_null", "make_find", "make_find_bin", "make_is_equal", "make_is_null")
PIPELINES = "clamped sums and counts of whole numbers, counts by category, and randomised response"

A = TypeVar("A")


@dataclass(frozen=True)
class Pipeline:
    """Release that a pipeline makes, for `dalenius.audit` or a model.

    Attributes
    ----------
    records : Records
        A person each; letters are what one of them can add, or the categories.
    query : Query
    mechanism : Mechanism
    """

    __repr__ = in_brief

    records: Records
    query: Query
    mechanism: Mechanism


@overload
def from_opendp(measurement: object) -> Mechanism: ...
@overload
def from_opendp(measurement: object, *, people: Integer) -> Pipeline: ...
def from_opendp(measurement: object, *, people: Integer | None = None) -> Mechanism | Pipeline:
    """The mechanism of an OpenDP measurement, or the whole pipeline, read from the tree of its constructors.

    ``make_laplace`` and ``make_geometric`` on whole numbers are `DiscreteLaplace` (with bounds `Geometric`, which clamps as well),
    ``make_gaussian`` is `DiscreteGaussian`; on ``make_count_by_categories`` they are the noise of every cell of a `Histogram`.
    ``make_randomized_response_bool`` and ``make_randomized_response`` are `Symmetric`. Numbers are taken exactly as the doubles that
    they are. Without `people`, what is measured is for you to state.

    Parameters
    ----------
    measurement : opendp.Measurement, a query of an opendp Context, or str
        Its constructors (``__opendp_dict__``, OpenDP 0.13 to 0.16) are read; of a query those of what it resolves to, before it is
        released. Or the text that ``opendp.mod.serialize(measurement)`` returns.
    people : int, optional
        How many rows there can be at most, a person each: then the answer is a `Pipeline` of records, query and mechanism. A sum of
        numbers clamped to lo .. hi is a `Sum`, whose letters are what a person can add: lo, ..., hi; and 0 where the number of rows
        is not public, for somebody who is not there. ``make_count`` is a `Count`: a person is counted or not.
        ``make_count_by_categories`` is a `Histogram` of the categories and one cell for all others. Randomised response is the
        `Identity` of one person's answer.

    Raises
    ------
    InputError
        If it is no measurement, made by another constructor, or no pipeline of these; the message names the known ones.

    >>> text = '''{"__function__": "make_chain_mt", "__kwargs__": {"measurement1": {"__function__": "make_gaussian", "__kwargs__": {
    ...     "scale": 2.0, "input_domain": {"__function__": "transformation_output_domain", "__kwargs__": {"this": {"__function__":
    ...     "make_sum", "__kwargs__": {"input_domain": {"__function__": "vector_domain", "__kwargs__": {"size": null, "atom_domain":
    ...     {"__function__": "atom_domain", "__kwargs__": {"bounds": {"__tuple__": [1, 3]}, "T": "i32"}}}}}}}}}}}}'''
    >>> from_opendp(text)
    DiscreteGaussian(scale=Fraction(2, 1), range=None)
    >>> found = from_opendp(text, people=100)
    >>> found.query, found.records.letters
    (Sum(weights=None), ('0', '1', '2', '3'))
    """
    tree = _measuring(measurement)
    mechanism = _noise(tree)
    return mechanism if people is None else _pipeline(tree, mechanism, people)


def _pipeline(tree: Mapping[str, Any], mechanism: Mechanism, people: Integer) -> Pipeline:
    if _name(tree) not in NOISE:
        categories = _given(tree, "categories") or ["false", "true"]
        if people != 1:
            raise InputError("people: randomised response is of one person's own answer: people=1")
        return Pipeline(_records(1, list(map(str, categories))), Identity(), mechanism)
    made = _made(_given(tree, "input_domain"))
    size = _size(made)
    if size not in (None, people):
        raise InputError(f"people: the pipeline's domain has {size} rows; got {brief(people)}")
    if _name(made) == CELLS:
        if _given(made, "null_category") is False:
            raise InputError(f"mechanism: {CELLS} is known with null_category, in which everybody has a cell")
        cells = [*map(str, _argument(made, "categories", list)), "any other category"]
        return Pipeline(_records(people, cells), Histogram(), mechanism)
    if _name(made) == "make_count":
        if size is not None:
            raise InputError(
                f"mechanism: the pipeline's domain states that there are {size} rows: their count is public"
            )
        return Pipeline(_records(people, ["not counted", "counted"]), Count(), mechanism)
    added = sorted({*_clamped(made), *([] if size is not None else [0])})
    query = Sum() if added == list(range(len(added))) else Sum(added)
    return Pipeline(_records(people, list(map(str, added))), query, mechanism)


def _records(people: Integer, letters: Sequence[str]) -> Records:
    return Records(people, alphabet=len(letters), letters=letters)


def _measuring(measurement: object) -> Mapping[str, Any]:
    """The constructor that measures, out of chains and casts."""
    tree = _tree(measurement)
    while (name := _name(tree)) in WRAPPED:
        tree = _argument(tree, WRAPPED[str(name)], dict)
    return tree


def _noise(tree: Mapping[str, Any]) -> Mechanism:
    name = tree.get("__function__")
    if name not in CONSTRUCTORS or _name(tree) is None:
        raise InputError(
            f"mechanism: of OpenDP {', '.join(CONSTRUCTORS)} and chains of them are known; got {brief(name)}"
        )
    if name == "make_randomized_response_bool":
        return Symmetric(1 - _probability(tree), k=2)
    if name == "make_randomized_response":
        return Symmetric(1 - _probability(tree), k=len(_argument(tree, "categories", list)))
    if _given(tree, "k") is not None:
        raise InputError(f"mechanism: {name} is known without k, on a grid of whole numbers")
    _need_whole_numbers(name, _given(tree, "input_domain"))
    scale, bounds = _double(tree, "scale"), _given(tree, "bounds")
    if scale == 0:
        raise InputError(f"mechanism: {name} of scale 0 adds no noise")
    if name == "make_gaussian":
        return DiscreteGaussian(scale=scale)
    if bounds is None:
        return DiscreteLaplace(scale=scale)
    return Geometric(1 / scale, range=_pair(bounds))


def _tree(measurement: object) -> Mapping[str, Any]:
    """The tree of constructors, of a text, a measurement, or what a Context's query resolves to."""
    if isinstance(measurement, str):
        return parse_object(measurement, number=Fraction)
    if callable(resolve := getattr(measurement, "resolve", None)):
        try:
            measurement = resolve()
        except Exception as error:  # noqa: BLE001 - of OpenDP's own, whatever they are
            raise InputError(f"mechanism: OpenDP cannot resolve the query: {error}") from None
    if not isinstance(getattr(measurement, "__opendp_dict__", None), Mapping):
        raise InputError(
            "mechanism: expected a measurement of OpenDP 0.13 to 0.16, a query of its Context before it is released, or the text of "
            f"opendp.mod.serialize(measurement); got {type(measurement).__name__}"
        )
    tree: dict[str, Any] = _plain(measurement)
    return tree


def _plain(made: Any) -> Any:
    """An argument as a text would have it, without metrics and notions of privacy."""
    if isinstance(told := getattr(made, "__opendp_dict__", None), Mapping):
        return _plain(dict(told))
    if isinstance(made, Mapping):
        return {str(key): _plain(value) for key, value in made.items() if key not in ("input_metric", "output_measure")}
    if isinstance(made, list):
        return [_plain(value) for value in made]
    if isinstance(made, tuple):
        return {"__tuple__": [_plain(value) for value in made]}
    if isinstance(made, float) and made - made == 0:
        return Fraction(made)
    return made if made is None or isinstance(made, str | int | Fraction) else str(made)


def _given(made: Any, name: str) -> Any:
    """An argument of a constructor; None where it has none of that name."""
    return made["__kwargs__"].get(name) if _name(made) is not None else None


def _argument(made: Any, name: str, kind: type[A]) -> A:
    value = _given(made, name)
    if not isinstance(value, kind):
        raise InputError(f"mechanism: {made.get('__function__')} has no {name} that is known; got {brief(value)}")
    return value


def _double(tree: Mapping[str, Any], name: str) -> Fraction:
    """A number, as the double that it is."""
    try:
        return Fraction(float(_argument(tree, name, Rational)))  # type: ignore[type-abstract]
    except OverflowError:
        raise InputError(f"mechanism: {name} is beyond what doubles can hold") from None


def _pair(bounds: Any) -> Any:
    return bounds.get("__tuple__") if isinstance(bounds, Mapping) else bounds


def _probability(tree: Mapping[str, Any]) -> Fraction:
    """The probability with which an answer is kept."""
    prob = _double(tree, "prob")
    if not 0 <= prob <= 1:
        raise InputError(f"mechanism: {tree.get('__function__')}: prob is a probability, expected 0 to 1, got {prob}")
    return prob


def _need_whole_numbers(noise: str, domain: Any) -> None:
    """Raise `InputError` unless what gets the noise is one whole number, or the cells of a histogram."""
    made = _made(domain)
    if (name := _name(made)) not in ("atom_domain", *COUNTED):
        raise InputError(
            f"mechanism: {noise} is known on one number, an atom_domain, or on what {', '.join(COUNTED)} makes; got {brief(name)} "
            "(the numbers of a vector would each get noise of their own)"
        )
    if (kind := _number_type(made)) not in WHOLE:
        raise InputError(f"mechanism: {noise} is known on whole numbers (i32, u64, ...), got {brief(kind)}")


def _made(domain: Any) -> Any:
    """The last transformation that made a domain, or the domain itself."""
    while (name := _name(domain)) in INSIDE:
        domain = _given(domain, INSIDE[str(name)])
    return domain


def _before(made: Any) -> Iterator[Any]:
    """The transformations before one, the last first, down to the domain of the data; `InputError` for one that mixes rows."""
    while (name := _name(made)) != "vector_domain":
        if name not in (*COUNTED, *BY_ROW):
            raise InputError(
                f"mechanism: of OpenDP's pipelines {PIPELINES} are known, after {', '.join(BY_ROW)}; got {brief(name)}"
            )
        made = _made(_given(made, "input_domain"))
        yield made


def _size(made: Any) -> int | None:
    """The number of rows, where that is public."""
    if _name(made) not in COUNTED or _name(made) == "make_count_distinct":
        raise InputError(f"mechanism: of OpenDP's pipelines {PIPELINES} are known; got {brief(_name(made))}")
    *steps, data = _before(made)
    size = _given(data, "size")
    return size if isinstance(size, int) and not any(_name(step) == "make_drop_null" for step in steps) else None


def _clamped(made: Any) -> range:
    """The numbers that a row can add to a sum."""
    last = next(_before(made))
    bounds = _given(last, "bounds")
    if _name(last) == "vector_domain":
        bounds = _given(_given(last, "atom_domain"), "bounds")
    pair = _pair(bounds)
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(end, int) for end in pair)):
        raise InputError(
            f"mechanism: a sum is known of whole numbers that are clamped (make_clamp) just before; got {brief(pair)}"
        )
    low, high = pair
    if not 0 <= high - low < MAX_ALPHABET:
        raise InputError(
            f"mechanism: a sum is known of numbers clamped to at most {MAX_ALPHABET} values, as each is a letter of a person; got "
            f"{brief(low)} to {brief(high)}: clamp to fewer, or count in larger steps"
        )
    return range(low, high + 1)


def _name(made: Any) -> str | None:
    """The function that made a domain or a transformation; None of what has no arguments."""
    known = isinstance(made, Mapping) and isinstance(made.get("__kwargs__"), Mapping)
    return str(made.get("__function__")) if known else None


def _number_type(made: Any) -> str | None:
    """The type of the numbers of a domain, or of what a transformation makes: its own, or that of what it is made of."""
    if _name(made) is None:
        return None
    for key in ("T", "TO", "TOA"):
        if isinstance(kind := _given(made, key), str):
            return kind
    inner = ("this", "atom_domain", "transformation1", "input_domain")
    return next((found for key in inner if (found := _number_type(_given(made, key)))), None)
