"""Plan of a sweep: a grid of problems, keys of a model file with values; its points in order, and which each may begin with."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import PurePath
from typing import Any

from dalenius._answers_json import plain
from dalenius.errors import InputError, brief, naming
from dalenius.exact import Numeral, as_fraction, as_integer, fraction_text, is_number
from dalenius.model import EntropyAtLeast, Problem, digest, dumps
from dalenius.model.fields import keep
from dalenius.search import Limits, need_gap, need_solver
from dalenius.version import PRODUCER

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
    """Value that TOML reads, where it is a number or a truth value; else the text."""
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
    """Text of a value in a plan and in its records."""
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
    if path == ENTROPY and problem.bound is None:
        kind = problem.against("a sweep over entropy bounds").kind
        raise InputError(
            f"a sweep varies the adversary's entropy bound, and {kind} has none; give the model "
            "entropy_at_least = 0 (or solve it as it is)"
        )
    with naming(f"{path} = {text_of(value)}"):
        return _changed(problem, path, value)


def _changed(problem: Problem, path: str, value: Any) -> Problem:
    if path == ENTROPY:
        return dataclasses.replace(problem, adversary=EntropyAtLeast(value))
    if path == problem.budget_key:
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


FORMAT = "dalenius-sweep/1"
SHARED = 4  # how many neighbours begin with the same point
DENSE = 24  # witnesses on either side of a point, at entropy bounds between it and its neighbours


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of every point; as in `solve`, and `methods`, `seeds`, `budget` as in `compare`, if rivals are asked, too."""

    gap: float = 1e-3
    time_limit: float | None = 20.0
    node_limit: int | None = 1_000_000
    memory_limit: float | None = 4096.0
    seed: int = 0
    method: str | None = None
    solver: str = "auto"
    methods: tuple[str, ...] = ()
    seeds: int = 5
    budget: float = 10.0

    def __post_init__(self) -> None:
        need_gap(self.gap)
        Limits(**self._limits)
        need_solver(self.solver)
        as_integer(self.seed, "seed", at_least=0)
        if self.methods and self.method is not None:
            raise InputError("methods: rivals are compared with our own search; leave method out")
        keep(self, method=None if self.method is None else str(self.method))

    @property
    def _limits(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("gap", "time_limit", "node_limit", "memory_limit")}

    @property
    def of_solve(self) -> dict[str, Any]:
        """The arguments of `solve`."""
        return {**self._limits, "seed": self.seed, "method": self.method, "solver": self.solver}


@dataclass(frozen=True)
class Point:
    """A question of a sweep.

    Attributes
    ----------
    index : int
    name : str
        Of its files, without endings.
    model : str
        The model as it was named.
    at : dict of path -> text
    problem : Problem
    before : tuple of int
        Points whose proofs it may begin with, by their indices, the nearest first: the same whoever solves it, and when.
    between : tuple of Fraction or None
        Shares of the largest entropy at which its certificate is to have witnesses, too; None where it bounds no whole curve.
    key : str
        SHA-256 of all that its record depends on.
    """

    index: int
    name: str
    model: str
    at: Mapping[str, str]
    problem: Problem
    before: tuple[int, ...] = ()
    between: tuple[Fraction, ...] | None = None
    key: str = ""


def ancestors(place: int) -> Iterator[int]:
    """The places of a chain that one of them may begin with, the nearest first.

    Each place begins with the one whose number to the base 4 has 0 for its last digit that is none. So N places are done in log N
    steps one after the other by whoever there is, and the first of a part is known to all of that part.

    >>> list(ancestors(23)), list(ancestors(16))
    ([20, 16, 0], [0])
    """
    digit = 1
    while place:
        if lost := place // digit % SHARED * digit:
            place -= lost
            yield place
        digit *= SHARED


