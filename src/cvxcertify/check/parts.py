"""The parts of a model that evidence of infeasibility uses, by name, and how far each would have to give."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_FLOOR
from typing import Any

from dalenius_check.core.arithmetic import fmpq
from dalenius_check.core.numbers import need, rounded
from dalenius_check.core.read import integer

from .instance import Instance, listed, sparse, triangle

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
