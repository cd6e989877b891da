"""The one place that knows how typed evidence is written into a certificate, and read from one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import get_args

from dalenius.errors import InputError
from dalenius.evidence.lines import UNIFORM, Line
from dalenius.exact import brief

__all__ = ["decode", "encode"]

Read = object  # what a line of JSON may hold: texts, whole numbers, null, and lists of them


def encode(line: Line) -> str:
    """A line of a certificate.

    >>> from dalenius.evidence.lines import Split, VerticesLeaf
    >>> encode(Split(1, 0, "0.25")), encode(VerticesLeaf())
    ('["split",1,0,"0.25"]', '["vertices"]')
    """
    return json.dumps([line.word, *(getattr(line, field.name) for field in fields(line))], separators=(",", ":"))


def decode(text: str) -> Line:
    """The line that a text states; `InputError` if it is none of the format's lines.

    >>> decode('["split",1,0,"0.25"]')
    Split(letter=1, output=0, threshold='0.25')
    """
    try:
        word, *entries = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        word, entries = None, []
    kind = _KINDS.get((word, len(entries))) if isinstance(word, str) else None
    values = [_frozen(entry) for entry in entries]
    if kind is None or not all(
        _SHAPES[str(field.type)](value) for field, value in zip(fields(kind), values, strict=True)
    ):
        raise InputError(f"not a line of a certificate: {brief(text)} (docs/certificate-format.md)")
    make: Callable[..., Line] = kind
    return make(*values)


def _frozen(value: Read) -> Read:
    return tuple(_frozen(entry) for entry in value) if isinstance(value, list) else value


def _index(value: Read) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: Read) -> bool:
    return isinstance(value, str)


def _many(member: Callable[[Read], bool]) -> Callable[[Read], bool]:
    return lambda value: isinstance(value, tuple) and all(map(member, value))


def _or_none(member: Callable[[Read], bool]) -> Callable[[Read], bool]:
    return lambda value: value is None or member(value)


def _input_law(value: Read) -> bool:
    of_selection = isinstance(value, tuple) and 2 <= len(value) <= 3 and _index(value[0]) and _many(_number)(value[1])
    of_selection = of_selection and (not isinstance(value, tuple) or len(value) == 2 or _how(value[2]))
    of_block = isinstance(value, tuple) and len(value) == 2 and _number(value[0]) and _of_piece(value[1])
    of_places = _many(_priced)(value)
    of_records = isinstance(value, tuple) and value[:1] == ("product",) and len(value) == 2 and _many(_vector)(value[1])
    return (
        of_selection
        or of_block
        or of_records
        or of_places
        or _index(value)
        or _priced(value)
        or _vector(value)
        or _of_piece(value)
    )


def _vector(value: Read) -> bool:
    return _many(_number)(value) or _many(_index)(value)


def _of_piece(value: Read) -> bool:
    return value == UNIFORM or _many(_many(_number))(value)


def _how(value: Read) -> bool:
    return value is None or _many(lambda member: _index(member) or (member is not None and _how(member)))(value)


def _priced(value: Read) -> bool:
    return _many(lambda pair: isinstance(pair, tuple) and len(pair) == 2 and _index(pair[0]) and _number(pair[1]))(
        value
    )


def _stretches(value: Read) -> bool:
    return _many(
        lambda pair: isinstance(pair, tuple) and len(pair) == 2 and _number(pair[0]) and _many(_number)(pair[1])
    )(value)


def _chosen(value: Read) -> bool:
    """A value of a secret, an input, and a weight."""
    return isinstance(value, tuple) and len(value) == 3 and all(map(_index, value[:2])) and _number(value[2])


def _weighed(value: Read) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and _many(_index)(value[0]) and _number(value[1])


_SHAPES: dict[str, Callable[[Read], bool]] = {  # by the types of the fields, as lines.py spells them
    "Index": _index,
    "Index | None": _or_none(_index),
    "Indices": _many(_index),
    "Number": _number,
    "Number | None": _or_none(_number),
    "Vector": _many(_number),
    "Vector | None": _or_none(_many(_number)),
    "Matrix": _many(_many(_number)),
    "Slopes": _many(_or_none(_many(_number))),
    "Slopes | None": _or_none(_many(_or_none(_many(_number)))),
    "Patterns": _many(_weighed),
    "Stretches": _stretches,
    "Partition": _many(_many(_index)),
    "InputLaw": _input_law,
    "InputLaw | None": _or_none(_input_law),
    "Priced": _priced,
    "How": _how,
    "Selection": _many(_chosen),
    "Side": lambda value: value in ("above", "below"),
    "Moves": _many(_many(_many(_index))),
    "About": lambda value: _or_none(_index)(value) or _many(_number)(value) or _many(_or_none(_index))(value),
    "Hint": lambda value: _many(_number)(value) or _many(_many(_number))(value),
    "WeightsOf": lambda value: _index(value) or _many(_number)(value),
}
_KINDS: dict[tuple[str, int], type[Line]] = {(kind.word, len(fields(kind))): kind for kind in get_args(Line)}