def between(share: Fraction, shares: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Shares between this one and its neighbours on either side, evenly spread."""
    left = max((other for other in shares if other < share), default=share)
    right = min((other for other in shares if other > share), default=share)
    steps = [Fraction(j, DENSE + 1) for j in range(1, DENSE + 1)]
    below = [left + (share - left) * step for step in steps if left < share]
    return tuple(below + [share + (right - share) * step for step in steps if share < right])


def key_of(point: Point, settings: Settings, keys: Sequence[str]) -> str:
    """SHA-256 of what the record of a point depends on: its question, the settings, the release, the points it may begin with."""
    about = [FORMAT, PRODUCER, digest(point.problem), plain(asdict(settings)), plain(point.between), list(keys)]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Plan:
    """A grid of points, each with a key; `points` is empty where they are chosen one after the other."""

    models: Mapping[str, Problem]
    axes: tuple[Axis, ...]
    settings: Settings
    points: tuple[Point, ...]

    @classmethod
    def of(cls, models: Mapping[str, Problem], grid: Mapping[str, object], settings: Settings) -> Plan:
        """The points of all models, the last axis running fastest.

        Raises
        ------
        InputError
            If there is no model, or a point of the grid is no problem; the message says where.
        """
        axes = axes_of(grid)
        if not models:
            raise InputError("sweep: expected at least one model, got none")
        points = list[Point]()
        for model, problem in models.items():
            if not isinstance(problem, Problem):
                raise InputError(
                    f"problem: expected a WorstCaseLeakage, SecretLeakage, MinLeakage or MinDistortion, got {brief(problem)}"
                )
            for place in places(axes):
                there = problem
                for path, value in place.items():
                    there = with_value(there, path, value)
                at = {path: text_of(value) for path, value in place.items()}
                points.append(Point(len(points), cls.name(model, len(points)), model, at, there))
        return cls(models, axes, settings, tuple(_with_keys(chained(points), settings)))

    @staticmethod
    def name(model: str, index: int) -> str:
        """Of a point's files.

        >>> Plan.name("models/count.toml", 0), Plan.name("real/fair-cell", 1)
        ('count-001', 'fair-cell-002')
        """
        stem = PurePath(model).name.removesuffix(".toml")
        return f"{stem or 'model'}-{index + 1:03d}"

    @property
    def chosen(self) -> bool:
        """True if points are chosen one after the other."""
        return not self.points

    @property
    def schedule(self) -> list[Point]:
        """The points in the order in which they are begun: those first on which most others wait, one after the other.

        So many workers have something to do to the end, and whoever looks on sees the whole line before its details.
        """
        heights = [0] * len(self.points)
        for point in reversed(self.points):  # what a point may begin with stands before it
            for other in point.before:
                heights[other] = max(heights[other], heights[point.index] + 1)
        return sorted(self.points, key=lambda point: (-heights[point.index], point.index))

    def described(self) -> dict[str, Any]:
        """Data of `sweep.json`, but for its digest."""
        return {
            "format": FORMAT,
            "dalenius": PRODUCER.removeprefix("dalenius "),
            "models": {
                name: {"problem": problem.kind, "digest": digest(problem), "title": problem.title}
                for name, problem in self.models.items()
            },
            "grid": {axis.path: list(axis.texts) for axis in self.axes},
            "settings": plain(asdict(self.settings)),
            "points": None if self.chosen else len(self.points),
        }


def chained(points: Sequence[Point]) -> list[Point]:
    """The points of one model that differ in nothing but the entropy bound, or the budget, in chains; the others as they are."""
    chains = dict[tuple[object, ...], list[Point]]()
    for point in points:
        path = next((path for path in point.problem.along if path in point.at), None)
        rest = tuple((key, text) for key, text in point.at.items() if key != path)
        chains.setdefault((point.model, rest, *(() if path else (point.index,))), []).append(point)
    done = list(points)
    for chain in chains.values():
        shares = [share for point in chain if (share := point.problem.share) is not None]
        for place, point in enumerate(chain):
            share = point.problem.share
            curve = len(chain) > 1 and share is not None
            done[point.index] = replace(
                point,
                before=tuple(chain[j].index for j in ancestors(place) if point.problem.informed_by(chain[j].problem)),
                between=tuple(x for x in between(share, shares) if x < 1) if curve and share is not None else None,
            )
    return done


def _with_keys(points: Sequence[Point], settings: Settings) -> Iterator[Point]:
    keys = list[str]()
    for point in points:  # what it may begin with stands before it
        keys.append(key_of(point, settings, [keys[other] for other in point.before]))
        yield replace(point, key=keys[-1])
