"""An instance handed to any solver of the modelling language, and what it says: candidates for a point and for multipliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from cvxcertify.geometry import Geometry
from cvxcertify.instance import Floats, Instance, Integers, triangle
from cvxcertify.solvers import Attempt, attempt, usable

Stop = Callable[[], bool]
Part = tuple[Any, tuple[Integers, float]]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver said: numbers of the right size, or None. Evidence of nothing."""

    attempt: Attempt
    x: Floats | None
    z: Floats | None


def ask(instance: Instance, solver: str, settings: dict[str, Any], time_limit: float | None, stop: Stop) -> Answer:
    """One attempt of a solver; both parts of the answer are None if it fails."""
    c, A, b = instance.doubles
    x = cp.Variable(c.size)
    parts = _constraints(Geometry(instance), lambda places: A[places] @ x + b[places])
    problem = cp.Problem(cp.Minimize(c @ x), [constraint for constraint, _ in parts])
    made = attempt(problem, {"x": x}, {}, solver, settings, time_limit=time_limit, stop=stop)
    if made.hung or "x" not in made.point:
        return Answer(made, None, None)
    z = np.zeros(b.size)
    for constraint, (places, sign) in parts:
        said = _multipliers(constraint, places)
        if said is None:
            return Answer(made, made.point["x"], None)
        z[places] = sign * said
    return Answer(made, made.point["x"], z)


def _constraints(geometry: Geometry, s: Callable[[Integers], cp.Expression]) -> list[Part]:
    """Constraints, each with the rows that its multipliers belong to, in their order, and their sign."""
    found: list[Part] = []
    if geometry.zero.size:
        found.append((s(geometry.zero) == 0, (geometry.zero, -1.0)))
    if geometry.signs.size:
        found.append((s(geometry.signs) >= 0, (geometry.signs, 1.0)))
    for size in sorted({places.size for places in geometry.second_order}):
        places = np.array([rows for rows in geometry.second_order if rows.size == size])
        X = cp.reshape(s(places[:, 1:].reshape(-1)), (size - 1, len(places)), order="F")
        found.append((cp.SOC(s(places[:, 0]), X, axis=0), (places, 1.0)))
    if geometry.exponential.size:
        triples = geometry.exponential
        found.append((cp.ExpCone(*(s(triples[:, k]) for k in range(3))), (triples, 1.0)))
    for order, rows in geometry.semidefinite:
        at = {place: k for k, place in enumerate(triangle(order))}
        whole = np.array([rows[at[min(i, j), max(i, j)]] for j in range(order) for i in range(order)])
        found.append((cp.reshape(s(whole), (order, order), order="F") >> 0, (rows, 1.0)))
    return found


def _multipliers(constraint: Any, places: Any) -> Floats | None:
    """What a solver left as multipliers of these rows, whatever that is; None if it is unusable."""
    raw = [variable.value for variable in constraint.dual_variables]
    if isinstance(constraint, cp.SOC):
        count, size = places.shape
        shapes: list[tuple[int, ...]] = [(count,), (size - 1, count)]
    elif isinstance(constraint, cp.ExpCone):
        shapes = [(len(places),)] * 3
    elif isinstance(constraint, cp.constraints.PSD):
        shapes = [constraint.args[0].shape]
    else:
        shapes = [(places.size,)]
    if len(raw) != len(shapes):
        return None
    said = usable({str(k): (part, shape) for k, (part, shape) in enumerate(zip(raw, shapes, strict=True))})
    if len(said) != len(shapes):
        return None
    if isinstance(constraint, cp.constraints.PSD):
        whole = said["0"] + said["0"].T
        return np.array([whole[i, j] * (0.5 if i == j else 1.0) for i, j in triangle(len(whole))])
    columns = [np.atleast_2d(part).T if part.ndim == 1 else part.T for part in said.values()]
    return np.hstack(columns) if places.ndim > 1 else columns[0][:, 0]
