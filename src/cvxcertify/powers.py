"""Power cones as exponential ones, with exact weights.

With weights a that add up to 1, |z| <= x_1^a_1 ... x_n^a_n if and only if there are t >= |z| and r with t exp(r_i / t) <= x_i and
a r >= 0. For then the product is at least t exp(a r / t) >= t; and r_i = t log(x_i / t) will do, r = 0 where t is 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.elementwise.power import Power
from cvxpy.atoms.geo_mean import GeoMean

ONE = Fraction(1)
Weights = Mapping[float, Fraction | None]  # what doubles stand for; None: for one of several numbers


def weights_of(atoms: Collection[cp.Expression]) -> Weights:
    """The weights that the cones of these atoms have, of which the modelling language keeps the nearest doubles."""
    found: dict[float, Fraction | None] = {}
    for atom in atoms:
        listed: list[Fraction] = []
        if isinstance(atom, GeoMean):
            asked = [Fraction(float(weight)) for weight in atom.p]
            listed = [weight / sum(asked) for weight in asked]
        if isinstance(atom, Power | cp.Pnorm):
            p = Fraction(float(atom.p.value if isinstance(atom, Power) else atom.p))
            listed = [weight for weight in (p, 1 / (p or ONE), p / (p - 1 or ONE)) if 0 < weight < 1]
        for weight in listed:
            known = found.setdefault(float(weight), weight)
            found[float(weight)] = weight if known == weight else None
    return found


def exponential_cones(constraint: Any, weights: Weights | None) -> tuple[list[cp.Constraint], bool]:
    """Constraints that say the same, and whether their weights are exact; `weights` is None of a cone that the model itself has."""
    *bases, z = constraint.args
    doubles = np.asarray(constraint.alpha.value)
    if isinstance(constraint, cp.PowCone3D):
        bases, doubles = cp.vstack([cp.vec(base, order="F") for base in bases]), doubles.reshape(1, -1, order="F")
    else:
        bases = bases[0].T if constraint.axis == 1 else cp.reshape(bases[0], (len(doubles), z.size), order="F")
        doubles = doubles.T if constraint.axis == 1 else doubles.reshape(len(doubles), -1)
    t, r = cp.Variable(z.size), cp.Variable(bases.shape)
    columns, exact = [], True
    for column in doubles.T.tolist():
        known = [Fraction(a) if weights is None else weights.get(a) for a in column]
        listed = [Fraction(a) if weight is None else weight for a, weight in zip(column, known, strict=True)]
        listed += [1 - listed[0]] if isinstance(constraint, cp.PowCone3D) else []
        halves = [_halves(weight, math.lcm(*(each.denominator for each in listed))) for weight in listed]
        exact = exact and None not in known and sum(listed) == 1 and all(whole for _, _, whole in halves)
        columns.append(halves)
    high, low, _ = np.array(columns).T
    total = cp.sum(cp.multiply(high, r), axis=0) + cp.sum(cp.multiply(low, r), axis=0)
    z = cp.vec(z, order="F")
    return [cp.ExpCone(r, cp.vstack([t] * len(high)), bases), total >= 0, z <= t, -t <= z], exact


def _halves(weight: Fraction, common: int) -> tuple[float, float, bool]:
    """Two doubles whose sum is a weight times the common denominator, up to a power of two, and whether it is exactly."""
    whole = int(weight * common)
    high = float(whole)
    low = float(whole - int(high))
    shift = -common.bit_length()
    return math.ldexp(high, shift), math.ldexp(low, shift), int(high) + int(low) == whole
