"""The lower end: what anybody's multipliers prove, by weak duality.

For multipliers z in the dual cones and every feasible x with low <= x <= high

    c x + offset  =  offset - b z + z (A x + b) + (c - A' z) x  >=  offset - b z + sum_j min(r_j low_j, r_j high_j),   r = c - A' z,

because z (A x + b) >= 0. So z is moved into the dual cones, and what is left of c - A' z is paid for with the columns' ranges. VSDP
does this for semidefinite programs (Jansson, Chaykin, Keil, SIAM J. Numer. Anal. 46, 2007).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from flint import fmpq
from scipy.sparse import block_array, csc_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from cvxcertify.geometry import Geometry
from cvxcertify.instance import CONES, Floats, Instance, Nonnegative, Terms, Unit, cone_of, cones_of, exactly
from cvxcertify.linear import made_up
from cvxcertify.ranges import RangeState

MARGINS = (1e-13, 1e-11)  # how far inside the dual cones multipliers are polished, relative to the largest
WIDER = (1e-13, 1e-9, 1e-7)  # where any bound above 0 will do
ROUNDS = 3
REFINED = 3  # times, with one factorisation
EPSILON = 4e-16
NEGLIGIBLE = 1e-40  # relative to the largest multiplier: not worth its digits
SHARE, REGULAR = 1e-6, 1e-18
LEFT = 1e-3  # of a residual, after refinement
PIVOTING: tuple[dict[str, Any], ...] = (  # hardly any, which keeps factors sparse; else as is usual
    {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}},
    {},
)


@dataclass(frozen=True, eq=False)
class DualBound:
    """Multipliers in the dual cones and what they prove of all feasible points in the ranges.

    Attributes
    ----------
    value : fmpq or None
        The bound; None where a column without a range has a residual: nothing is proved.
    z : list of fmpq
    unpaid : tuple of int
        The columns because of which there is no bound.
    """

    value: fmpq | None
    z: list[fmpq]
    unpaid: tuple[int, ...]


def bound(instance: Instance, z: Sequence[fmpq], ranges: RangeState, *, cost: bool = True) -> DualBound:
    """Lower bound from multipliers in the dual cones, for all feasible points in the ranges.

    With ``cost=False`` it is one for the objective 0; if it is positive, there is no such point.
    """
    total = (instance.offset if cost else fmpq(0)) - sum(
        (b * x for b, x in zip(instance.b, z, strict=True) if b), fmpq(0)
    )
    unpaid = []
    for j, residual in enumerate(residuals(instance, z, cost=cost)):
        end = ranges.low[j] if residual > 0 else ranges.high[j]
        if end is not None:
            total += residual * end
        elif residual:
            unpaid.append(j)
    return DualBound(None if unpaid else total, list(z), tuple(unpaid))


def refutation(instance: Instance, z: Floats, ranges: RangeState) -> list[fmpq] | None:
    """Multipliers, made from a solver's, that show that there is no feasible point; None if these do not."""
    for exact in proposals(instance, z, ranges, cost=False):
        for found in (exact, _with_bounds(instance, exact)):
            value = bound(instance, found, ranges, cost=False).value
            if value is not None and value > 0:
                return found
    return None


def _with_bounds(instance: Instance, z: Sequence[fmpq]) -> list[fmpq]:
    """Multipliers for the objective 0 without a residual in columns that have a bound of their own on the right side."""
    signs = [row for row in instance.rows_in(Nonnegative) if len(instance.rows[row]) == 1]
    bounds = {(j, a > 0): (row, a) for row in signs for j, a in instance.rows[row].items()}
    found = list(z)
    for j, left in enumerate(residuals(instance, z, cost=False)):
        if left and (j, left > 0) in bounds:
            row, a = bounds[j, left > 0]
            found[row] += left / a
    return found


