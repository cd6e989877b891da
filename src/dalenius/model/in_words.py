"""Parts of a model in one line, as the command line and Python take them: "count", "threshold 3", "geometric 0.5", "2 bits"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING
from fractions import Fraction
from typing import Any

import numpy as np

from dalenius.errors import InputError, brief, hint
from dalenius.exact import Numeral, fraction_text, need_unit
from dalenius.model.adversaries import ADVERSARIES, Adversary, EntropyAtLeast
from dalenius.model.adversaries.base import ANY, SCALES
from dalenius.model.fields import Read
from dalenius.model.mechanisms import Channel, Mechanism
from dalenius.model.shelf import Shelved, read_shelved

LONGEST, FEW = 40, 8  # characters and numbers of a part in a line
VALUES = (
    "1",
    "2",
    "[0.5, 0.5]",
    "[0, 1]",
    "[[0.5, 0.5], [0.5, 0.5]]",
)  # that keys of an example may have, all the same


def stated(base: type[Any]) -> Read:
    """Read a part of a problem: itself, or a line that describes it."""

    def read(value: Any, what: str) -> Any:
        found = as_part(base, value, what)
        if not isinstance(found, base):
            instead = f"; write {found.__name__}(...)" if isinstance(found, type) and issubclass(found, base) else ""
            raise InputError(
                f"{what}: expected {base.__name__}, or a line that describes one, got {brief(found)}{instead}"
            )
        ours = type(found).__module__.startswith("dalenius.")
        if not ours and found.kind in found.shelf:  # the checker would prove it of the library's
            raise InputError(
                f'{what}: the kind "{found.kind}" is one of the library\'s own; take another name for that of {type(found).__name__}'
            )
        return found

    read.__annotations__["value"] = base.__name__
    return read


def as_part(base: type[Any], given: Any, where: str) -> Any:
    """The part of a model that a line describes, or that is given; numbers of a line are exact, as in a model file.

    A matrix, as an array or as lists, is a mechanism: its `Channel`.

    >>> from dalenius.model.mechanisms import Channel, Mechanism
    >>> from dalenius.model.queries import Query
    >>> as_part(Query, "threshold 3", "query"), as_part(Mechanism, "geometric epsilon = 1", "mechanism")
    (Threshold(at=3), Geometric(epsilon=Fraction(1, 1), range=None))
    >>> as_part(Adversary, "2 bits", "adversary")
    EntropyAtLeast(amount=Fraction(2, 1), units='bits')
    """
    if base is Mechanism and isinstance(given, list | np.ndarray):
        return Channel(given)
    if not isinstance(given, str):
        return given
    try:
        if base is Adversary and not says_a_kind(given):
            return EntropyAtLeast(entropy_in(given, where))
        return _read(base.shelf, *kind_and_keys(base.shelf, given))
    except InputError as error:
        raise InputError(f"{where}: {str(error).removeprefix(f'{where}: ').removeprefix(f'{base.room}: ')}") from None


def words_of(part: Shelved) -> str:
    """The line that describes a part, and that may be given for it; of a long one no more than the kind.

    >>> import dalenius as dl
    >>> parts = dl.Count(), dl.geometric(0.5, range=4), dl.discrete_laplace("1/3"), dl.EntropyAtLeast("2 bits"), dl.Table([0] * 99)
    >>> for part in parts:
    ...     print(words_of(part))
    count
    geometric epsilon = 0.5, range = [0, 4]
    discrete_laplace 1/3
    2 bits
    table ...
    """
    if (line := part.line()) is not None:
        return line
    told = dict[str, str | None]()
    for key, one in part.file_fields().items():
        if (value := getattr(part, one.name)) is not None and (one.default is MISSING or value != one.default):
            told[key] = _short(value)
    texts = [text for text in told.values() if text is not None]
    if len(texts) < len(told) or sum(map(len, texts)) > LONGEST:
        return f"{part.kind} ..."
    if len(told) == 1 and [*told] == _alone(type(part)) and _is_clear(type(part), *told):
        return f"{part.kind} {texts[0].strip(chr(34))}"
    return f"{part.kind} {', '.join(f'{key} = {text}' for key, text in told.items())}".strip()


def _short(value: object) -> str | None:
    """A number, a text or a few of them, as they stand in a file; None of anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | Fraction):
        return toml_value(fraction_text(value) if isinstance(value, Fraction) else str(value))
    if not isinstance(value, tuple) or len(value) > FEW:
        return None
    texts = [_short(each) for each in value]
    return None if None in texts else f"[{', '.join(map(str, texts))}]"


