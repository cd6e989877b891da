"""A mechanism as far inside cones and limits about secrets as linear rows allow; or multipliers which say that they allow none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_matrix

from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.demands import ConeRows, LinearRows
from dalenius.programs.secrets import Constraints, Secrets, Tangent, Variables
from dalenius.programs.solvers import OWN, attempt, ladder

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
            left, right = rows.matrix[chosen] @ q, rows.ends[chosen]
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
    full, prices = np.zeros(support.shape), np.zeros(len(rows.ends))
    full[support] = np.maximum(point["z"], 0.0)
    if "at_most" in duals:
        prices[~rows.equal] = np.maximum(duals["at_most"], 0.0)
    if "equal" in duals:
        prices[rows.equal] = duals["equal"]
    multipliers = tuple(duals.get(f"parts{k}", np.zeros(1)) for k in range(cones))
    return ConeInterior(full / full.sum(axis=1, keepdims=True), float(point["excess"]), prices, multipliers)
