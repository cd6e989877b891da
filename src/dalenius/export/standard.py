"""Our own format, ``dalenius-conic/1``: the conic standard form with its names, in JSON whose numbers are exact; strict reading."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from cvxcertify.instance import CONES
from dalenius.errors import InputError, brief, naming
from dalenius.files import MAX_PROOF, read_text
from dalenius.programs import StandardForm
from dalenius.programs.standard_form import Columns, Rows
from dalenius.strict_json import object_text, parse_object

# Strict reading: bounded files, no unknown keys, no numbers that are none; every error names its place.


MAX_NUMBERS = 2**24


def need_cones(form: StandardForm, what: str, kinds: Collection[str]) -> None:
    """Raise `InputError` for kinds of cones that a format has no exact form of, by name, with the formats that have."""
    own = [cone for cone, size in form.sizes.items() if size]
    if other := [cone for cone in own if cone not in kinds]:
        fitting = "" if "semidefinite" in own else "cbf, clarabel, mosek, "
        fitting += "" if "exponential" in own else "sdpa, "
        raise InputError(
            f"{what}: {form.program} has {' and '.join(other)} cones, which this format does not write exactly; "
            f"these do: {fitting}json"
        )


def read_file(path: str | Path, what: str) -> str:
    """The text of a file of at most 256 MiB; `InputError` if it cannot be read, or is not UTF-8."""
    return read_text(path, what, at_most=MAX_PROOF)


def read_object(text: str) -> dict[str, Any]:
    """A JSON object whose numbers are doubles.

    Raises
    ------
    InputError
        As `parse_object`, and if a number is NaN or beyond doubles.

    >>> read_object('{"a": 1e999}')
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: expected numbers within the range of doubles, got '1e999'
    """
    return parse_object(text, number=_double)


def _double(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise InputError(f"expected numbers within the range of doubles, got {brief(text)}")
    return value


def object_of(
    text: str, what: str, form: str, needed: Sequence[str], optional: Sequence[str] = ()
) -> Mapping[str, Any]:
    """The object in a text, which must be of this format and have just these keys."""
    found = read_object(text)
    if found.get("format") != form:
        got = brief(found["format"]) if "format" in found else "none"
        raise InputError(f"format: expected {form!r}, got {got}")
    return keys_of(found, what, needed, optional)


def keys_of(value: Any, what: str, needed: Sequence[str], optional: Sequence[str] = ()) -> Mapping[str, Any]:
    """The object, which must have just these keys; `InputError` names the first that is missing or unknown."""
    if not isinstance(value, dict):
        raise InputError(f"{what}: expected an object, got {brief(value)}")
    for key in needed:
        if key not in value:
            raise InputError(f"{what}: missing {brief(key)}")
    for key in value:
        if key not in needed and key not in optional:
            raise InputError(f"{what}: unknown key {brief(key)}; expected {', '.join((*needed, *optional))}")
    return value


def text_of(value: Any, what: str) -> str:
    """A text of at most 1,000 characters."""
    if not isinstance(value, str) or len(value) > 1000:
        raise InputError(f"{what}: expected a text, got {brief(value)}")
    return value


def whole_of(value: Any, what: str, most: int = MAX_NUMBERS) -> int:
    """An integer from 0 to `most`.

    >>> whole_of(True, "shape")
    Traceback (most recent call last):
        ...
    dalenius.errors.InputError: shape: expected an integer from 0 to 16777216, got True
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise InputError(f"{what}: expected an integer from 0 to {most}, got {brief(value)}")
    return value


def numbers_of(value: Any, what: str, length: int | None = None) -> NDArray[np.float64]:
    """A list of numbers as doubles, of a known length.

    >>> numbers_of([0.5, 1], "b", 2).tolist()
    [0.5, 1.0]
    """
    if not isinstance(value, list):
        raise InputError(f"{what}: expected a list of numbers, got {brief(value)}")
    if length is not None and len(value) != length:
        raise InputError(f"{what}: expected {length} numbers, got {len(value)}")
    for j, entry in enumerate(value):
        if isinstance(entry, bool) or not isinstance(entry, int | float):
            raise InputError(f"{what}[{j}]: expected a number, got {brief(entry)}")
    try:
        return np.array(value, dtype=np.float64)
    except OverflowError:
        raise InputError(f"{what}: expected numbers within the range of doubles") from None


FORMAT = "dalenius-conic/1"
SENSES = ("minimize", "maximize")
KEYS = ("format", "program", "sense", "offset", "columns", "rows", "c", "b", "A")
MAX_BLOCKS = 2**20


def json_text(form: StandardForm) -> str:
    """The file: a key a line, the numbers as the shortest texts that doubles are read back from.

    >>> from dalenius.programs import MarginalUpdate
    >>> form = MarginalUpdate(np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2), 0.5).standard_form()
    >>> json_text(form).splitlines()[:3]
    ['{"format": "dalenius-conic/1",', '"program": "marginal",', '"sense": "maximize",']
    >>> json_text(parse_json(json_text(form))) == json_text(form)
    True
    """
    parts = _parts(form)
    return object_text(parts | {"digest": _hash(parts)}) + "\n"


