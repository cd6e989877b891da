"""Demands on a mechanism besides being one, and terms of the objective besides a cost: as data in doubles, and as models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_matrix, diags

from dalenius.information.arrays import Floats, Integers
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.secrets import Constraints, Secrets, Tangent, Variables
from dalenius.programs.solvers import OWN, attempt, ladder

NONE = -1  # the level of a leakage that has a limit and nothing else


@dataclass(frozen=True, eq=False)
class Levels:
    """sum_l worth_l t_l is minimised, where I_s <= limit_s + rate_s t_l for the priors s of level l, and <c_k, Q> <= t_0.

    So the largest of several leakages is one level with rates 1, the sum of several largest ones a level for each, and the largest of
    weighted terms one level with a rate of 1/weight for the priors of a leakage, and the weighted costs of distortions.
    *Bound because* multipliers lambda_s, eta_k >= 0 with sum of rate_s lambda_s over the priors of a level, and of all eta_k in level
    0, equal to worth_l leave nothing of t_l.

    Attributes
    ----------
    worth : (levels,)
        More than 0. Each has a prior, or the first one a charge.
    of_prior : (priors,)
        The level of each prior; NONE where its limit must be kept.
    rates : (priors,)
        More than 0.
    charges : (charges, inputs, outputs)
        c_k(x,y) >= 0. Only where there is a level.
    """

    worth: Floats
    of_prior: Integers
    rates: Floats
    charges: Floats

    @classmethod
    def of(cls, raised: Sequence[bool] | np.ndarray) -> Levels:
        """One level, by which the limits of these priors are raised; none, if there are none.

        >>> Levels.of([True, False]).of_prior.tolist()
        [0, -1]
        """
        marks = np.asarray(raised, dtype=bool)
        return cls(np.ones(int(marks.any())), np.where(marks, 0, NONE), np.ones(marks.shape), np.zeros((0, 1, 1)))

    @property
    def raised(self) -> np.ndarray:
        """Priors that have a level: (priors,) of bool."""
        return self.of_prior != NONE

    @property
    def matrix(self) -> Floats:
        """Matrix of multipliers, of priors, then of charges, in each level: (levels, priors + charges)."""
        levels = np.arange(len(self.worth))[:, None]
        owned = np.where(self.of_prior[None, :] == levels, self.rates[None, :], 0.0)
        return np.hstack([owned, np.broadcast_to(np.where(levels == 0, 1.0, 0.0), (len(levels), len(self.charges)))])

    def scaled(self, weights: Floats, charged: Floats) -> tuple[Floats, Floats]:
        """Multipliers of the priors and of the charges that leave nothing of any level; even ones where all of a level are 0.

        >>> Levels.of([True, True, False]).scaled(np.array([1.0, 3.0, 5.0]), np.zeros(0))[0].tolist()
        [0.25, 0.75, 5.0]
        """
        found = np.concatenate([weights, charged])
        for taken, worth in zip(self.matrix, self.worth, strict=True):
            mine = taken > 0.0
            if not np.any(found[mine] > 0.0):
                found[mine] = 1.0
            found[mine] *= worth / float(found[mine] @ taken[mine])
        return found[: len(weights)], found[len(weights) :]

    def value(self, excess: Floats, charged: Floats) -> float:
        """sum_l worth_l t_l with the least levels for these I_s - limit_s and <c_k, Q>."""
        return float(sum(worth * self.level(k, excess, charged) for k, worth in enumerate(self.worth)))

    def level(self, k: int, excess: Floats, charged: Floats) -> float:
        """The least t_k."""
        mine = self.of_prior == k
        reached = [*(excess[mine] / self.rates[mine]), *(charged if k == 0 else ())]
        return float(max(reached))


def size_of(largest: Floats | float) -> Floats:
    """Powers of 2 of the size of these numbers; 1 of 0.

    >>> size_of(np.array([0.0, 0.3, 1.0, 1e6])).tolist()
    [1.0, 0.25, 1.0, 524288.0]
    """
    return np.where(np.equal(largest, 0.0), 1.0, np.ldexp(0.5, np.frexp(largest)[1]))


SINGULAR = 1e-11  # relative size of eigenvalues that count as 0: equations that say the same


@dataclass(frozen=True, eq=False)
class LinearRows:
    """A q <= h, and B q = e, for the entries q of the variable counted row by row.

    Attributes
    ----------
    matrix : (rows, entries), sparse
    ends : (rows,)
    equal : (rows,) of bool
        Whether a row is an equation.
    """

    matrix: csr_matrix
    ends: Floats
    equal: np.ndarray

    @classmethod
    def none(cls, entries: int) -> LinearRows:
        """No rows."""
        return cls(csr_matrix((0, entries)), np.zeros(0), np.zeros(0, dtype=bool))

    @cached_property
    def units(self) -> Floats:
        """A power of 2 of the size of each row, (rows,): solvers are given rows that are divided by it."""
        return size_of(abs(self.matrix).max(axis=1).toarray().reshape(-1))

    @cached_property
    def even(self) -> LinearRows:
        """The rows divided by their units."""
        return replace(self, matrix=(diags(1.0 / self.units) @ self.matrix).tocsr(), ends=self.ends / self.units)

    def excess(self, q: Floats) -> Floats:
        """A q - h, (rows,)."""
        return self.matrix @ q.reshape(-1) - self.ends

    def prices(self, duals: Mapping[str, Floats]) -> Floats:
        """Valid multipliers near a solver's of the even rows, by their names in `demanded`; 0 where it says nothing."""
        found, shown = np.zeros(len(self.ends)), {"at_most": ~self.equal, "equal": self.equal}
        for name in shown.keys() & duals.keys():
            found[shown[name]] = duals[name]
        return self.valid(found)

    def valid(self, found: Floats) -> Floats:
        """Valid multipliers near those of the even rows."""
        return np.asarray(np.where(self.equal, found, np.maximum(found, 0.0)) / self.units)

    def priced(self, prices: Floats) -> Floats:
        """Price of multipliers in every entry."""
        return self.matrix.T @ prices

    def sizes(self, prices: Floats) -> Floats:
        """The size of what is summed there."""
        return abs(self.matrix).T @ abs(prices)


