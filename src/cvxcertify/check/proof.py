"""The two ends of an interval for a conic instance: by weak duality, and by a feasible point."""

from __future__ import annotations

import json
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from dalenius_check.core.allowance import Allowance
from dalenius_check.core.arithmetic import chosen, fmpq
from dalenius_check.core.numbers import RefusedError, need, rounded
from dalenius_check.core.read import REQUIRED, integer, table, text

from .cones import inside
from .instance import KINDS, MOST, End, Instance, listed, number, read_instance, sparse
from .parts import contradiction
from .ranges import Ranges

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