def digest(form: StandardForm) -> str:
    """Digest of the instance, names and every bit of its numbers included."""
    return _hash(_parts(form))


def read_json(path: str | Path) -> StandardForm:
    """Read a file in our own format.

    Raises
    ------
    InputError
        If it cannot be read, or anything in it is not as docs/export.md says; the message names the place.
    """
    text = read_file(path, "an instance")
    with naming(path):
        return parse_json(text)


def parse_json(text: str) -> StandardForm:
    """The instance in a text; `InputError` if there is none."""
    found = object_of(text, "instance", FORMAT, KEYS, ("digest",))
    if found["sense"] not in SENSES:
        raise InputError(f"sense: expected {' or '.join(SENSES)}, got {brief(found['sense'])}")
    columns, rows = _columns(found["columns"]), _rows(found["rows"])
    width, height = sum(part.size for part in columns), sum(part.size for part in rows)
    if max(width, height) > MAX_NUMBERS:
        raise InputError(f"instance: expected at most {MAX_NUMBERS} columns and rows")
    form = StandardForm(
        program=text_of(found["program"], "program"),
        maximises=found["sense"] == "maximize",
        c=numbers_of(found["c"], "c", width),
        offset=float(numbers_of([found["offset"]], "offset")[0]),
        A=_matrix(found["A"], height, width),
        b=numbers_of(found["b"], "b", height),
        columns=columns,
        rows=rows,
    )
    if found.get("digest", wanted := digest(form)) != wanted:
        raise InputError(f"digest: expected {wanted} for this instance; the file was changed")
    return form


def _parts(form: StandardForm) -> dict[str, Any]:
    A = coo_array(form.A)
    return {
        "format": FORMAT,
        "program": form.program,
        "sense": SENSES[form.maximises],
        "offset": form.offset,
        "columns": [{"name": x.name, "shape": list(x.shape), "auxiliary": x.auxiliary} for x in form.columns],
        "rows": [{"name": x.name, "cone": x.cone, "shape": list(x.shape), "auxiliary": x.auxiliary} for x in form.rows],
        "c": form.c.tolist(),
        "b": form.b.tolist(),
        "A": {"rows": A.row.tolist(), "columns": A.col.tolist(), "values": A.data.tolist()},
    }


def _hash(parts: dict[str, Any]) -> str:
    """Of the text between the braces."""
    return "sha256:" + hashlib.sha256(object_text(parts)[1:-1].encode("ascii")).hexdigest()


def _listed(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_BLOCKS:
        raise InputError(f"{what}: expected a list of 1 to {MAX_BLOCKS} blocks, got {brief(value)}")
    return value


def _shape(value: Any, what: str) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > 4:
        raise InputError(f"{what}: expected a list of at most 4 integers, got {brief(value)}")
    return tuple(whole_of(entry, what) for entry in value)


def _columns(value: Any) -> tuple[Columns, ...]:
    return tuple(Columns(*_block(entry, f"columns[{j}]")) for j, entry in enumerate(_listed(value, "columns")))


def _rows(value: Any) -> tuple[Rows, ...]:
    blocks = []
    for j, entry in enumerate(_listed(value, "rows")):
        name, shape, auxiliary = _block(entry, f"rows[{j}]", "cone")
        if entry["cone"] not in CONES:
            raise InputError(f"rows[{j}].cone: expected one of {', '.join(CONES)}; got {brief(entry['cone'])}")
        blocks.append(Rows(name, entry["cone"], shape, auxiliary))
    return tuple(blocks)


def _block(entry: Any, what: str, *more: str) -> tuple[str, tuple[int, ...], bool]:
    """Name, shape, and whether it is auxiliary."""
    keys_of(entry, what, ("name", *more, "shape", "auxiliary"))
    name, shape = text_of(entry["name"], f"{what}.name"), _shape(entry["shape"], f"{what}.shape")
    flag = entry["auxiliary"]
    if not isinstance(flag, bool):
        raise InputError(f"{what}.auxiliary: expected true or false, got {brief(flag)}")
    return name, shape, flag


def _matrix(value: Any, height: int, width: int) -> csr_array:
    """The entries row by row, columns increasing: so none can stand twice."""
    keys_of(value, "A", ("rows", "columns", "values"))
    values = numbers_of(value["values"], "A.values")
    places = []
    for key, size in (("rows", height), ("columns", width)):
        numbers = value[key]
        if not isinstance(numbers, list) or len(numbers) != values.size:
            raise InputError(f"A.{key}: expected a list of {values.size} integers, got {brief(numbers)}")
        places.append(np.array([whole_of(x, f"A.{key}[{j}]", size - 1) for j, x in enumerate(numbers)], dtype=np.int64))
    order = places[0] * width + places[1]
    if values.size and (wrong := np.flatnonzero(np.diff(order) <= 0)).size:
        raise InputError(f"A: entry {wrong[0] + 1} stands twice or out of order (row by row, columns increasing)")
    if np.any(values == 0.0):
        raise InputError(f"A.values[{np.flatnonzero(values == 0.0)[0]}]: an entry of the matrix is 0; leave it out")
    return csr_array(coo_array((values, (places[0], places[1])), shape=(height, width)))
