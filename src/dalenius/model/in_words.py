"""Parts of a model in one line, as the command line and Python take them: "count", "threshold 3", "geometric 0.5", "2 bits"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from dalenius.errors import InputError, brief, hint
from dalenius.exact import Numeral
from dalenius.model.adversaries import ADVERSARIES, Adversary, EntropyAtLeast
from dalenius.model.distortions import DISTORTIONS, Distortion
from dalenius.model.laws import LAWS, Law
from dalenius.model.mechanisms import MECHANISMS, Mechanism
from dalenius.model.privacy import NOTIONS, Privacy
from dalenius.model.queries import QUERIES, Query
from dalenius.model.shelf import Shelved, read_shelved

SHELVES: dict[type, Mapping[str, type[Shelved]]] = {
    Query: QUERIES,
    Mechanism: MECHANISMS,
    Adversary: ADVERSARIES,
    Distortion: DISTORTIONS,
    Law: LAWS,
    Privacy: NOTIONS,
}


def part_in_words(base: type, text: str, where: str) -> object:
    """The part of a model that a line describes; its numbers are exact, as in a model file.

    >>> part_in_words(Query, "threshold 3", "query"), part_in_words(Mechanism, "geometric epsilon = 1", "mechanism")
    (Threshold(at=3), Geometric(epsilon=Fraction(1, 1), range=None))
    >>> part_in_words(Adversary, "2 bits", "adversary")
    EntropyAtLeast(amount=Fraction(2, 1), units='bits')
    """
    try:
        if base is Adversary and not says_a_kind(text):
            return EntropyAtLeast(text)
        kind, rest = kind_and_keys(SHELVES[base], text)
        keys = tomllib.loads(f"x = {{{rest}}}", parse_float=Numeral)["x"]
        return read_shelved(SHELVES[base], {"kind": kind, **keys}, kind)
    except InputError as error:
        raise InputError(f"{where}: {str(error).removeprefix(f'{where}: ')}") from None


def kind_and_keys(shelf: Mapping[str, type[Shelved]], text: str) -> tuple[str, str]:
    """A kind, and its keys with their values as in a TOML table on one line.

    After the kind, and a blank or a colon, stands the value of the one key that it needs, or keys with values. Of a kind that needs
    none it is the value of its first key: discrete_laplace:0.5, independent_blocks:4.
    """
    kind, rest = split_kind(text)
    if kind not in shelf:
        raise InputError(f"expected one of {', '.join(shelf)}; got {brief(kind)}{hint(kind, shelf)}")
    needed = [key for key, field in shelf[kind].file_fields().items() if shelf[kind].is_needed(field)]
    if rest and "=" not in rest:
        first = needed or list(shelf[kind].file_fields())[:1]
        if len(first) != 1:
            needs = " and ".join(needed) or "nothing"
            raise InputError(f"{kind} needs {needs}; expected key = value, ... after it, got {brief(rest)}")
        rest = f"{first[0]} = {toml_value(rest.strip())}"
    try:
        keys = tomllib.loads(f"x = {{{rest}}}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"expected {kind} key = value, ... as in TOML, got {brief(text)} ({error})") from None
    if missing := [key for key in needed if key not in keys]:
        raise InputError(f"{kind} needs {' and '.join(missing)}; write for example '{kind} {missing[0]} = 1'")
    return kind, rest


def says_a_kind(text: str) -> bool:
    """Whether an adversary is described by its kind, perhaps misspelled, and not by an amount of entropy."""
    kind, _ = split_kind(text)
    return kind in ADVERSARIES or bool(hint(kind, ADVERSARIES))


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
