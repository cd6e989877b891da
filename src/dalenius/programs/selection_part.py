"""A limit of the capacity of some rows of a mechanism, as part of its programs: what a secret's value is told of at most."""

from __future__ import annotations

from collections.abc import Mapping

import cvxpy as cp
import numpy as np

from dalenius.information.arrays import Floats
from dalenius.information.capacity import capacity
from dalenius.programs.secret_part import Constraints, SecretPart, Tangents, Variables, rounded

__all__ = ["SelectionPart"]

LEAST = 1e-290  # posterior of a letter: it must be above 0 as it is written
RARE = 1e-12  # probability of a letter, for the same reason
APART = 1e-14  # nats between the two ends of a capacity


class SelectionPart(SecretPart):
    """The largest I(A;Y) over all laws v of a letter A that chooses one of some rows of Q: their Shannon capacity, at most so much.

    Row s of the masses has a single 1, at the input that letter s chooses, so that u(s,y) = Q(x_s,y). *Convex because* for every v
    the information is convex in Q. In cones: for some law r, D( Q(x_s,.) || r ) <= at_most for all s. Hint: v, and a law phi(.|y) of
    the letters for every output; L(s,y) = v_s log( phi(s|y) / v_s ), a tangent of the information under v.
    """

    count = 1

    def width(self, outputs: int) -> int:
        return self.letters * (1 + outputs)

    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        law = cp.Variable(r.shape, nonneg=True, name="law")
        terms = cp.Variable(u.shape, name="terms")
        wide = np.ones((self.letters, 1)) @ cp.reshape(law, (1, r.size), order="C")
        return {"law": law, "terms": terms}, {
            "laws": cp.sum(law) == 1,
            "cones": cp.ExpCone(-terms, u, wide),
            "sum": cp.sum(terms, axis=1) <= allowed,
        }

    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        if not {"cones", "sum"} <= duals.keys():
            return None
        alpha, beta, weights = duals["cones"][0], duals["cones"][1], np.maximum(duals["sum"], 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(alpha < 0.0, np.exp(np.clip(beta / alpha - 1.0, -600.0, 600.0)), 1.0)  # Q(x_s,y) / r(y)
        total = float(weights.sum())
        v = weights / total if total > 0.0 else np.full(self.letters, 1.0 / self.letters)
        return np.array([total]), self.valid(np.concatenate([v, (v[:, None] * ratio).reshape(-1)])[None])

    def nothing(self, outputs: int) -> Tangents:
        return np.zeros(1), self.valid(np.ones((1, self.width(outputs))))

    def valid(self, hints: Floats) -> Floats:
        v, phi = self._parts(np.nan_to_num(hints.reshape(-1), nan=1.0, posinf=1.0, neginf=1.0))
        v, phi = np.maximum(v, RARE), np.maximum(phi, LEAST)
        v, phi = v / v.sum(), np.maximum(phi / phi.sum(axis=0), LEAST)
        return rounded(np.concatenate([v, phi.reshape(-1)])).reshape(1, -1)

    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        v, phi = self._parts(hint)
        v = (v / v.sum())[:, None]
        found = v * (np.log(phi / phi.sum(axis=0)) - np.log(v))
        return found, np.abs(found) + 2.0 * v

    def values(self, u: Floats) -> Floats:
        return np.array([capacity(u, gap=APART).upper])

    def _parts(self, hint: Floats) -> tuple[Floats, Floats]:
        return hint[: self.letters], hint[self.letters :].reshape(self.letters, -1)
