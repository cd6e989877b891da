"""The parts of a model that evidence of infeasibility uses, by name, and how far each would have to give."""

from __future__ import annotations

from decimal import ROUND_FLOOR
from typing import Any

from dalenius_check.core.arithmetic import fmpq
from dalenius_check.core.numbers import need, rounded
from dalenius_check.core.read import integer

from .instance import Form, Instance, listed, order

_LONGEST = 80  # characters of a name that are shown


def contradiction(instance: Instance, parts: Any, steps: list[int], z: Form) -> str:
    """The parts whose rows are used, each with the least by which it would have to give if it alone did, where that is known.

    Bound because z (A x + b) = z b < 0 for every x, where no range is used: a part that is moved by e into its cones adds e times its
    multipliers along that direction, and there is a point only if the sum is no longer negative.
    """
    need(isinstance(parts, dict), "constraints must be an object")
    used = {row for row in (*z, *steps) if row >= 0}
    lack = -sum((price * instance.b.get(row, fmpq(0)) for row, price in z.items()), fmpq(0))
    inward = {row: price for kind, rows in instance.cones for row, price in _inward(kind, rows, z)}
    shown, homes = [], set[int]()
    for name, value in parts.items():
        own, atoms = (
            {integer(row, "constraints", 0, len(instance.rows) - 1) for row in listed(x, "constraints")} for x in value
        )
        need(not homes & (own | atoms) and not own & atoms, "constraints: a row stands twice")
        homes |= own | atoms
        if used & (own | atoms):
            share = sum((inward[row] for row in own), fmpq(0))
            least = (
                f" (by {rounded(lack / share, ROUND_FLOOR, 6)} at least, if it alone gives)"
                if share and not steps
                else ""
            )
            shown.append(ascii(name)[1:-1][:_LONGEST] + least)
    need(used <= homes, "constraints: a row that is used has no name")
    return f"these contradict each other: {'; '.join(shown)}"


def _inward(kind: str, rows: range, z: Form) -> list[tuple[int, fmpq]]:
    """Multipliers along a direction into the cone: (1, 0, ...), (-1, 1, 1), the identity; of equations, either way."""
    if kind == "zero":
        along = [1 if z.get(row, fmpq(0)) > 0 else -1 for row in rows]
    elif kind == "semidefinite":
        n = order(len(rows)) or 0
        along = [int(i == j) for i in range(n) for j in range(i, n)]
    elif kind == "exponential":
        along = [-1, 1, 1]
    else:
        along = [int(kind == "nonnegative" or row == rows.start) for row in rows]
    return [(row, d * z.get(row, fmpq(0))) for row, d in zip(rows, along, strict=True)]
