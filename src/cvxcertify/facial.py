"""Faces of cones that have every feasible point, where none is strictly inside: multipliers that expose them.

If z (A x + b) = 0 for every x, then what a feasible point has in a cone is orthogonal to what z has there, and so in a face of it.
Faces are made from a solver's multipliers, with short fractions, so that a point in them can be exact. Nothing here is evidence, for
whether the point is in the cones is decided afterwards (Borwein, Wolkowicz, Journal of the Australian Mathematical Society 30, 1981).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import fmpq
from scipy.linalg import qr

from cvxcertify.geometry import matrix_of
from cvxcertify.instance import CONES, Floats, Instance, Terms, cones_of, triangle

TIGHT, NOISE = 1e-3, 1e-9  # of the largest multiplier, and of their sum, which is 1: what is smaller exposes nothing
NEAR = 1e-4  # relative: multipliers that are as near to the boundary of their dual cone count as on it
LARGEST = 1000  # denominator of a face's numbers
ONE = fmpq(1)
Face = list[tuple[str, list[Terms]]]  # cones, and their members as combinations of those of the whole one


def faced(instance: Instance, z: Floats, kinds: Collection[str]) -> Instance | None:
    """The instance with the faces of these kinds of cones that multipliers expose in their place; None if they expose none."""
    sizes = {rows: float(np.abs(z[list(rows)]).max()) for kind, rows in instance.units if kind in kinds}
    least = max(NOISE, TIGHT * max(sizes.values(), default=0.0))
    if not any(size > least for size in sizes.values()):
        return None
    found: Face = []
    for kind, rows in instance.units:
        exposed = sizes.get(rows, 0.0) > least
        face = FACES[kind](z[list(rows)]) if exposed else [(kind, [{k: ONE} for k in range(len(rows))])]
        found += [(each, [{rows[k]: x for k, x in form.items() if x} for form in forms]) for each, forms in face]
    found.sort(key=lambda face: CONES.index(face[0]))
    forms = [form for _, listed in found for form in listed]
    return replace(
        instance,
        rows=tuple(_combined(instance, form) for form in forms),
        b=tuple(sum((x * instance.b[row] for row, x in form.items()), fmpq(0)) for form in forms),
        cones=cones_of(found),
    )


def _combined(instance: Instance, form: Terms) -> Terms:
    row: Terms = {}
    for i, x in form.items():
        for j, a in instance.rows[i].items():
            row[j] = row.get(j, fmpq(0)) + x * a
    return {j: a for j, a in row.items() if a}


def _tip(z: Floats) -> Face:
    return [("zero", [{k: ONE} for k in range(len(z))])]


def _second_order(z: Floats) -> Face:
    """The tip, or the ray of (1, -u/|u|)."""
    length = float(np.linalg.norm(z[1:]))
    if z[0] - length > NEAR * z[0]:
        return _tip(z)
    return [("zero", [{k: ONE, 0: _short(z[k] / length)} for k in range(1, len(z))]), ("nonnegative", [{0: ONE}])]


def _exponential(z: Floats) -> Face:
    """Where y = 0, that face or what z leaves of it; else the tip, or the one ray that has short numbers, (0, 1, 1)."""
    u, v, w = z / np.abs(z).max()
    if u > -NEAR:
        flat = [{1: ONE}, {2: ONE}] if w > NEAR else [{1: ONE}]
        return [("zero", flat), ("nonnegative", [{0: -ONE}] if w > NEAR else [{0: -ONE}, {2: ONE}])]
    if w + u * np.exp(v / u - 1.0) > NEAR or abs(np.log(-u / w)) > NEAR:
        return _tip(z)
    return [("zero", [{0: ONE}, {1: ONE, 2: -ONE}]), ("nonnegative", [{1: ONE}])]


def _semidefinite(z: Floats) -> Face:
    """M W M' for the principal part W of some rows, M the identity there: the columns of M span what z sends to 0."""
    order = (math.isqrt(8 * len(z) + 1) - 1) // 2
    values, vectors = np.linalg.eigh(matrix_of(order, z, 0.5))
    kept = vectors[:, values <= NEAR * values[-1]]
    if not kept.size:
        return _tip(z)
    own = np.sort(qr(kept.T, mode="r", pivoting=True)[1][: kept.shape[1]])
    M = [[_short(x) for x in row] for row in (kept @ np.linalg.inv(kept[own])).tolist()]
    at = {place: k for k, place in enumerate(triangle(order))}
    equations: list[Terms] = []
    for (i, j), k in at.items():
        form: Terms = {k: ONE}
        for a, b in np.ndindex(len(own), len(own)):
            place = at[int(min(own[a], own[b])), int(max(own[a], own[b]))]
            form[place] = form.get(place, fmpq(0)) - M[i][a] * M[j][b]
        equations.append(form)
    return [("zero", equations), ("semidefinite", [{at[own[i], own[j]]: ONE} for i, j in triangle(len(own))])]


def _short(x: float) -> fmpq:
    """The fraction of a small denominator that is nearest."""
    return fmpq(*Fraction(x).limit_denominator(LARGEST).as_integer_ratio())


FACES: dict[str, Callable[[Floats], Face]] = {
    "nonnegative": _tip,
    "second-order": _second_order,
    "exponential": _exponential,
    "semidefinite": _semidefinite,
}
