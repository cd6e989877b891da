"""The measures of what an output reveals about a secret that may be limited: each in cones, by its tangents, and exactly.

The notation is that of `secrets.py`: P, pi, u, W, r and slopes L.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from flint import arb, ctx, fmpq

from dalenius.evidence.lower import About, Matrix, Vector
from dalenius.information.arrays import Floats
from dalenius.information.balls import rational
from dalenius.programs.secrets import (
    LEAST,
    Constraints,
    Difference,
    SecretPart,
    Tangents,
    Told,
    Variables,
    at_letters,
    certainly,
    divergence,
    rounded,
    summed,
)

SEEN = 1e-6  # share of the largest weight above which one counts
TURN = 1e-5  # by how much a tangent is moved
NEW = 1e-30  # weight of a tangent that a linear program may use
MANY = 60  # moves: with more, there would be too many
NOTHING = 1e-14  # weight of a cone, of the largest, whose multipliers say nothing
PIVOTS = 256  # bits of the balls that a matrix is eliminated in
ONE = Fraction(1)
Letters = tuple[int | None, int | None]  # None stands for the output's own law


class InformationPart(SecretPart):
    """I(S;Y) = sum u log(u/(pi r)). Hint: a law phi(.|y) of the letters for every output; L = log(phi/pi)."""

    count = 1

    def width(self, outputs: int) -> int:
        return self.letters * outputs

    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        law, wide = self.output_law(r)
        terms = cp.Variable(u.shape, name="terms")
        entropy = -float(np.sum(self.pi * np.log(self.pi)))
        return {"law": law, "terms": terms}, {
            "laws": law == r,
            "cones": cp.ExpCone(-terms, u, wide),
            "sum": cp.sum(terms) + entropy <= allowed,
        }

    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        if not {"cones", "sum"} <= duals.keys():
            return None
        log_phi = self.log_ratios(duals, np.log(self.pi)[:, None])
        hints = self.valid(np.exp(log_phi - log_phi.max(axis=0)).reshape(1, -1))
        return np.maximum(duals["sum"].reshape(1), 0.0), hints

    def valid(self, hints: Floats) -> Floats:
        phi = np.maximum(np.nan_to_num(hints.reshape(self.letters, -1), nan=1.0), LEAST)
        return rounded(np.maximum(phi / phi.sum(axis=0), LEAST)).reshape(1, -1)

    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        phi = hint.reshape(self.letters, -1)
        found = np.log(phi / phi.sum(axis=0)) - np.log(self.pi)[:, None]
        return found, np.abs(found) + 2.0

    def values(self, u: Floats) -> Floats:
        expected = self.pi[:, None] * u.sum(axis=0)
        return np.array([np.sum(np.where(u > 0.0, u * np.log(np.where(u > 0.0, u / expected, 1.0)), 0.0))])

    def kept(self, told: Told, most: fmpq | arb) -> bool:
        pairs = zip(told.pi, told.given, strict=True)
        return certainly(sum((arb(p) * divergence(row, told.r) for p, row in pairs), arb(0)), most)


class _AllOrEach(SecretPart):
    """A measure of all letters together, or of each if strong."""

    def __init__(self, masses: Floats, at_most: float, strong: bool = True) -> None:
        super().__init__(masses, at_most)
        self.strong = strong

    @property
    def count(self) -> int:
        return self.letters if self.strong else 1

    def width(self, outputs: int) -> int:
        return outputs if self.strong else self.letters * outputs

    def _of_letter(self, i: int, of_all: Floats, own: Floats) -> tuple[Floats, Floats]:
        """Slopes of r that are the same for all letters, with those of W(i,.) added to the own ones, and the sizes of both."""
        found = np.tile(of_all, (self.letters, 1))
        sizes = np.abs(found)
        found[i] += own / self.pi[i]
        sizes[i] += np.abs(own) / self.pi[i]
        return found, sizes

    def written(self, i: int, hint: Vector, letters: Sequence[int], size: int) -> tuple[About, Vector | Matrix]:
        return (letters[i], hint) if self.strong else super().written(i, hint, letters, size)


class StrongKLPart(_AllOrEach):
    """sum_y r log(r/W(s,.)), for each letter s. Hint: t > 0 for every output; sum r (1 + log t) - t W bounds it from below."""

    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        law, wide = self.output_law(r)
        terms = cp.Variable(u.shape, name="terms")
        given = np.diag(1.0 / self.pi) @ u
        return {"law": law, "terms": terms}, {
            "laws": law == r,
            "cones": cp.ExpCone(-terms, wide, given),
            "sum": cp.sum(terms, axis=1) <= allowed,
        }

    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        if not {"cones", "sum"} <= duals.keys():
            return None
        t = np.exp(np.clip(self.log_ratios(duals, 0.0), -600.0, 600.0))
        return np.maximum(duals["sum"], 0.0), self.valid(t)

    def valid(self, hints: Floats) -> Floats:
        return rounded(np.maximum(np.nan_to_num(hints, nan=1.0), LEAST))

    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        found, sizes = self._of_letter(i, 1.0 + np.log(hint), -hint)
        return found, sizes + 1.0

    def values(self, u: Floats) -> Floats:
        given, r = u / self.pi[:, None], u.sum(axis=0)
        return np.sum(np.where(r > 0.0, r * np.log(np.where(r > 0.0, r / given, 1.0)), 0.0), axis=1)

    def kept(self, told: Told, most: fmpq | arb) -> bool:
        return all(certainly(divergence(told.r, row), most) for row in told.given)


class VariationPart(_AllOrEach):
    """sum |u - pi r|, or sum_y |W(s,.) - r| for each letter if strong. Hint: c from -1 to 1, the factors of the differences."""

    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        size = cp.Variable(u.shape, name="size")
        law, wide = self.output_law(r)
        if self.strong:
            difference = np.diag(1.0 / self.pi) @ u - wide
            total = cp.sum(size, axis=1) <= allowed
        else:
            difference = u - np.diag(self.pi) @ wide
            total = cp.sum(size) <= allowed
        return {"size": size, "law": law}, {
            "laws": law == r,
            "above": difference <= size,
            "below": -difference <= size,
            "sum": total,
        }

    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        if not {"above", "below", "sum"} <= duals.keys():
            return None
        weights = np.maximum(duals["sum"].reshape(-1), 0.0)
        signed = (duals["above"] - duals["below"]).reshape(self.count, -1)
        return weights, self.valid(signed / np.where(weights > 0.0, weights, 1.0)[:, None])

    def valid(self, hints: Floats) -> Floats:
        return rounded(np.clip(np.nan_to_num(hints), -1.0, 1.0))

    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        if not self.strong:
            c = hint.reshape(self.letters, -1)
            return c - self.pi @ c, np.abs(c) + self.pi @ np.abs(c)
        return self._of_letter(i, -hint, hint)

    def values(self, u: Floats) -> Floats:
        difference = np.abs(u - self.pi[:, None] * u.sum(axis=0)).sum(axis=1)
        return difference / self.pi if self.strong else np.array([difference.sum()])

    def kept(self, told: Told, most: fmpq | arb) -> bool:
        each = [summed(abs(a - b) for a, b in zip(row, told.r, strict=True)) for row in told.given]
        sums = each if self.strong else [summed(p * x for p, x in zip(told.pi, each, strict=True))]
        return all(x <= most for x in sums)

    def differences(self, pi: Sequence[Fraction]) -> list[Difference]:
        strong = self.strong
        return [Difference(s * strong, ONE if strong else p, {s: ONE, None: -ONE}, True) for s, p in enumerate(pi)]


class ChiSquarePart(_AllOrEach):
    """sum u^2/(pi r) - 1. Hint: t by letter and output; u^2/(pi r) >= 2 t u - t^2 pi r. If strong, r^2/W(s,.) and t by output."""

    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        law = cp.Variable(r.shape, name="law")
        if self.strong:
            terms, count = cp.Variable(u.size, name="terms"), u.size
            given = cp.vec(np.diag(1.0 / self.pi) @ u, order="C")
            wide = np.tile(np.eye(r.size), (self.letters, 1)) @ law
            parts = cp.Variable((3, count), name="parts")
            stacked = cp.vstack([given + terms, given - terms, 2.0 * wide])
            total = cp.sum(cp.reshape(terms, u.shape, order="C"), axis=1) <= allowed + 1.0
        else:
            terms = cp.Variable(r.size, name="terms")
            parts = cp.Variable((2 + self.letters, r.size), name="parts")
            stacked = cp.vstack([law + terms, law - terms, np.diag(2.0 / np.sqrt(self.pi)) @ u])
            total = cp.sum(terms) <= allowed + 1.0
        return {"terms": terms, "parts": parts, "law": law}, {
            "laws": law == r,
            "parts": parts == stacked,
            "cones": cp.SOC(parts[0], parts[1:], axis=0),
            "sum": total,
        }

    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        if not {"parts", "sum"} <= duals.keys():
            return None
        z = duals["parts"]
        own = z[0] - z[1]
        usable = own > NOTHING * np.max(own, initial=0.0)
        t = np.where(usable, -z[2:] / np.where(usable, own, 1.0), 1.0)
        hints = t.reshape(self.letters, -1) if self.strong else (t / np.sqrt(self.pi)[:, None]).reshape(1, -1)
        return np.maximum(duals["sum"].reshape(-1), 0.0), self.valid(hints)

    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        if not self.strong:
            t = hint.reshape(self.letters, -1)
            return 2.0 * t - self.pi @ t**2, 2.0 * np.abs(t) + self.pi @ t**2
        return self._of_letter(i, 2.0 * hint, -(hint**2))

    def behind(self, i: int, hint: Floats) -> float:
        return self.at_most + 1.0

    def values(self, u: Floats) -> Floats:
        r = u.sum(axis=0)
        if self.strong:
            given = u / self.pi[:, None]
            return np.sum(np.where(r > 0.0, r**2 / given, 0.0), axis=1) - 1.0
        return np.array([np.sum(np.where(r > 0.0, u**2 / (self.pi[:, None] * r), 0.0)) - 1.0])

    def kept(self, told: Told, most: fmpq | arb) -> bool:
        if self.strong:
            return all(_over([x * x for x in told.r], row, most + 1) for row in told.given)
        columns = zip(*told.u, strict=True)
        sums = [summed(x * x / p for x, p in zip(column, told.pi, strict=True)) for column in columns]
        return _over(sums, told.r, most + 1)


class CorrelationPart(SecretPart):
    """The square of the maximal correlation. Hint: f by letter and t by output, 2 t E[f(S) - m | y] - t^2 with m the mean of f."""

    @property
    def count(self) -> int:
        return self.letters

    def width(self, outputs: int) -> int:
        return self.letters + outputs

    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        root = np.sqrt(self.pi)
        V = np.diag(1.0 / root) @ u
        corner = allowed * np.eye(self.letters) + np.outer(root, root)
        whole = cp.bmat([[corner, V], [V.T, cp.diag(r)]])
        return {}, {"semidefinite": 0.5 * (whole + whole.T) >> 0}

    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        if "semidefinite" not in duals:
            return None
        Z, k = duals["semidefinite"], self.letters
        Z = 0.5 * (Z + Z.T)
        weights, vectors = np.linalg.eigh(Z[:k, :k])
        weights = np.maximum(weights, 0.0)
        t = -(vectors.T @ Z[:k, k:]) / np.where(weights > NOTHING * weights.max(initial=0.0), weights, np.inf)[:, None]
        return weights, self.valid(np.hstack([vectors.T / np.sqrt(self.pi), t]))

    def turned(self, weights: Floats, hints: Floats) -> Tangents:
        """Beside each tangent with a weight it moved a little, f towards every other f, and t at every output, both ways.

        Solvers answer semidefinite programs less exactly; what a mixture of these corrects is linear in the error, and what it costs
        is quadratic in how little they are moved.
        """
        k, found = self.letters, list[Floats]()
        moves = [TURN * np.concatenate([self._centred(hint), hint[k:]]) for hint in hints[:k]]
        moves += [TURN * np.eye(hints.shape[1])[i] for i in range(k, hints.shape[1])]
        for hint in hints[weights > SEEN * weights.max()] if len(moves) <= MANY else ():
            found += [hint + sign * move for move in moves for sign in (1.0, -1.0)]
        new = np.array(found).reshape(-1, hints.shape[1])
        return np.concatenate([weights, np.full(len(new), NEW)]), self.valid(np.concatenate([hints, new]))

    def _centred(self, hint: Floats) -> Floats:
        f = hint[: self.letters]
        return f - self.pi @ f

    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        f, t = self._centred(hint), hint[self.letters :]
        size = np.abs(f) + self.pi @ np.abs(hint[: self.letters])
        return 2.0 * np.outer(f, t) - t**2, 2.0 * np.outer(size, np.abs(t)) + t**2

    def behind(self, i: int, hint: Floats) -> float:
        return float(self.at_most * (self.pi @ self._centred(hint) ** 2))

    def values(self, u: Floats) -> Floats:
        r, root = u.sum(axis=0), np.sqrt(self.pi)
        scaled = np.where(r > 0.0, u / np.where(r > 0.0, np.sqrt(r), 1.0), 0.0) / root[:, None]
        return np.linalg.eigvalsh(scaled @ scaled.T - np.outer(root, root))[-1:]

    def kept(self, told: Told, most: fmpq | arb) -> bool:
        """True if b (diag pi - pi pi') - (M - pi pi'), M(s,s') = sum_y u u'/r, has no negative eigenvalue, by elimination.

        In balls first: where all pivots are positive for certain that is so, and exact numbers, which grow with every letter, are not
        needed.
        """
        with ctx.workprec(PIVOTS):
            u, r, pi = [[arb(x) for x in row] for row in told.u], [arb(x) for x in told.r], [arb(x) for x in told.pi]
            if _pivots(u, r, pi, most):
                return True
        return _pivots(told.u, told.r, told.pi, most)

    def written(self, i: int, hint: Vector, letters: Sequence[int], size: int) -> tuple[About, Vector | Matrix]:
        return at_letters(hint[: self.letters], "0", letters, size), hint[self.letters :]


class HockeyStickPart(SecretPart):
    """sum_y max(A - c B, 0) <= at_most for pairs (A, B) of laws among W(s,.) and r, <= c at_most where B is r.

    Hint: from 0 to 1 by output, which A - c B is multiplied by.

    Parameters
    ----------
    pairs : list of (letter or None, letter or None)
        None stands for r.
    exact : (c-, c+)
        Rationals around c, e^epsilon.
    """

    def __init__(
        self, masses: Floats, at_most: float, pairs: Sequence[Letters], exact: tuple[Fraction, Fraction]
    ) -> None:
        super().__init__(masses, at_most)
        self.pairs, self.exact, factor = pairs, exact, float(exact[1])
        given = np.vstack([np.diag(1.0 / self.pi), np.ones(self.letters)])  # W(s,.) in u, at last r
        self.shares = np.array([factor if b is None else 1.0 for _, b in pairs])  # of the limit
        self.combine = np.array([given[self._row(a)] - factor * given[self._row(b)] for a, b in pairs])

    def _row(self, letter: int | None) -> int:
        return self.letters if letter is None else letter

    @property
    def count(self) -> int:
        return len(self.pairs)

    def width(self, outputs: int) -> int:
        return outputs

    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        above = cp.Variable((self.count, r.size), nonneg=True, name="above")
        return {"above": above}, {
            "above": cp.Constant(self.combine) @ u <= above,
            "sum": cp.multiply(1.0 / self.shares, cp.sum(above, axis=1)) <= allowed,
        }

    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        if not {"above", "sum"} <= duals.keys():
            return None
        weights = np.maximum(duals["sum"], 0.0) / self.shares
        return weights, self.valid(duals["above"] / np.where(weights > 0.0, weights, 1.0)[:, None])

    def valid(self, hints: Floats) -> Floats:
        return rounded(np.clip(np.nan_to_num(hints), 0.0, 1.0))

    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        found = np.outer(self.combine[i], hint)
        return found, np.abs(found)

    def values(self, u: Floats) -> Floats:
        return np.maximum(self.combine @ u, 0.0).sum(axis=1) / self.shares

    def behind(self, i: int, hint: Floats) -> float:
        return float(self.shares[i] * self.at_most)

    def kept(self, told: Told, most: fmpq | arb) -> bool:
        c = rational(self.exact[0])
        for a, b in self.pairs:
            above = told.r if a is None else told.given[a]
            below, share = (told.r, c) if b is None else (told.given[b], 1)
            if summed(max(x - c * y, fmpq(0)) for x, y in zip(above, below, strict=True)) > share * most:
                return False
        return True

    def differences(self, pi: Sequence[Fraction]) -> list[Difference] | None:
        low, high = self.exact
        if low != high:
            return None
        pairs = enumerate(self.pairs)
        return [Difference(i, 1 / low if b is None else ONE, {a: ONE, b: -low}, False) for i, (a, b) in pairs]

    def written(self, i: int, hint: Vector, letters: Sequence[int], size: int) -> tuple[About, Vector | Matrix]:
        return tuple(None if row is None else letters[row] for row in self.pairs[i]), hint


def _pivots(u: Sequence[Sequence[Any]], r: Sequence[Any], pi: Sequence[Any], b: fmpq | arb) -> bool:
    """True if elimination meets no pivot that is negative, nor 0 beside what is not; of balls, none that may be either."""
    size = len(pi) - 1  # one letter may be left out
    columns = [(x, total) for x, total in zip(zip(*u, strict=True), r, strict=True) if total != 0]
    A = [
        [
            (b * p if s == z else 0) - (b - 1) * p * pi[z] - summed(x[s] * x[z] / total for x, total in columns)
            for z in range(size)
        ]
        for s, p in enumerate(pi[:size])
    ]
    for k in range(size):
        pivot = A[k][k]
        if not pivot > 0 and not (pivot == 0 and all(A[k][z] == 0 for z in range(k + 1, size))):
            return False
        for s in range(k + 1, size) if pivot > 0 else ():
            share = A[s][k] / pivot
            for z in range(k + 1, size):
                A[s][z] -= share * A[k][z]
    return True


def _over(tops: Sequence[fmpq], bottoms: Sequence[fmpq], most: fmpq | arb) -> bool:
    """True if the sum of a/b is at most so much, 0 where a is 0, infinite where b alone is."""
    pairs = [(a, b) for a, b in zip(tops, bottoms, strict=True) if a]
    return all(b != 0 for _, b in pairs) and summed(a / b for a, b in pairs) <= most


def _between_letters(masses: Floats) -> list[Letters]:
    rows = range(len(masses))
    return [(a, b) for a in rows for b in rows if a != b]


def _around_the_law(masses: Floats) -> list[Letters]:
    return [pair for a in range(len(masses)) for pair in ((a, None), (None, a))]


# of limits by kind, from the masses of their laws and the number that is not to be passed
PARTS: dict[str, Callable[[Floats, float, Any], SecretPart]] = {
    "mutual_information": lambda P, most, limit: InformationPart(P, most),
    "kl": lambda P, most, limit: (StrongKLPart if limit.strong else InformationPart)(P, most),
    "total_variation": lambda P, most, limit: VariationPart(P, most, limit.strong),
    "chi_square": lambda P, most, limit: ChiSquarePart(P, most, limit.strong),
    "maximal_correlation": lambda P, most, limit: CorrelationPart(P, most),
    "local_dp_delta": lambda P, most, limit: HockeyStickPart(P, most, _between_letters(P), limit.factor()),
    "local_information_privacy_delta": lambda P, most, limit: HockeyStickPart(
        P, most, _around_the_law(P), limit.factor()
    ),
}
