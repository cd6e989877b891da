"""The upper end: a point whose feasibility is decided in exact numbers.

A solver's point is nearly feasible. It is mixed with one that is strictly inside all cones, as little as is needed; what the equations
then lack is made up for exactly; and the members of A x + b are looked at in rationals, exponentials in balls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from flint import fmpq

from cvxcertify.geometry import Geometry
from cvxcertify.instance import Floats, Instance, Nonnegative, Zero, as_float, exactly
from cvxcertify.linear import made_up
from cvxcertify.ranges import RangeState

FUZZ = 1e-15  # what doubles may lose in a sum, relative to its summands
SHARES = (*(m * 10.0**-k for k in range(13, 0, -1) for m in (1.0, 3.0)), 1.0)  # of the strictly feasible point


@dataclass(frozen=True, eq=False)
class Point:
    """A feasible point and its value, exactly."""

    x: list[fmpq]
    value: fmpq


def feasible(instance: Instance, x: Floats, ranges: RangeState, face: Instance | None = None) -> Point | None:
    """The feasible point that this one becomes when equations are made to hold; None if it is none then.

    They are those of `face`, if given: the same with faces of its cones (`facial`). A column whose range is one number is that number.
    """
    face = face or instance
    ends = zip(ranges.low, ranges.high, strict=True)
    x = np.array(
        [old if low is None or low != high else as_float(low) for old, (low, high) in zip(x, ends, strict=True)]
    )
    _, A, b = face.doubles
    if not Geometry(face).contains(A @ x + b, FUZZ * (abs(A) @ abs(x) + abs(b))):
        return None
    exact = [exactly(value) for value in x.tolist()]
    rows = face.rows_in(Zero)
    lacks = [-face.activity(exact, row) for row in rows]
    change = made_up([face.rows[row] for row in rows], lacks, _room(instance, x, ranges))
    if change is None:
        return None
    for j, step in change.items():
        exact[j] += step
    cells = (
        instance.cells if face is not instance else [cell for cell in instance.cells if not isinstance(cell[0], Zero)]
    )
    if not all(cone.contains([instance.activity(exact, row) for row in places]) for cone, places in cells):
        return None
    return Point(exact, instance.value(exact))


def _room(instance: Instance, x: Floats, ranges: RangeState) -> Floats:
    """Distance of each column from the ends of its range."""
    sides = []
    for ends, sign in ((ranges.low, 1.0), (ranges.high, -1.0)):
        known = np.array([np.nan if end is None else float(end.p) / float(end.q) for end in ends])
        sides.append(np.where(np.isnan(known), 1.0, sign * (x - known)))
    return np.clip(np.minimum(*sides), 1e-12, 1.0)


def mixed(instance: Instance, x: Floats, inner: Floats, ranges: RangeState, face: Instance) -> Point | None:
    """The feasible point nearest to x on the way to a strictly feasible one, if there is any."""
    for share in SHARES:
        found = feasible(instance, (1.0 - share) * x + share * inner, ranges, face)
        if found is not None:
            return found
    return None


def inner_instance(instance: Instance, ranges: RangeState, most: fmpq | None = None) -> Instance:
    """Find x as far inside the cones as may be: minimise t over A x + b + t e in the cones, t >= -1, e inside the cones.

    With `most`, among points whose value is at most that.

    Members that can only be 0, because their columns are fixed, are left alone. The value is not positive if there
    is a feasible point, and negative if one is strictly inside.
    """
    rows = [dict(row) for row in instance.rows]
    t = len(instance.c)
    for cone, places in instance.cells:
        for row, factor in zip(places, cone.inner(partial(_fixed, instance, ranges, places)), strict=True):
            if factor:
                rows[row][t] = fmpq(factor)
    more, ends = [{t: fmpq(1)}], [fmpq(1)]
    if most is not None:
        more.append({j: -c for j, c in enumerate(instance.c) if c})
        ends.append(most - instance.offset)
    return replace(
        instance,
        c=(*([fmpq(0)] * t), fmpq(1)),
        offset=fmpq(0),
        rows=(*rows, *more),
        b=(*instance.b, *ends),
        cones=(*instance.cones, Nonnegative(len(ends))),
        names=(*instance.names, "t"),
    )


def _fixed(instance: Instance, ranges: RangeState, places: range, k: int) -> bool:
    """True if the ranges leave nothing but 0 to a member."""
    low, high = ranges.ends(instance.rows[places[k]], instance.b[places[k]])
    return high is not None and high <= 0 and low is not None and low >= 0
