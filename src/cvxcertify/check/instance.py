"""Problems that intervals are about: minimise c x + offset over all x with A x + b in a product of cones, in exact rationals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isqrt, lcm
from typing import Any, TypeAlias

from dalenius_check.core.allowance import PAIR, Allowance
from dalenius_check.core.arithmetic import fmpq
from dalenius_check.core.numbers import RefusedError, need
from dalenius_check.core.read import REQUIRED, integer, table, text

_INTEGER = r"-?(?:0|[1-9][0-9]{0,3999}|0x[0-9a-f]{1,1048576})"
_NUMBER = re.compile(rf"({_INTEGER})(?:/({_INTEGER}))?")
KINDS = ("zero", "nonnegative", "second-order", "exponential", "semidefinite")
MOST = 1 << 24
Form: TypeAlias = "dict[int, fmpq]"
End: TypeAlias = "fmpq | None"  # None: infinite


def number(value: Any, what: str) -> fmpq:
    """An exact number: p or p/q in decimals, or in hexadecimal digits after 0x."""
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise RefusedError(f"{what} must be an integer or p/q, written as a string")
    below = int(match[2] or "1", 0)
    need(below > 0, f"{what}: a denominator must be positive")
    return fmpq(int(match[1], 0), below)


def sparse(value: Any, what: str, size: int) -> Form:
    """The entries that are not 0."""
    found = table(value, what, {"places": (listed, REQUIRED), "values": (listed, REQUIRED)})
    places, values = found["places"], found["values"]
    need(len(places) == len(values), f"{what}: places and values must have one length")
    entries = {integer(j, what, 0, size - 1): number(x, what) for j, x in zip(places, values, strict=True)}
    need(len(entries) == len(places), f"{what}: a place stands twice")
    return nonzero(entries)


def nonzero(entries: Form) -> Form:
    """The same without entries that are 0, which may be written, and say nothing."""
    return {j: x for j, x in entries.items() if x}


def listed(value: Any, what: str) -> list[Any]:
    """A list."""
    need(isinstance(value, list) and len(value) <= MOST, f"{what} must be a list")
    return list(value)


@dataclass(frozen=True)
class Instance:
    """Problem that the interval is about. `cones` has a kind and the rows of each."""

    c: Form
    offset: fmpq
    rows: list[Form]
    b: Form
    cones: list[tuple[str, range]]
    width: int
    allowance: Allowance

    def member(self, x: Form, row: int, homogeneous: bool = False) -> fmpq:
        """Of A x + b; of A x if homogeneous. Denominators may be long, and mostly divide the largest one."""
        terms = {j: (a, x[j]) for j, a in self.rows[row].items() if j in x}
        scale, parts = lcm(*(int(a.denominator) for a, _ in terms.values())), dict[int, int]()
        for a, value in terms.values():
            below = int(value.denominator)
            whole = int(a.numerator) * (scale // int(a.denominator)) * int(value.numerator)
            parts[below] = parts.get(below, 0) + whole
        start = fmpq(0) if homogeneous else self.b.get(row, fmpq(0))
        common = 1
        for below in sorted(parts, reverse=True):
            common = lcm(common, below) if common % below else common
        return start + fmpq(sum(part * (common // below) for below, part in parts.items()), common * scale)


def read_instance(found: dict[str, Any], allowance: Allowance) -> Instance:
    """Read the problem from a file."""
    cones = []
    height = 0
    for entry in found["cones"]:
        need(isinstance(entry, list) and len(entry) == 2, "cones must be pairs of a kind and a size")
        kind = text(entry[0], "cone", KINDS)
        size = integer(entry[1], "cone", 1, MOST)
        need(kind != "exponential" or size == 3, "an exponential cone has 3 rows")
        need(kind != "semidefinite" or order(size) is not None, "a semidefinite cone has n(n+1)/2 rows")
        cones.append((kind, range(height, height + size)))
        height += size
    need(height <= MOST, "there are too many rows")
    allowance.take(height * PAIR)
    width = len(found["columns"])
    rows: list[Form] = [{} for _ in range(height)]
    parts = [found[key] for key in ("rows", "places", "values")]
    need(len({len(part) for part in parts}) == 1, "rows, places and values must have one length")
    for i, j, x in zip(*parts, strict=True):
        row = rows[integer(i, "rows", 0, height - 1)]
        column = integer(j, "places", 0, width - 1)
        need(column not in row, "an entry of A stands twice")
        row[column] = number(x, "values")
    c, b = sparse(found["c"], "c", width), sparse(found["b"], "b", height)
    return Instance(c, number(found["offset"], "offset"), list(map(nonzero, rows)), b, cones, width, allowance)


def order(size: int) -> int | None:
    """Number of rows of a matrix of whose entries so many stand on and above the diagonal; None if there is none such."""
    n = (isqrt(8 * size + 1) - 1) // 2
    return n if n * (n + 1) // 2 == size else None


def triangle(size: int) -> list[tuple[int, int]]:
    """The places of so many entries on and above the diagonal, row by row."""
    n = order(size) or 0
    return [(i, j) for i in range(n) for j in range(i, n)]