def kind_and_keys(shelf: Mapping[str, type[Shelved]], text: str) -> tuple[str, str]:
    """A kind, and its keys with their values as in a TOML table on one line.

    After the kind, and a blank or a colon, stands the value of the one key that it needs, or keys with values. Of a kind that needs
    none it is the value of its first key: discrete_laplace:0.5, independent_blocks:4. A mechanism's number alone is its epsilon.
    """
    kind, rest = split_kind(text)
    if kind not in shelf:
        raise InputError(f"expected one of {', '.join(shelf)}; got {brief(kind)}{hint(kind, shelf)}")
    needed, first = _needed(shelf[kind]), _alone(shelf[kind])
    if rest and "=" not in rest:
        if len(first) != 1:
            needs = " and ".join(needed) or "nothing"
            raise InputError(
                f"{kind} needs {needs}; expected key = value, ... after it, got {brief(rest)}{_example(shelf, kind)}"
            )
        value = toml_value(rest.strip())
        if value[0] != "[" and not _is_clear(shelf[kind], first[0]):
            raise InputError(
                f"{kind} {value}: a number alone is an epsilon, and {kind} has none; write '{kind} {first[0]} = {value}' if that is "
                f"meant{getattr(shelf[kind], 'for_epsilon', '')}"
            )
        rest = f"{first[0]} = {value}"
    try:
        keys = tomllib.loads(f"x = {{{rest}}}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"expected {kind} key = value, ... as in TOML, got {brief(text)} ({error})") from None
    if missing := [key for key in needed if key not in keys]:
        raise InputError(f"{kind} needs {' and '.join(missing)}{_example(shelf, kind)}")
    return kind, rest


def _example(shelf: Mapping[str, type[Shelved]], kind: str) -> str:
    """A line that describes one of the kind and is read, to be written for example; empty where none is found.

    >>> from dalenius.model.queries import QUERIES
    >>> _example(QUERIES, "modular_sum")
    "; write for example 'modular_sum modulus = 2'"
    """
    lines = (f"{kind} {', '.join(f'{key} = {value}' for key in _needed(shelf[kind]))}" for value in VALUES)
    for line in [shelf[kind].example] if shelf[kind].example else lines:
        with suppress(InputError):
            _read(shelf, *kind_and_keys(shelf, line))
            return f"; write for example '{line}'"
    return ""


def _read(shelf: Mapping[str, type[Shelved]], kind: str, rest: str) -> Any:
    """The part that a kind and its keys on one line describe."""
    return read_shelved(shelf, {"kind": kind, **tomllib.loads(f"x = {{{rest}}}", parse_float=Numeral)["x"]}, kind)


def _needed(kind: type[Shelved]) -> list[str]:
    return [key for key, field in kind.file_fields().items() if field.is_needed]


def _alone(kind: type[Shelved]) -> list[str]:
    """The keys that are needed, or else the first; one alone may be given by its value."""
    return _needed(kind) or [*kind.file_fields()][:1]


def _is_clear(kind: type[Shelved], key: str) -> bool:
    """True if nobody takes the key's value by itself for another one: a mechanism's number is read as an epsilon."""
    return not issubclass(kind, Mechanism) or key == "epsilon"


def says_a_kind(text: str) -> bool:
    """True if an adversary is described by its kind, or another word, and not by an amount of entropy."""
    kind, _ = split_kind(text)
    return kind in ADVERSARIES or (kind[:1].isalpha() and text != ANY)


def entropy_in(text: str, what: str) -> str:
    """The amount of entropy that a line says: none where it names every prior at all."""
    return "0" if text == ANY else need_unit(text, what, SCALES)


def split_kind(text: str) -> tuple[str, str]:
    """A kind, and what stands after it.

    >>> split_kind("geometric 0.5"), split_kind("geometric:0.5"), split_kind("count")
    (('geometric', '0.5'), ('geometric', '0.5'), ('count', ''))
    """
    kind, *rest = re.split("[ :]", text, maxsplit=1)
    return kind, "".join(rest)


def toml_value(text: str) -> str:
    """A value as it stands in a file: bare where TOML reads a number or a list, else a text."""
    try:
        value = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        value = None
    bare = isinstance(value, int | float | list) and not isinstance(value, bool) and "\n" not in text
    return text if bare else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
