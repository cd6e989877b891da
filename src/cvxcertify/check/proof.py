"""The two ends of an interval for a conic instance: by weak duality, and by a feasible point."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import isqrt, lcm
from typing import Any, TypeAlias

from dalenius_check.core.allowance import PAIR, Allowance
from dalenius_check.core.arithmetic import arb, chosen, fmpq
from dalenius_check.core.numbers import OpenError, RefusedError, need, rounded
from dalenius_check.core.read import REQUIRED, integer, table, text

# Problems that intervals are about: minimise c x + offset over all x with A x + b in a product of cones, in exact rationals.


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


# Ranges of columns, from what rows say about them one after the other.


_CUTOFF = -1  # the step of the row c x + offset <= cutoff
_BITS = 32  # that ends of ranges are rounded outward to


class Ranges:
    """Ranges of the columns that follow from the rows, one after the other: for all feasible x, or all with c x + offset <= cutoff."""

    def __init__(self, instance: Instance, cutoff: End) -> None:
        self.instance = instance
        self.cutoff = cutoff
        self.empty = False
        self.ends: list[list[End]] = [[None, None] for _ in range(instance.width)]
        self.homes = {row: (kind, rows) for kind, rows in instance.cones for row in rows}

    def step(self, row: int) -> None:
        if row == _CUTOFF:
            if self.cutoff is None:
                raise RefusedError("a step needs a cutoff")
            self._narrow({j: -x for j, x in self.instance.c.items()}, self.cutoff - self.instance.offset, fmpq(0), None)
            return
        need(row in self.homes, "a step is no row")
        low, high = self._member(row, *self.homes[row])
        self._narrow(self.instance.rows[row], self.instance.b.get(row, fmpq(0)), low, high)

    def _member(self, row: int, kind: str, rows: range) -> tuple[End, End]:
        """Range that a cone leaves to this member, given the ranges of the others."""
        k = row - rows.start
        if kind == "zero":
            return fmpq(0), fmpq(0)
        if kind == "second-order" and k:  # |u| <= t
            most = self._most(rows[0])
            return (None if most is None else -most), most
        if kind == "exponential" and k == 0:  # x <= y log(z/y) <= z/e
            most = self._most(rows[2])
            return None, None if most is None else most * fmpq(3, 8)
        if kind == "exponential" and k == 1:  # y <= -x, or else x/y >= -1 and so y <= e z
            most = self._most(rows[2])
            least = self._sides(rows[0])[0]
            return fmpq(0), None if most is None or least is None else max(-least, 3 * most)
        if kind == "semidefinite":
            return self._entry(rows, k)
        return fmpq(0), None

    def _entry(self, rows: range, k: int) -> tuple[End, End]:
        """A diagonal is not negative; an entry beside it is at most the mean of its two diagonal ones."""
        places = triangle(len(rows))
        i, j = places[k]
        if i == j:
            return fmpq(0), None
        first, second = (self._most(rows[places.index((m, m))]) for m in (i, j))
        if first is None or second is None:
            return None, None
        return -(first + second) / 2, (first + second) / 2

    def _sides(self, row: int) -> tuple[End, End]:
        (least, below), (most, above) = self._totals(self.instance.rows[row], self.instance.b.get(row, fmpq(0)))
        return (None if below else least), (None if above else most)

    def _most(self, row: int) -> End:
        most = self._sides(row)[1]
        return None if most is None else max(most, fmpq(0))

    def _totals(self, form: Form, constant: fmpq) -> tuple[tuple[fmpq, int], tuple[fmpq, int]]:
        """The finite part of the least and of the most of a form, and how many infinite ends there are beside it."""
        totals, infinite = [constant, constant], [0, 0]
        for j, a in form.items():
            for side in (0, 1):
                end = self.ends[j][side if a > 0 else 1 - side]
                if end is None:
                    infinite[side] += 1
                else:
                    totals[side] += a * end
        return (totals[0], infinite[0]), (totals[1], infinite[1])

    def _narrow(self, form: Form, constant: fmpq, low: End, high: End) -> None:
        """low <= form <= high: each column is within what the others leave."""
        (least, below), (most, above) = self._totals(form, constant)
        if (high is not None and not below and least > high) or (low is not None and not above and most < low):
            self.empty = True
        for j, a in form.items():
            at_least, at_most = self.ends[j] if a > 0 else self.ends[j][::-1]  # a x_j from at_least a to at_most a
            up = down = None
            if high is not None and below == (at_least is None):
                up = (high - least) / a + (at_least or 0)
            if low is not None and above == (at_most is None):
                down = (low - most) / a + (at_most or 0)
            self._take(j, *((down, up) if a > 0 else (up, down)))

    def _take(self, j: int, low: End, high: End) -> None:
        for side, new in ((0, low), (1, high)):
            old = self.ends[j][side]
            if new is not None and (old is None or (new > old if side == 0 else new < old)):
                self.ends[j][side] = _outward(new, side)
        first, last = self.ends[j]
        self.empty = self.empty or (first is not None and last is not None and first > last)


def _outward(value: fmpq, side: int) -> fmpq:
    """A number of few bits that is not above the value, or not below it for side 1."""
    p, q = int(value.numerator), int(value.denominator)
    shift = _BITS - p.bit_length() + q.bit_length()
    scaled = (p << max(shift, 0), q << max(-shift, 0))
    whole = -(-scaled[0] // scaled[1]) if side else scaled[0] // scaled[1]
    return fmpq(whole << max(-shift, 0), 1 << max(shift, 0))


# The parts of a model that evidence of infeasibility uses, by name, and how far each would have to give.


_LONGEST = 80  # characters of a name that are shown


def contradiction(instance: Instance, parts: Any, evidence: dict[str, Any]) -> str:
    """The parts whose rows are used, each with the least by which it would have to give if it alone did, where that is known.

    Bound because z (A x + b) = z b < 0 for every x, where no range is used: a part that is moved by e into its cones adds e times its
    multipliers along that direction, and there is a point only if the sum is no longer negative.
    """
    what = "constraints"
    need(isinstance(parts, dict), f"{what} must be an object")
    z = {} if evidence["z"] is None else sparse(evidence["z"], "z", len(instance.rows))
    used = {row for row in (*z, *evidence["steps"]) if row >= 0}
    lack = -sum((price * instance.b.get(row, fmpq(0)) for row, price in z.items()), fmpq(0))
    inward = dict[int, fmpq]()
    for kind, rows in instance.cones:
        inward |= zip(rows, _INWARD[kind]([z.get(row, fmpq(0)) for row in rows]), strict=True)
    shown, homes = [], set[int]()
    for name, value in parts.items():
        own, atoms = ({integer(row, what, 0, len(instance.rows) - 1) for row in listed(x, what)} for x in value)
        need(not homes & (own | atoms) and not own & atoms, f"{what}: a row stands twice")
        homes |= own | atoms
        if used & (own | atoms):
            share = fmpq(0) if evidence["steps"] else sum((inward[row] for row in own), fmpq(0))
            least = f" (by {rounded(lack / share, ROUND_FLOOR, 6)} at least, if it alone gives)" if share else ""
            shown.append(ascii(name)[1:-1][:_LONGEST] + least)
    need(used <= homes, f"{what}: a row that is used has no name")
    return f"these contradict each other: {'; '.join(shown)}"


# Multipliers along a direction into the cone; of equations, either way.
_INWARD: dict[str, Callable[[list[fmpq]], list[fmpq]]] = {
    "zero": lambda z: [abs(x) for x in z],
    "nonnegative": lambda z: z,
    "second-order": lambda z: [z[0], *[fmpq(0)] * (len(z) - 1)],
    "exponential": lambda z: [-z[0], *z[1:]],
    "semidefinite": lambda z: [x if i == j else fmpq(0) for x, (i, j) in zip(z, triangle(len(z)), strict=True)],
}


# True if numbers are in a cone or in its dual, in rationals and balls.


def inside(kind: str, s: Sequence[fmpq], dual: bool, allowance: Allowance) -> bool:
    """True if s is in the cone, or in its dual; OpenError where an exponential does not decide at this precision."""
    if kind == "zero":
        return dual or not any(s)
    if kind == "nonnegative":
        return all(x >= 0 for x in s)
    if kind == "second-order":
        return s[0] >= 0 and s[0] * s[0] >= sum((x * x for x in s[1:]), fmpq(0))
    if kind == "semidefinite":
        return _semidefinite(s, dual, allowance)
    x, y, z = s
    if dual:  # u < 0 and w >= -u exp(v/u - 1), or u = 0 <= v, w
        return (x < 0 < z and _power(y / x - 1, z / -x)) or (x == 0 and y >= 0 and z >= 0)
    return (y > 0 and z > 0 and _power(x / y, z / y)) or (y == 0 and x <= 0 and z >= 0)


def _power(exponent: fmpq, most: fmpq) -> bool:
    """True if exp(exponent) <= most."""
    if abs(exponent) > 1 << 20:
        return bool(exponent < 0 and most >= fmpq(1, 1 << (1 << 20)))  # exp(-2^20) < 2^(-2^20)
    power = arb(exponent).exp()
    ball = arb(most)
    if (power <= ball) is True:
        return True
    if (power > ball) is True:
        return False
    raise OpenError("a comparison with an exponential")


def _semidefinite(s: Sequence[fmpq], dual: bool, allowance: Allowance) -> bool:
    """True if no eigenvalue is negative: by elimination. In the dual an entry beside the diagonal counts for two."""
    n = order(len(s)) or 0
    matrix = [[fmpq(0)] * n for _ in range(n)]
    for x, (i, j) in zip(s, triangle(len(s)), strict=True):
        matrix[i][j] = x / (2 if dual and i < j else 1)
    for k in range(n):
        allowance.look()
        pivot = matrix[k][k]
        if pivot < 0 or (pivot == 0 and any(matrix[k][k:])):
            return False
        for i in range(k + 1, n):
            factor = matrix[k][i] / pivot if pivot else fmpq(0)
            for j in range(i, n):
                matrix[i][j] -= factor * matrix[k][j]
    return True


ABOUT = {
    "model": "the model that was given",
    "conic form": "the conic form of the model that was given, with rounded numbers",
}


def _lower(instance: Instance, found: dict[str, Any]) -> End:
    """The bound that the multipliers prove; None for +infinity: there is no feasible point.

    Bound because c x = r x + z (A x + b) - z b with r = c - A'z, z (A x + b) >= 0, and r x is at least its minimum over the ranges;
    with a cutoff, every feasible point has a value of at least that, or is in the ranges.
    """
    cutoff = None if found["cutoff"] is None else number(found["cutoff"], "cutoff")
    ranges = Ranges(instance, cutoff)
    for row in found["steps"]:
        instance.allowance.look()
        ranges.step(integer(row, "steps", -1, MOST))
    if ranges.empty:
        return cutoff
    z = sparse(found["z"], "z", len(instance.rows))
    for kind, rows in instance.cones:
        part = [z.get(row, fmpq(0)) for row in rows]
        need(inside(kind, part, True, instance.allowance), f"z is not in the dual of a {kind} cone")
    priced = text(found["objective"], "objective", ("own", "zero")) == "own"
    left = dict(instance.c) if priced else {}
    total = instance.offset if priced else fmpq(0)
    for row, price in z.items():
        instance.allowance.look()
        total -= price * instance.b.get(row, fmpq(0))
        for j, a in instance.rows[row].items():
            left[j] = left.get(j, fmpq(0)) - price * a
    for j, residual in left.items():
        end = ranges.ends[j][0 if residual > 0 else 1] if residual else fmpq(0)
        if end is None:
            raise RefusedError(f"column {j} has a residual and no range")
        total += residual * end
    if not priced:
        need(total > 0, "the multipliers do not show that there is no feasible point")
        return cutoff
    return total if cutoff is None else min(total, cutoff)


def _upper(instance: Instance, found: dict[str, Any]) -> End:
    """The value of the point, which must be feasible; None for -infinity, if a direction leads down from it for ever."""
    x = sparse(found["x"], "x", instance.width)
    down = None if found["direction"] is None else sparse(found["direction"], "direction", instance.width)
    for kind, rows in instance.cones:
        instance.allowance.look()
        s = [instance.member(x, row) for row in rows]
        need(inside(kind, s, False, instance.allowance), f"x is outside a {kind} cone")
        if down is not None:
            s = [instance.member(down, row, True) for row in rows]
            need(inside(kind, s, False, instance.allowance), f"the direction leaves a {kind} cone")
    if down is None:
        return sum((c * x[j] for j, c in instance.c.items() if j in x), instance.offset)
    slope = sum((c * down[j] for j, c in instance.c.items() if j in down), fmpq(0))
    need(slope < 0, "the direction does not lead down")
    return None


def _as_it_is(value: Any, what: str) -> Any:
    return value


_SCHEMA: dict[str, tuple[Any, Any]] = {
    **dict.fromkeys(("columns", "cones", "rows", "places", "values"), (listed, REQUIRED)),
    **dict.fromkeys(("format", "about", "sense", "offset", "c", "b", "lower", "upper"), (_as_it_is, REQUIRED)),
    "constraints": (_as_it_is, None),
}
_LOWER = {"value": (_as_it_is, REQUIRED), "steps": (listed, REQUIRED)} | dict.fromkeys(
    ("cutoff", "z", "objective"), (_as_it_is, None)
)
_UPPER = {"value": (_as_it_is, REQUIRED), "x": (_as_it_is, REQUIRED), "direction": (_as_it_is, None)}


def prove(data: bytes, allowance: Allowance) -> tuple[tuple[str, ...], Fraction | None, Fraction | None]:
    """The statement and the ends of the interval, None where infinite.

    RefusedError if a claim is not proved, OpenError if it might be with more precision, ValueError if the file is none.
    """
    allowance.take(24 * len(data))
    found = json.loads(data, object_pairs_hook=_once, parse_float=_nonumber, parse_constant=_nonumber)
    if not (isinstance(found, dict) and found.get("format") == "dalenius-interval/1"):
        raise ValueError("format must be dalenius-interval/1")
    found = table(found, "file", _SCHEMA)
    maximises = text(found["sense"], "sense", ("minimize", "maximize")) == "maximize"
    instance = read_instance(found, allowance)
    lower = None if found["lower"] is None else _lowest(instance, table(found["lower"], "lower", _LOWER))
    upper = None if found["upper"] is None else _highest(instance, table(found["upper"], "upper", _UPPER))
    if lower is None and upper is None:
        raise RefusedError("the file claims nothing")
    named = lower == "inf" and found["constraints"] is not None
    ends = (_turned(upper), _turned(lower)) if maximises else (lower, upper)
    words = {
        key: sum(len(rows) if key in KINDS[:2] else 1 for kind, rows in instance.cones if kind == key) for key in KINDS
    }
    statement = (
        f"proved: {_shown(*ends)}",
        f"V: the {'greatest' if maximises else 'least'} value of the instance in the file, {instance.width} columns, "
        + ", ".join(f"{count} {key}" for key, count in words.items() if count),
        "which is, so says the program that wrote it, " + ABOUT[text(found["about"], "about", list(ABOUT))],
        *([contradiction(instance, found["constraints"], found["lower"])] if named else ()),
        f"arithmetic: {chosen().words}",
        f"precision: {chosen().precision()} bits",
    )
    low, high = (
        None if end is None or isinstance(end, str) else Fraction(int(end.numerator), int(end.denominator))
        for end in ends
    )
    return statement, low, high


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _nonumber(value: str) -> Any:
    raise ValueError(f"numbers are written as strings, got {value[:40]!a}")


def _lowest(instance: Instance, found: dict[str, Any]) -> fmpq | str:
    """The claim of a lower end, proved; "inf" where there is no feasible point."""
    proved = _lower(instance, found)
    claim = found["value"]
    if claim == "inf":
        need(proved is None, "that there is no feasible point is not proved")
        return "inf"
    value = number(claim, "lower.value")
    need(proved is None or value <= proved, "lower: the claim is above what the multipliers prove")
    return value


def _highest(instance: Instance, found: dict[str, Any]) -> fmpq | str:
    """The claim of an upper end, proved; "-inf" where the value is unbounded."""
    proved = _upper(instance, found)
    claim = found["value"]
    if claim == "-inf":
        need(proved is None, "that the value is unbounded is not proved")
        return "-inf"
    value = number(claim, "upper.value")
    need(proved is None or value >= proved, "upper: the claim is below the value of the point")
    return value


def _turned(end: fmpq | str | None) -> fmpq | str | None:
    if end is None:
        return None
    return {"inf": "-inf", "-inf": "inf"}[end] if isinstance(end, str) else -end


def _shown(lower: fmpq | str | None, upper: fmpq | str | None) -> str:
    """The interval in words; an infinite end on the far side says that there is no feasible point, or no bound."""
    low = "" if lower is None else f"{lower if isinstance(lower, str) else rounded(lower, ROUND_FLOOR)} <= "
    high = "" if upper is None else f" <= {upper if isinstance(upper, str) else rounded(upper, ROUND_CEILING)}"
    return f"{low}V{high}"
