"""All limits about secrets of one program: what is added to its model, and what their multipliers prove together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import cvxpy as cp
import numpy as np
from flint import arb, fmpq

from dalenius.evidence.lower import About, Matrix, Vector
from dalenius.information.arrays import Floats
from dalenius.information.balls import rational
from dalenius.information.capacity import capacity

# What every limit about a secret is to a program: a convex constraint in cones, and tangents that bound it from below.
#
# Notation: P(s,x) is the law of secret and input, pi(s) its margin; u(s,y) = sum_x P(s,x) Q(x,y), W(s,y) = u(s,y)/pi(s) and
# r(y) = sum_s u(s,y) belong to the output of a mechanism Q. Every measure here is convex in Q, homogeneous of degree 1 in u up to a
# constant, so that each of its tangents is sum_sy L(s,y) u(s,y) - constant with some slopes L.


T = TypeVar("T")
Variables = dict[str, cp.Variable]
Constraints = dict[str, cp.Constraint]
Tangents = tuple[Floats, Floats]  # weights (R,) of at least 0, and hints (R, width)
DIGITS = 13  # of a hint


@dataclass(frozen=True, eq=False)
class Told:
    """Laws of an exact mechanism's outputs: u(s,y), r(y), pi(s) and W(s,y) = u/pi."""

    u: list[list[fmpq]]
    pi: list[fmpq]

    @cached_property
    def r(self) -> list[fmpq]:
        return [sum(column, fmpq(0)) for column in zip(*self.u, strict=True)]

    @cached_property
    def given(self) -> list[list[fmpq]]:
        return [[x / p for x in row] for p, row in zip(self.pi, self.u, strict=True)]


@dataclass(frozen=True)
class Difference:
    """A size that a linear measure sums for every output: its tangent and share, how often W(s,.) or r (None) is in it, both signs."""

    tangent: int
    share: Fraction
    taken: Mapping[int | None, Fraction]
    both: bool