@dataclass(frozen=True, eq=False)
class ConeRows:
    """The norm of rows 1, 2, ... of F q + f is at most its row 0.

    Attributes
    ----------
    matrix : (1 + members, entries)
    offset : (1 + members,)
    """

    matrix: Floats
    offset: Floats

    def room(self, q: Floats) -> float:
        """Room of the norm; negative where it is too large."""
        parts = self.matrix @ q.reshape(-1) + self.offset
        return float(parts[0] - np.linalg.norm(parts[1:]))


@dataclass(frozen=True, eq=False)
class Demands:
    """All of it, with a mechanism that meets it.

    Attributes
    ----------
    rows : LinearRows
    cones : tuple of ConeRows
    support : (rows of q, outputs) of bool
        Entries that need not be 0.
    anchor : (rows of q, outputs)
        Meets everything, with room where there is any: what is on the wrong side is mixed with it.
    tight : (rows of `rows`,) of bool, optional
        Rows that hold with equality in every mechanism; by default the equations.
    secrets : Secrets
        Limits of what the output reveals about secrets.
    """

    rows: LinearRows
    support: np.ndarray
    anchor: Floats
    cones: tuple[ConeRows, ...] = ()
    tight: np.ndarray | None = None
    secrets: Secrets = field(default_factory=Secrets)

    def met_by(self, q: Floats) -> Floats:
        """A mechanism near q that meets everything up to rounding: on the equations, then mixed with the anchor as far as need be."""
        near = self._on_equations(np.where(self.support, q, 0.0))
        have, spare = self._excess(near), np.maximum(-self._excess(self.anchor), 0.0)
        broken = have > 0.0
        share = float(np.max(have[broken] / (have[broken] + spare[broken]), initial=0.0))
        mixed = (1.0 - share) * near + share * self.anchor
        while share < 1.0 and any(cone.room(mixed) < 0.0 for cone in self.cones):
            share = min(2.0 * share + 1e-12, 1.0)
            mixed = (1.0 - share) * near + share * self.anchor
        return np.maximum(mixed, 0.0)

    def _excess(self, q: Floats) -> Floats:
        """By how much inequalities and signs are broken."""
        return np.concatenate([self.rows.excess(q)[~self._held], -q[self.support]])

    @property
    def _held(self) -> np.ndarray:
        return self.rows.equal if self.tight is None else self.tight

    def _on_equations(self, q: Floats) -> Floats:
        """The nearest point on which rows are laws and equations hold."""
        moved, (matrix, ends, inverse) = q[self.support], self._equations
        for _ in range(2):
            moved = moved + matrix.T @ (inverse @ (ends - matrix @ moved))
        found = np.zeros(q.shape)
        found[self.support] = moved
        return found

    @cached_property
    def _equations(self) -> tuple[Floats, Floats, Floats]:
        """The equations of the supported entries, each scaled to length 1, their right sides, and the inverse of their products."""
        count, outputs = self.support.shape
        sums = np.kron(np.eye(count), np.ones(outputs))
        matrix = np.concatenate([sums, self.rows.matrix[self._held].toarray()])[:, self.support.reshape(-1)]
        ends = np.concatenate([np.ones(count), self.rows.ends[self._held]])
        length = np.linalg.norm(matrix, axis=1)
        used = length > 0.0
        matrix, ends = matrix[used] / length[used, None], ends[used] / length[used]
        return matrix, ends, np.linalg.pinv(matrix @ matrix.T, rcond=SINGULAR, hermitian=True)