def residuals(instance: Instance, z: Sequence[fmpq], *, cost: bool = True) -> list[fmpq]:
    """c - A' z, exactly."""
    left = list(instance.c) if cost else [fmpq(0)] * len(instance.c)
    for price, row in zip(z, instance.rows, strict=True):
        if price:
            for j, factor in row.items():
                left[j] -= price * factor
    return left


def proposals(instance: Instance, z: Floats, ranges: RangeState, *, cost: bool = True) -> Iterator[list[fmpq]]:
    """Multipliers in the dual cones, made from a solver's: as they are, and polished until nearly nothing is left of c - A' z."""
    scale = max(float(np.abs(z).max(initial=0.0)), 1e-300)
    geometry = Geometry(instance)
    yield _settled(instance, z, scale)
    for margin in MARGINS if cost else WIDER:
        polished = _polished(instance, geometry, z, margin * scale, cost)
        if polished is not None:
            settled = _settled(instance, polished, scale)
            yield settled
            paid = _paid(instance, geometry, settled, polished, ranges, cost)
            if paid is not None:
                yield paid


def _settled(instance: Instance, z: Floats, scale: float) -> list[fmpq]:
    """The doubles as exact numbers, moved into the dual cones."""
    exact = [exactly(x) if abs(x) > NEGLIGIBLE * scale else fmpq(0) for x in z.tolist()]
    for cone, places in instance.cells:
        exact[places.start : places.stop] = cone.into_dual(exact[places.start : places.stop])
    return exact


def _polished(instance: Instance, geometry: Geometry, z: Floats, margin: float, cost: bool) -> Floats | None:
    """Multipliers near these with hardly any residual: least squares in the local norm of the dual cones, step by step."""
    c, A, _ = instance.doubles
    c = c if cost else np.zeros_like(c)
    scale = float(np.abs(c).max(initial=0.0)) + float(np.abs(z).max(initial=0.0))
    z = geometry.inward(z, margin)
    for _ in range(ROUNDS):
        left = c - A.T @ z
        if np.abs(left).max(initial=0.0) <= EPSILON * scale:
            break
        reach = geometry.reach(z)
        step = _least(csc_array(reach.T @ A), left)
        if step is None:
            return None
        move = reach @ step
        length = next((0.5**k for k in range(30) if geometry.inside(z + 0.5**k * move)), 0.0)
        if length == 0.0:
            return None
        z = z + length * move
    return z


def _least(B: csc_array, right: Floats) -> Floats | None:
    """The shortest d with B' d = right, by the augmented system (SHARE I, -B; B', 0), refined; None if doubles do not find one.

    The condition of that system is nearly that of B, and not its square (Björck 1967); `SHARE` is about its least singular value.
    """
    sizes = np.sqrt(np.asarray((B * B).sum(axis=0)).reshape(-1))
    scale = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
    B = csc_array(B @ diags_array(scale))
    height, width = B.shape
    wanted = np.concatenate([np.zeros(height), scale * right])
    system, regular = (
        block_array([[SHARE * eye_array(height), -B], [B.T, part * eye_array(width)]], format="csc")
        for part in (0.0, REGULAR)
    )
    for pivoting in PIVOTING:
        try:
            factor = splu(regular, **pivoting)
        except (RuntimeError, ValueError):
            continue
        solution = factor.solve(wanted)
        for _ in range(REFINED):
            solution += factor.solve(wanted - system @ solution)
        if np.abs(B.T @ solution[:height] - wanted[height:]).max(initial=0.0) <= LEFT * np.abs(wanted).max(initial=0.0):
            return solution[:height]
    return None