class SecretPart(ABC):
    """C_i(Q) <= at_most for i = 0, 1, ..., about one law of a secret; its multipliers are weights and hints, a tangent for each i.

    Parameters
    ----------
    masses : (letters, inputs)
        P(s,x), each letter with mass.
    at_most : float

    Attributes
    ----------
    pi : (letters,)
    """

    def __init__(self, masses: Floats, at_most: float) -> None:
        self.masses, self.at_most = masses, at_most
        self.pi = masses.sum(axis=1)

    @property
    def letters(self) -> int:
        return len(self.masses)

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of tangents."""

    @abstractmethod
    def width(self, outputs: int) -> int:
        """Number of numbers of a hint."""

    @abstractmethod
    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        """C(Q) <= allowed for all i, in cones, by names."""

    @abstractmethod
    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        """Those that a solver's multipliers of the model are; None where one is missing."""

    @abstractmethod
    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        """L_i(s,y), and the size of what is summed in it."""

    @abstractmethod
    def values(self, u: Floats) -> Floats:
        """C_i, one for each tangent or one for all."""

    @abstractmethod
    def kept(self, told: Told, most: fmpq | arb) -> bool:
        """True if all C_i are at most so much, exactly; where logarithms are in them, certainly so, for a ball of nats."""

    def differences(self, pi: Sequence[Fraction]) -> list[Difference] | None:
        """Of a linear measure the differences whose sizes it sums; None, as by default, where it is none."""
        return None

    def written(self, i: int, hint: Vector, letters: Sequence[int], size: int) -> tuple[About, Vector | Matrix]:
        """Subject of a tangent's line, and its hint, for so many letters of the secret, those with mass being these."""
        outputs = len(hint) // self.letters
        rows = [hint[k * outputs : (k + 1) * outputs] for k in range(self.letters)]
        return None, at_letters(rows, ("0",) * outputs, letters, size)

    def valid(self, hints: Floats) -> Floats:
        """The nearest hints that are allowed, in few digits."""
        return rounded(np.nan_to_num(hints, nan=1.0, posinf=1.0, neginf=1.0))

    def behind(self, i: int, hint: Floats) -> float:
        """The constant of a tangent and `at_most`: what is subtracted for a weight of 1."""
        return self.at_most

    def turned(self, weights: Floats, hints: Floats) -> Tangents:
        """More tangents near these, where a solver's are not exact enough; by default none."""
        return weights, hints

    def output_law(self, r: cp.Expression, *, nonneg: bool = False) -> tuple[cp.Variable, cp.Expression]:
        """A variable for the law of the outputs, and a row of it for every letter."""
        law = cp.Variable(r.shape, nonneg=nonneg, name="law")
        return law, np.ones((self.letters, 1)) @ cp.reshape(law, (1, r.size), order="C")

    def log_ratios(self, duals: Mapping[str, Floats], otherwise: Floats | float) -> Floats:
        """log(x/y) where multipliers of cones say that -x log(x/y) is their first entry; something else where they say nothing."""
        alpha, beta = duals["cones"][0], duals["cones"][1]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(alpha < 0.0, beta / alpha - 1.0, otherwise)

    def nothing(self, outputs: int) -> Tangents:
        """Weights of 0."""
        return np.zeros(self.count), self.valid(np.ones((self.count, self.width(outputs))))

    def excess(self, Q: Floats) -> float:
        """By how much the measure is too large, negative where there is room."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.max(self.values(self.masses @ Q), initial=-np.inf)) - self.at_most

    def combined(self, weights: Floats, hints: Floats) -> tuple[Floats, Floats, float]:
        """sum_i weight_i g_i(x,y) with g_i = sum_s P(s,x) L_i(s,y), its size, and what is subtracted."""
        total, size, spent = np.zeros((self.letters, 1)), np.zeros((self.letters, 1)), 0.0
        for i in np.flatnonzero(weights > 0.0).tolist():
            slopes, sizes = self.slopes(i, hints[i])
            total, size = total + weights[i] * slopes, size + weights[i] * sizes
            spent += weights[i] * self.behind(i, hints[i])
        return self.masses.T @ total, self.masses.T @ size, spent


def at_letters(listed: Sequence[T], absent: T, letters: Sequence[int], size: int) -> tuple[T, ...]:
    """By letters, those without mass too."""
    found = dict(zip(letters, listed, strict=True))
    return tuple(found.get(s, absent) for s in range(size))


def rounded(hints: Floats) -> Floats:
    """Numbers in few digits: a certificate has each of them."""
    return np.array([float(f"{x:.{DIGITS}g}") for x in np.asarray(hints).reshape(-1)]).reshape(np.shape(hints))


def summed(terms: Iterator[Any]) -> Any:
    """Pairwise, so that large denominators come late."""
    listed = list(terms)
    while len(listed) > 1:
        listed = [a + b for a, b in zip(listed[::2], listed[1::2], strict=False)] + listed[len(listed) & ~1 :]
    return listed[0] if listed else fmpq(0)


def divergence(p: Sequence[fmpq], q: Sequence[fmpq]) -> arb:
    """D(p || q) in balls; infinite where q alone is 0."""
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a]
    if any(b == 0 for _, b in pairs):
        return arb("inf")
    return sum((arb(a) * arb(a / b).log() for a, b in pairs), arb(0))


def certainly(value: arb, most: fmpq | arb) -> bool:
    return bool(value.is_finite() and value <= most)


LEAST = 1e-290  # posterior of a letter: it must be above 0 as it is written
RARE = 1e-12  # probability of a letter, for the same reason
APART = 1e-14  # nats between the two ends of a capacity
NEAREST = 1e-15  # and of the capacity whose output law is to prove it
RARELY = 1e-20  # mass of an output in that law
SPARE = 1e-10  # share of a limit that a mechanism leaves, so that rounded output laws prove that it is kept


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
        law, wide = self.output_law(r, nonneg=True)
        terms = cp.Variable(u.shape, name="terms")
        return {"law": law, "terms": terms}, {
            "laws": cp.sum(law) == 1,
            "cones": cp.ExpCone(-terms, u, wide),
            "sum": cp.sum(terms, axis=1) <= allowed,
        }

    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        if not {"cones", "sum"} <= duals.keys():
            return None
        ratio = np.exp(np.clip(self.log_ratios(duals, 0.0), -600.0, 600.0))  # Q(x_s,y) / r(y)
        weights = np.maximum(duals["sum"], 0.0)
        total = float(weights.sum())
        v = weights / total if total > 0.0 else np.full(self.letters, 1.0 / self.letters)
        return np.array([total]), self.valid(np.concatenate([v, (v[:, None] * ratio).reshape(-1)])[None])

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

    def kept(self, told: Told, most: fmpq | arb) -> bool:
        """True if an output law proves it, with a little room."""
        doubles = np.array([[float(q.p) / float(q.q) for q in row] for row in told.u])
        law = [rational(x) for x in np.maximum(capacity(doubles, gap=NEAREST).output_law, RARELY).tolist()]
        total = sum(law, fmpq(0))
        return all(divergence(row, [x / total for x in law]) <= most * (1 - arb(SPARE)) for row in told.u)


Named = dict[str, Floats]
Tangent = tuple[
    int, int, float | Fraction, Floats | list[Fraction]
]  # a part's number, the tangent's in it, its weight and its hint
HALF = 0.5
USED = 1e-12  # share of the largest weight below which one is 0


class Secrets:
    """Parts, numbered; the multipliers of part k are named `tangents<k>`, its weights, and `hints<k>`."""

    def __init__(self, parts: Sequence[SecretPart] = ()) -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return len(self.parts)

    def model(
        self, Q: cp.Expression, excess: cp.Expression | None = None
    ) -> tuple[dict[str, cp.Variable], dict[str, cp.Constraint]]:
        """Variables and constraints, named; limits are raised by `excess`, if there is one."""
        variables, constraints = dict[str, cp.Variable](), dict[str, cp.Constraint]()
        for k, part in enumerate(self.parts):
            allowed = cp.Constant(part.at_most) + (0.0 if excess is None else excess)
            some, more = part.model(cp.Constant(part.masses) @ Q, cp.Constant(part.masses.sum(axis=0)) @ Q, allowed)
            variables |= {f"secret{k}_{name}": each for name, each in some.items()}
            constraints |= {f"secret{k}_{name}": each for name, each in more.items()}
        return variables, constraints

    def start(self, outputs: int) -> Named:
        """Multipliers that give nothing away."""
        return self._named(part.nothing(outputs) for part in self.parts)

    def project(self, duals: Mapping[str, Floats], outputs: int) -> Named:
        """Those nearest to a solver's."""

        def each(k: int, part: SecretPart) -> tuple[Floats, Floats]:
            prefix = f"secret{k}_"
            mine = {name.removeprefix(prefix): x for name, x in duals.items() if name.startswith(prefix)}
            return part.tangents(mine) or part.nothing(outputs)

        return self._named(each(k, part) for k, part in enumerate(self.parts))

    def _named(self, pairs: Iterator[tuple[Floats, Floats]]) -> Named:
        found: Named = {}
        for k, (weights, hints) in enumerate(pairs):
            found |= {f"tangents{k}": weights, f"hints{k}": hints}
        return found

    def given_away(self, multipliers: Mapping[str, Floats]) -> tuple[Floats | float, Floats | float, float]:
        """Price of the limits: what they add to the matrix (inputs, outputs), its size, and what they subtract."""
        matrix: Floats | float = 0.0
        size: Floats | float = 0.0
        spent = 0.0
        for k, part in enumerate(self.parts):
            added, more, taken = part.combined(multipliers[f"tangents{k}"], multipliers[f"hints{k}"])
            matrix, size, spent = matrix + added, size + more, spent + taken
        return matrix, size, spent

    def turned(self, multipliers: Mapping[str, Floats]) -> Named:
        """With more tangents near these, where that may help; new ones with weights next to 0."""
        return self._named(
            part.turned(multipliers[f"tangents{k}"], multipliers[f"hints{k}"]) for k, part in enumerate(self.parts)
        )

    def used(self, multipliers: Mapping[str, Floats]) -> list[tuple[int, int]]:
        """Part and number of each tangent with a weight."""
        return [
            (k, i) for k in range(len(self.parts)) for i in np.flatnonzero(multipliers[f"tangents{k}"] > 0.0).tolist()
        ]

    def listed(self, multipliers: Mapping[str, Floats]) -> tuple[Tangent, ...]:
        """The tangents that have a weight."""
        weights = [multipliers[f"tangents{k}"] for k in range(len(self.parts))]
        least = USED * max((w.max(initial=0.0) for w in weights), default=0.0)
        return tuple(
            (k, i, float(weights[k][i]), multipliers[f"hints{k}"][i])
            for k, i in self.used(multipliers)
            if weights[k][i] > least
        )

    def alone(self, k: int, i: int, multipliers: Mapping[str, Floats]) -> tuple[Floats, float]:
        """One tangent with a weight of 1: its matrix, and what it subtracts."""
        part, hint = self.parts[k], multipliers[f"hints{k}"][i]
        return part.masses.T @ part.slopes(i, hint)[0], part.behind(i, hint)

    def weighted(self, chosen: Sequence[tuple[int, int]], weights: Floats, multipliers: Mapping[str, Floats]) -> Named:
        """The same tangents with other weights."""
        found: Named = {f"tangents{k}": np.zeros_like(multipliers[f"tangents{k}"]) for k in range(len(self.parts))}
        for (k, i), weight in zip(chosen, weights.tolist(), strict=True):
            found[f"tangents{k}"][i] = weight
        return found

    def towards(self, Q: Floats) -> float:
        """A share of Q, mixed with a mechanism that reveals nothing, with which half of the room in each limit is left."""
        share = 1.0
        for part in self.parts:
            have = part.excess(Q) + part.at_most
            share = min(share, HALF * part.at_most / have if have > 0.0 else 1.0)
        return share

    def restored(self, tangents: Sequence[Tangent], start: Mapping[str, Floats]) -> Named:
        """Listed tangents as multipliers, the others as at the start."""
        found = {name: x.copy() for name, x in start.items() if name.startswith(("tangents", "hints"))}
        for k, i, weight, hint in tangents:
            found[f"tangents{k}"][i], found[f"hints{k}"][i] = weight, hint
        return found

    def share(self, Q: Floats, anchor: Floats) -> float:
        """The share of an anchor that is inside with which a mechanism keeps all limits, up to rounding: they are convex."""
        share = 0.0
        for part in self.parts:
            over, room = part.excess(Q), -part.excess(anchor)
            if over > 0.0:
                share = max(share, over / (over + room) if room > 0.0 else 1.0)
        return share

    def excess(self, Q: Floats) -> float:
        """The largest by which a limit is passed; negative where there is room in all."""
        return max((part.excess(Q) for part in self.parts), default=-np.inf)
