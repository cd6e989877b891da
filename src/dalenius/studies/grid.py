"""Grids of problems: keys of a model file, the values that each is to have, and the problem at each place."""

from __future__ import annotations

import csv
import dataclasses
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from dalenius.errors import InputError, brief
from dalenius.exact import Numeral, as_fraction, as_integer, fraction_text, is_number
from dalenius.model import DesignProblem, EntropyAtLeast, Problem, dumps

ENTROPY = "adversary.entropy_at_least"
MOST = 100_000  # points of a grid
SPREAD = re.compile(r"\s*([^:,\s]+)\s*:\s*([^:,\s]+)(?:\s+([A-Za-z]+))?\s*:\s*([^:,\s]+)\s*")
UNCOUNTED = re.compile(r"\s*[+-]?\.?\d[^:,]*:\s*[+-]?\.?\d[^:,]*")  # FIRST:LAST
WHOLE, DECIMAL = re.compile(r"[+-]?\d+"), re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
WORDS = {"true": True, "false": False}


@dataclass(frozen=True)
class Axis:
    """A key of the model file, with its tables before it, and the values that it is to have, also as texts."""

    path: str
    values: tuple[object, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(map(text_of, self.values))


def axes_of(grid: Mapping[str, object]) -> tuple[Axis, ...]:
    """The axes of a grid, each value list given as in `values_in` or as a list of values.

    Raises
    ------
    InputError
        If a path or its values cannot be used, a value stands there twice, or there are too many points.

    >>> [axis.texts for axis in axes_of({"mechanism.epsilon": "0.1,1", "max_distortion": [0, "1/3"]})]
    [('0.1', '1'), ('0', '1/3')]
    """
    if not isinstance(grid, Mapping):
        raise InputError(f"grid: expected a mapping of paths such as {ENTROPY!r} to lists of values, got {brief(grid)}")
    axes, points = list[Axis](), 1
    for path, given in grid.items():
        if not isinstance(path, str) or not all(path.split(".")):
            raise InputError(
                f"grid: expected a path of keys with points between them, such as {ENTROPY}; got {brief(path)}"
            )
        if isinstance(given, str):
            values: Sequence[object] = values_in(given, path)
        elif isinstance(given, Iterable) and not isinstance(given, Mapping):
            values = tuple(given)
        else:
            raise InputError(
                f"{path}: expected a list of values, or a text such as 0.1,0.3 or 0:1:11; got {brief(given)}"
            )
        axes.append(Axis(path, tuple(values)))
        if not values:
            raise InputError(f"{path}: expected values, got none")
        seen = dict[object, str]()
        for value, text in zip(axes[-1].values, axes[-1].texts, strict=True):
            if (meaning := _meaning(value, text)) in seen:
                also = "" if seen[meaning] == text else f", once as {seen[meaning]}"
                raise InputError(f"{path}: {text} stands there twice{also}")
            seen[meaning] = text
        points *= len(values)
    if points > MOST:
        raise InputError(f"grid: at most {MOST} points, got {points}; make several sweeps of it")
    return tuple(axes)


def values_in(text: str, path: str) -> list[object]:
    """The values in a text: a list with commas, or FIRST:LAST UNIT:COUNT, which is evenly spread and exact.

    >>> values_in("0:1 max:3", "adversary.entropy_at_least"), values_in("10:30:3", "records.count"), values_in("0.5,log 3", "epsilon")
    (['0 max', '0.5 max', '1 max'], [10, 20, 30], [0.5, 'log 3'])
    """
    if spread := SPREAD.fullmatch(text):
        first, last, unit, count = spread.groups()
        low, high = as_fraction(first, path), as_fraction(last, path)
        steps = as_integer(int(count) if WHOLE.fullmatch(count) else count, f"{path}: how many values", at_least=2) - 1
        if steps >= MOST:
            raise InputError(f"{path}: at most {MOST} values, got {count}")
        values = [low + (high - low) * Fraction(j, steps) for j in range(steps + 1)]
        if unit:
            return [f"{fraction_text(value)} {unit}" for value in values]
        return [int(value) if value.denominator == 1 else value for value in values]
    if UNCOUNTED.fullmatch(text):
        raise InputError(f"{path}: expected FIRST:LAST:COUNT, such as 0:1:11; got {brief(text)}, which has no COUNT")
    try:
        entries = next(csv.reader([text], strict=True, skipinitialspace=True), [])
    except csv.Error as error:
        raise InputError(f"{path}: {error}") from None
    if not entries or not all(entry.strip() for entry in entries):
        raise InputError(f"{path}: expected values with commas, or FIRST:LAST:COUNT; got {brief(text)}")
    return [_value(entry.strip()) for entry in entries]


def _value(text: str) -> object:
    """What TOML reads, where it is a number or a truth value; else the text."""
    if WHOLE.fullmatch(text):
        return int(text)
    return Numeral(text) if DECIMAL.fullmatch(text) else WORDS.get(text, text)


def _meaning(value: object, text: str) -> object:
    """The number that a value states, however it is written; else its text."""
    try:
        return text if isinstance(value, bool) else as_fraction(value, "value")
    except InputError:
        return text


def text_of(value: object) -> str:
    """How a value is written in a plan and in its records."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Numeral):
        return value.text
    if isinstance(value, Fraction) or is_number(value):
        return fraction_text(as_fraction(value, "value"))
    return value if isinstance(value, str) else repr(value)


def places(axes: Sequence[Axis]) -> list[dict[str, object]]:
    """The values at every place of the grid, the last axis running fastest; of no axes one empty place."""
    return [
        dict(zip((axis.path for axis in axes), values, strict=True))
        for values in product(*(axis.values for axis in axes))
    ]


def with_value(problem: Problem, path: str, value: object) -> Problem:
    """The problem with another value of one key of its model file.

    Raises
    ------
    InputError
        If there is no such key, or its value cannot be used; the message names both.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1),
    ...     adversary=dl.AnyPrior())
    >>> with_value(problem, "mechanism.epsilon", 0.5).mechanism.epsilon, with_value(problem, "records.count", 6).records.count
    (Fraction(1, 2), 6)
    """
    if path == ENTROPY and not isinstance(adversary := problem.against("a sweep over entropy bounds"), EntropyAtLeast):
        raise InputError(
            f"a sweep varies the adversary's entropy bound, and {adversary.kind} has none; give the model "
            "entropy_at_least = 0 (or solve it as it is)"
        )
    try:
        return _changed(problem, path, value)
    except InputError as error:
        raise InputError(f"{path} = {text_of(value)}: {error}") from None


def _changed(problem: Problem, path: str, value: Any) -> Problem:
    if path == ENTROPY:
        return dataclasses.replace(problem, adversary=EntropyAtLeast(value))
    if isinstance(problem, DesignProblem) and path == problem.budget_key:
        problem.against("a sweep over budgets")
        return dataclasses.replace(problem, **{path: value})
    if "." not in path and not isinstance(value, str | Numeral) and not is_number(value):
        names = [part.name for part in dataclasses.fields(problem) if part.init]
        if path not in names:
            raise InputError(f"expected one of {', '.join(names)} for what is given as a whole")
        return dataclasses.replace(problem, **{path: value})
    model = tomllib.loads(dumps(problem), parse_float=Numeral)
    _put(model, path.split("."), value)
    return type(problem).from_model(model)


def _put(tables: Any, keys: Sequence[str], value: object) -> None:
    """Set what stands under keys, one table after the other; of lists the keys are numbers."""
    *before, last = keys
    for key in before:
        if isinstance(tables, list) and WHOLE.fullmatch(key) and 0 <= int(key) < len(tables):
            tables = tables[int(key)]
        elif isinstance(tables, dict) and key in tables:
            tables = tables[key]
        else:
            known = f"0 to {len(tables) - 1}" if isinstance(tables, list) else ", ".join(tables)
            raise InputError(f"no table {brief(key)} in the model; there are {known}")
    if not isinstance(tables, dict):
        raise InputError(f"{brief(last)} is no key: expected a table before it")
    tables[last] = value