# As a model, and a mechanism as far inside cones and limits about secrets as rows allow, or multipliers that say they allow none.


SECONDS = 60.0
DEEPEST = 1.0  # more room than this is not looked for


@dataclass(frozen=True, eq=False)
class ConeInterior:
    """A solver's answer, which proves nothing.

    Attributes
    ----------
    q : (rows, outputs)
    excess : float
        The least number by which all norms must be above their bounds; negative where there is room.
    prices : (linear rows,)
    cones : (t, u...) of every cone
    tangents : of the limits about secrets
    """

    q: Floats
    excess: float
    prices: Floats
    cones: tuple[Floats, ...]
    tangents: tuple[Tangent, ...] = ()


def demanded(
    rows: LinearRows, cones: Sequence[ConeRows], support: np.ndarray, excess: cp.Expression | None = None
) -> tuple[cp.Expression, Variables, Constraints]:
    """The entries q of a mechanism, some of them 0, one after the other; what it must meet, where cones may be passed by an excess.

    The parts of a cone are variables: the multipliers of their equations are the cone's, in one array.
    """
    used = np.flatnonzero(support)
    placed = csr_matrix((np.ones(used.size), (used, np.arange(used.size))), shape=(support.size, used.size))
    variables = {"z": cp.Variable(used.size, nonneg=True, name="z")}
    q = placed @ variables["z"]
    constraints = {"sums": cp.sum(cp.reshape(q, support.shape, order="C"), axis=1) == 1}
    for name, chosen in (("at_most", ~rows.equal), ("equal", rows.equal)):
        if chosen.any():
            left, right = rows.even.matrix[chosen] @ q, rows.even.ends[chosen]
            constraints[name] = left <= right if name == "at_most" else left == right
    for k, cone in enumerate(cones):
        variables[f"parts{k}"] = parts = cp.Variable(len(cone.offset), name=f"parts{k}")
        constraints[f"parts{k}"] = parts == cone.matrix @ q + cone.offset
        constraints[f"cone{k}"] = cp.SOC(parts[0] if excess is None else parts[0] + excess, parts[1:])
    return q, variables, constraints


def cone_interior(
    rows: LinearRows,
    cones: Sequence[ConeRows],
    support: np.ndarray,
    order: Sequence[str],
    secrets: Secrets,
    tied: TiedEntries,
) -> ConeInterior | None:
    """Minimise e over mechanisms that meet the rows, where cones and limits may be passed by e; None if no solver answers.

    Parameters
    ----------
    support : (rows, outputs) of bool
        Entries that need not be 0.
    order : sequence of str
        The solvers to try in turn.
    secrets : Secrets
    tied : TiedEntries
        Of which entries the limits are about.
    """
    excess = cp.Variable(name="excess")
    q, variables, own = demanded(rows, cones, support, excess)
    Q = cp.reshape(q[tied.numbers.reshape(-1)], tied.numbers.shape, order="C")
    constraints = {"deepest": excess >= -DEEPEST} | own | secrets.model(Q, excess)[1]
    problem = cp.Problem(cp.Minimize(excess), list(constraints.values()))
    for name, settings in ladder([name for name in order if name != OWN]):
        made = attempt(
            problem, {"z": variables["z"], "excess": excess}, constraints, name, settings, time_limit=SECONDS
        )
        if {"z", "excess"} <= made.point.keys():
            answer = _answer(made.point, made.duals, rows, support, len(cones))
            return replace(answer, tangents=secrets.listed(secrets.project(made.duals, tied.numbers.shape[1])))
        if made.hung:
            break
    return None


def _answer(
    point: Mapping[str, Floats], duals: Mapping[str, Floats], rows: LinearRows, support: np.ndarray, cones: int
) -> ConeInterior:
    full = np.zeros(support.shape)
    full[support] = np.maximum(point["z"], 0.0)
    multipliers = tuple(duals.get(f"parts{k}", np.zeros(1)) for k in range(cones))
    laws = full / full.sum(axis=1, keepdims=True)
    return ConeInterior(laws, float(point["excess"]), rows.prices(duals), multipliers)
