"""Random DCP models whose optimal value is known exactly: each is built around an optimal point and its multipliers."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import cvxpy as cp
import numpy as np

TRIPLES = ((5, 3, 4), (13, 5, 12), (17, 8, 15), (9, 1, 4, 8), (7, 2, 3, 6), (3, 1, 2, 2))  # t = |u| in whole numbers


@dataclass(frozen=True)
class Planted:
    """A model, the cone that it is about, its optimal value, and where it has it."""

    kind: str
    problem: cp.Problem
    value: Fraction
    x: np.ndarray


def planted(rng: np.random.Generator, kind: str | None = None) -> Planted:
    """Minimise c x + d, or maximise its negative, over A x + b in cones, x in a box whose ends are nowhere near.

    For s in the cones and z in their duals with z s = 0, b = s - A x and c = A' z make x optimal. All numbers are small multiples of
    powers of two, so that none is rounded. There are fewer rows with multipliers than columns: points strictly inside exist.
    """
    kind = kind or str(rng.choice(list(MAKERS)))
    size = int(rng.integers(9, 15))
    x = rng.integers(-8, 9, size=size) / 8.0
    variable = cp.Variable(size, bounds=[-16.0, 16.0], name="x")
    cost, constraints, value = np.zeros(size), [], Fraction(0)
    kinds = [kind, *rng.choice(list(MAKERS), size=2)] if kind != "mixed" else list(MAKERS)
    used = 0
    for each in kinds:
        s, z, constrain = MAKERS[each](rng)
        if used + len(s) > size - 1:
            continue
        used += len(s)
        A = rng.integers(-3, 4, size=(len(s), size)).astype(float)
        A[np.arange(len(s)), rng.permutation(size)[: len(s)]] += 8.0
        b = s - A @ x
        cost += A.T @ z
        constraints += constrain(A @ variable + b)
    value = sum((Fraction(c) * Fraction(p) for c, p in zip(cost.tolist(), x.tolist(), strict=True)), Fraction(0))
    offset = int(rng.integers(-8, 9)) / 4.0
    if rng.random() < 0.5:
        return Planted(
            kind, cp.Problem(cp.Minimize(cost @ variable + offset), constraints), value + Fraction(offset), x
        )
    return Planted(kind, cp.Problem(cp.Maximize(-cost @ variable - offset), constraints), -value - Fraction(offset), x)


Pair = tuple[np.ndarray, np.ndarray, Callable[[cp.Expression], list[cp.Constraint]]]


def zero(rng: np.random.Generator) -> Pair:
    size = int(rng.integers(1, 4))
    return np.zeros(size), rng.integers(-4, 5, size=size) / 4.0, lambda s: [s == 0]


def nonnegative(rng: np.random.Generator) -> Pair:
    size = int(rng.integers(2, 6))
    tight = rng.random(size) < 0.6
    s, z = rng.integers(1, 9, size=size) / 4.0, rng.integers(0, 9, size=size) / 8.0
    return np.where(tight, 0.0, s), np.where(tight, z, 0.0), lambda s: [s >= 0]


def second_order(rng: np.random.Generator) -> Pair:
    """On the boundary, at the tip, or inside; as a cone, or as a norm."""
    t, *u = TRIPLES[rng.integers(len(TRIPLES))]
    signs = rng.choice([-1.0, 1.0], size=len(u))
    s, z = np.array([t, *(signs * u)]) / 4.0, np.array([t, *(-signs * u)]) / 8.0
    case = rng.integers(4)
    if case == 0:
        s, z = 0.0 * s, z + np.eye(len(s))[0]
    elif case == 1:
        s, z = s + np.eye(len(s))[0], 0.0 * z
    if rng.random() < 0.5:
        return s, z, lambda s: [cp.SOC(s[0], s[1:])]
    return s, z, lambda s: [cp.norm(s[1:]) <= s[0]]


def exponential(rng: np.random.Generator) -> Pair:
    """On the boundary where x = 0, at the face y = 0 or at the tip, or inside; as a cone, or as a relative entropy."""
    y, scale = int(rng.integers(1, 9)) / 4.0, int(rng.integers(1, 9)) / 8.0
    cases = (
        ((0.0, y, y), (-scale, -scale, scale)),
        ((0.0, y, y), (-scale, -scale, scale)),
        ((0.0, 0.0, 0.0), (-scale, 0.0, scale)),
        ((-y, y, y), (0.0, 0.0, 0.0)),
    )
    s, z = (np.array(part) for part in cases[rng.integers(len(cases))])
    if rng.random() < 0.5:
        return s, z, lambda s: [cp.ExpCone(s[0], s[1], s[2])]
    return s, z, lambda s: [cp.rel_entr(s[1], s[2]) <= -s[0]]


def semidefinite(rng: np.random.Generator) -> Pair:
    """Sums of squares of whole vectors that are orthogonal; rows are the entries on and above the diagonal."""
    size = int(rng.integers(2, 4))
    vectors = {2: [(1, 1), (1, -1)], 3: [(1, 1, 0), (1, -1, 0), (0, 0, 1)]}[size]
    cut = int(rng.integers(1, size))
    order = rng.permutation(size)
    S, Z = (sum(np.outer(vectors[k], vectors[k]) for k in part) / 4.0 for part in (order[:cut], order[cut:]))
    rows, columns = np.triu_indices(size)
    at = {(i, j): k for k, (i, j) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))}
    whole = [at[min(i, j), max(i, j)] for j in range(size) for i in range(size)]
    weights = np.where(rows == columns, 1.0, 2.0)
    return S[rows, columns], weights * Z[rows, columns], lambda s: [cp.reshape(s[whole], (size, size), order="F") >> 0]


def power(rng: np.random.Generator) -> Pair:
    """On the boundary, at the tip, or inside, of two members and three; as a cone, or as a geometric mean."""
    weights = np.array(((0.5, 0.5), (0.25, 0.75), (0.75, 0.25), (0.25, 0.25, 0.5))[rng.integers(4)])
    bases = 16.0 ** rng.integers(0, 2, size=weights.size)  # whose roots are whole
    mean, sign = float(np.prod(bases**weights)), rng.choice([-1.0, 1.0])
    s, z = np.array([*bases, sign * mean]) / 4.0, np.array([*(weights * mean / bases), -sign])
    case = rng.integers(4)
    if case == 0:
        s, z = 0.0 * s, z + np.array([*weights, 0.0])
    elif case == 1:
        s, z = s + np.array([*np.ones(weights.size), 0.0]), 0.0 * z
    if rng.random() < 0.5:
        return s, z, lambda s: [cp.geo_mean(s[:-1], weights, approx=False) >= cp.abs(s[-1])]
    if weights.size == 2:
        return s, z, lambda s: [cp.PowCone3D(s[0], s[1], s[2], weights[0])]
    return s, z, lambda s: [cp.PowConeND(s[:-1], s[-1], weights)]


MAKERS: dict[str, Callable[[np.random.Generator], Pair]] = {
    "zero": zero,
    "nonnegative": nonnegative,
    "second-order": second_order,
    "exponential": exponential,
    "semidefinite": semidefinite,
    "power": power,
}