def _paid(
    instance: Instance, geometry: Geometry, z: list[fmpq], doubles: Floats, ranges: RangeState, cost: bool
) -> list[fmpq] | None:
    """The multipliers, with no residual at all in columns that have no range to pay with; None if that cannot be had."""
    left = residuals(instance, z, cost=cost)
    ends = zip(ranges.low, ranges.high, strict=True)
    open_columns = [j for j, (low, high) in enumerate(ends) if low is None or high is None]
    if not any(left[j] for j in open_columns):
        return None
    equations: list[Terms] = [instance.columns[j] for j in open_columns]
    reach = np.sqrt(np.asarray((geometry.reach(doubles) ** 2).sum(axis=1)).reshape(-1))
    change = made_up(equations, [left[j] for j in open_columns], reach)
    if change is None:
        return None
    found = list(z)
    for i, x in change.items():
        found[i] += x
    inside = all(cone.dual_contains(found[places.start : places.stop]) for cone, places in instance.cells)
    return found if inside else None


# What a column without cost can always satisfy, taken away: multipliers of it prove nothing, and spoil what they meet.
#
# An epigraph variable that no cost and no constraint looks at, that of an entry of an atom which is not used, say, has no upper end. A
# multiplier of its rows, however small, would have to be paid for with that infinite end.


@dataclass(frozen=True, eq=False)
class Trimmed:
    """An instance with fewer rows, whose multipliers, with 0 for the others, are multipliers of the whole one.

    Bound because 0 is in every dual cone, and (0, v, w) with v, w >= 0 in that of an exponential cone.

    Attributes
    ----------
    instance : Instance
    rows : list of int
        Which rows of the whole instance it has.
    size : int
        How many rows that has.
    """

    instance: Instance
    rows: list[int]
    size: int

    @classmethod
    def of(cls, instance: Instance, ranges: RangeState) -> Trimmed:
        """Without what columns that have no cost, and no end on one side, satisfy from some value on."""
        units = dict(enumerate(instance.units))
        homes = {row: k for k, (_, rows) in units.items() for row in rows}
        numbers = count(len(units))
        waiting = [j for j in range(len(instance.c)) if ranges.is_open(j)]
        while waiting:
            j = waiting.pop()
            for sign, end in ((1, ranges.high[j]), (-1, ranges.low[j])):
                met = {homes[row] for row in instance.columns[j] if row in homes}
                if instance.c[j] or end is not None or not met:
                    continue
                left = {k: _left(units[k], {row: sign * x for row, x in instance.columns[j].items()}) for k in met}
                if any(unit is None for unit in left.values()):
                    continue
                for k in met:
                    for row in units.pop(k)[1]:
                        del homes[row]
                        waiting += instance.rows[row]
                    for unit in left[k] or ():
                        number = next(numbers)
                        units[number] = unit
                        homes |= dict.fromkeys(unit[1], number)
        return cls._made(instance, list(units.values()))

    @classmethod
    def keeping(cls, instance: Instance, rows: Container[int]) -> Trimmed:
        """With the cones that have some of these rows, and no others."""
        return cls._made(instance, [unit for unit in instance.units if any(row in rows for row in unit[1])])

    @classmethod
    def _made(cls, instance: Instance, units: list[Unit]) -> Trimmed:
        units.sort(key=lambda unit: CONES.index(unit[0]))
        rows = [row for _, part in units for row in part]
        smaller = replace(
            instance,
            rows=tuple(instance.rows[row] for row in rows),
            b=tuple(instance.b[row] for row in rows),
            cones=cones_of(units),
        )
        return cls(smaller, rows, len(instance.b))

    def restricted(self, z: Floats) -> Floats:
        """The multipliers of the rows that are left."""
        return z[self.rows]

    def lifted(self, z: list[fmpq]) -> list[fmpq]:
        """Multipliers of all rows."""
        found = [fmpq(0)] * self.size
        for row, x in zip(self.rows, z, strict=True):
            found[row] = x
        return found


def _left(unit: Unit, direction: dict[int, fmpq]) -> tuple[Unit, ...] | None:
    """Demand of a cone on its other members when one may go in this direction for ever; None: as much as before."""
    kind, rows = unit
    left = cone_of(kind, len(rows)).left([direction.get(row, fmpq(0)) for row in rows])
    return None if left is None else tuple((each, (rows[k],)) for k, each in left.items())
