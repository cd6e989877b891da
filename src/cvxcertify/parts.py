"""Parts of a model by name: whose each row of its instance is, and what multipliers say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cvxpy as cp
from flint import fmpq

from cvxcertify.geometry import matrix_of
from cvxcertify.instance import Floats, Instance, Zero

OBJECTIVE = "the objective"


@dataclass(frozen=True, eq=False)
class Part:
    """Constraint of a model, its objective, or the attributes of one of its variables.

    Attributes
    ----------
    name : str
    constraint : cvxpy.Constraint or None
    rows : tuple of int
        Rows that say what the part says.
    atoms : tuple of int
        Rows that say what the atoms in it are; those of an atom in several parts are the first one's.
    """

    name: str
    constraint: cp.Constraint | None
    rows: tuple[int, ...]
    atoms: tuple[int, ...]

    def multipliers(self, z: Floats) -> Floats:
        """Multipliers of the part's rows, with the signs and in the shape of `dual_value`; cones of three rows and more a row each."""
        said = z[list(self.rows)]
        if isinstance(self.constraint, cp.constraints.PSD):
            return matrix_of(self.constraint.args[0].shape[-1], said, 0.5)
        if isinstance(self.constraint, cp.SOC | cp.ExpCone):
            return said.reshape(self.constraint.num_cones(), -1)
        if isinstance(self.constraint, cp.constraints.Equality | cp.constraints.Zero):
            said = 0.0 - said
        return said if self.constraint is None else said.reshape(self.constraint.shape, order="F")


def conflict(
    parts: Sequence[Part], instance: Instance, steps: Sequence[int], z: Sequence[fmpq] | None
) -> dict[str, fmpq]:
    """The parts that a proof of infeasibility uses, and how far each would have to give at least, if it alone did; 0: not known.

    Bound because z (A x + b) = z b < 0 for every x, if no range is used. A part that is moved by e into its cones adds e times its
    multipliers along that direction, and there is a point only if the sum is no longer negative.
    """
    prices = [fmpq(0)] * len(instance.b) if z is None else z
    used = {row for row, price in enumerate(prices) if price}.union(step for step in steps if step >= 0)
    lack = fmpq(0) if steps else -sum((b * price for b, price in zip(instance.b, prices, strict=True)), fmpq(0))
    inward = [
        abs(prices[row]) if isinstance(cone, Zero) else prices[row] * along
        for cone, places in instance.cells
        for row, along in zip(places, cone.inner(lambda k: False), strict=True)
    ]
    found = {}
    for part in parts:
        if used.intersection(part.rows + part.atoms):
            share = sum((inward[row] for row in part.rows), fmpq(0))
            found[part.name] = lack / share if share else fmpq(0)
    return found
