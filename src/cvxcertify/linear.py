"""A few unknowns that make up for what sparse equations lack, exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.linalg import qr

from cvxcertify.instance import Floats, Terms, as_float, total

MOST = 2000  # equations that need elimination
RANK = 1e-9  # relative; below, an equation counts as one that the others imply


def made_up(equations: Sequence[Terms], lacks: Sequence[fmpq], reach: Floats) -> dict[int, fmpq] | None:
    """Changes d of some unknowns with equations[k] d = lacks[k] for all k, exactly; None if none were found.

    Parameters
    ----------
    equations : sequence of dict of unknown -> coefficient
    lacks : sequence of fmpq
    reach : (unknowns,) array
        How far each unknown can be changed at little cost; those with a large reach are changed.

    Notes
    -----
    Equations with an unknown of their own are put off until the others are solved: then that unknown alone is changed.

    >>> made_up([{0: fmpq(1), 1: fmpq(1)}, {1: fmpq(3), 2: fmpq(1)}], [fmpq(1), fmpq(1)], np.array([1.0, 9.0, 0.1]))
    {1: 1, 2: -2}
    """
    owners: dict[int, set[int]] = {}
    for k, equation in enumerate(equations):
        for j in equation:
            owners.setdefault(j, set()).add(k)
    left, later = set(range(len(equations))), list[tuple[int, int]]()
    waiting = list(left)
    while waiting:
        k = waiting.pop()
        if k not in left:
            continue
        single = [j for j in equations[k] if len(owners[j]) == 1 and reach[j] > 0.0]
        if not single:
            continue
        own = max(single, key=lambda j: reach[j] * abs(as_float(equations[k][j])))
        later.append((k, own))
        left.discard(k)
        for j in equations[k]:
            owners[j].discard(k)
            waiting += owners[j] if len(owners[j]) == 1 else ()
    found = _eliminated(equations, lacks, sorted(left), reach)
    if found is None:
        return None
    for k, own in reversed(later):
        known = {j: x for j, x in equations[k].items() if j in found}
        found[own] = (lacks[k] - total(known, found, fmpq(0))) / equations[k][own]
    return found


def _eliminated(
    equations: Sequence[Terms], lacks: Sequence[fmpq], left: Sequence[int], reach: Floats
) -> dict[int, fmpq] | None:
    """The solution on as many unknowns as there are independent equations; None if the others then fail."""
    if not any(lacks[k] for k in left):
        return {}
    unknowns = sorted({j for k in left for j in equations[k] if reach[j] > 0.0})
    if len(left) > MOST or not unknowns:
        return None
    numbers = {j: m for m, j in enumerate(unknowns)}
    dense = np.zeros((len(left), len(unknowns)))
    for m, k in enumerate(left):
        for j, x in equations[k].items():
            if j in numbers:
                dense[m, numbers[j]] = as_float(x) * reach[j]
    dense /= np.maximum(np.abs(dense).max(axis=1, keepdims=True), 1e-300)
    rank, picked = _independent(dense)
    _, rows = _independent(dense[:, picked[:rank]].T)
    chosen, places = [left[k] for k in rows[:rank]], [unknowns[m] for m in picked[:rank]]
    solution = _solved([equations[k] for k in chosen], [lacks[k] for k in chosen], places)
    if solution is None:
        return None
    for k in set(left).difference(chosen):  # those that the others seemed to imply
        if total({j: x for j, x in equations[k].items() if j in solution}, solution, fmpq(0)) != lacks[k]:
            return None
    return solution


def _independent(dense: Floats) -> tuple[int, Sequence[int]]:
    """Number of independent columns, and all columns, such first."""
    triangle, order = qr(dense, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    return int(np.sum(diagonal > RANK * diagonal.max(initial=1e-300))), [int(k) for k in order]


def _solved(equations: Sequence[Terms], lacks: Sequence[fmpq], places: Sequence[int]) -> dict[int, fmpq] | None:
    matrix, ends = fmpq_mat(len(places), len(places)), fmpq_mat(len(places), 1)
    for k, equation in enumerate(equations):
        ends[k, 0] = lacks[k]
        for m, j in enumerate(places):
            matrix[k, m] = equation.get(j, fmpq(0))
    try:
        found = matrix.solve(ends)
    except ZeroDivisionError:
        return None
    return {j: found[m, 0] for m, j in enumerate(places)}
