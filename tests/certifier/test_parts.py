"""Multipliers and conflicts by the names of constraints, rays, and the sizes of a model."""

import json
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import campaigns
import planted
from campaigns import draws, each
from cvxcertify import Claim, Standing, certify
from cvxcertify.check import check_interval
from cvxcertify.derive import derived

x, y = cp.Variable(3, name="x"), cp.Variable(name="y")
P = cp.Variable((2, 2), PSD=True, name="P")


def named(constraint, name):
    return constraint.set_label(name)


def test_every_row_is_of_one_part():
    """Of constraints, atoms that two of them share, attributes of the model's variables and of those of an atom."""
    shared = cp.norm(x)
    models = [planted.planted(np.random.default_rng(seed)).problem for seed in range(draws(6, 60))]
    models.append(cp.Problem(cp.Minimize(shared), [shared <= 2, shared <= 3 + y, y == 1, y == 1, P[0, 1] == y]))
    models.append(cp.Problem(cp.Maximize(cp.von_neumann_entr(P)), [cp.trace(P) == 1]))
    odd = [
        named(P[0] <= 1, "P, as declared"),
        named(cp.trace(P) == 1, "the objective"),
        named(P[1] <= 1, "the objective"),
    ]
    models.append(cp.Problem(cp.Minimize(cp.exp(P[0, 1])), odd))
    for problem in models:
        model = derived(problem)
        rows = [row for part in model.parts for row in part.rows + part.atoms]
        assert sorted(rows) == list(range(len(model.instance.b)))
        assert len({part.name for part in model.parts}) == len(model.parts)
        said = {part.constraint.id for part in model.parts if part.constraint is not None}
        assert said == {constraint.id for constraint in problem.constraints}


def test_multipliers_are_those_that_the_modelling_language_has():
    """With its signs and shapes, for a minimum and for a maximum."""
    least = named(cp.reshape(x[:2], (1, 2), order="F") >= np.array([[0.125, 0.25]]), "least")
    cone, budget = named(cp.SOC(y, x), "cone"), named(cp.sum(x) + P[0, 0] == 1, "budget")
    matrix = named(cp.bmat([[P[0, 0], x[0]], [x[0], 1.0]]) >> 0, "matrix")
    entropy = named(cp.ExpCone(-x[:2], np.ones(2), P[1, :] + 2), "exponential")
    constraints = [least, cone, budget, matrix, entropy, P[0, 1] == 0.5]
    cost = cp.sum(cp.multiply([1.0, 2.0, 4.0], x)) + 8.0 * y + cp.trace(P)
    for goal in (cp.Minimize(cost), cp.Maximize(-cost)):
        problem = cp.Problem(goal, constraints)
        found = certify(problem)
        problem.solve(solver="CLARABEL")
        for constraint in (least, budget, matrix):
            assert found.duals[constraint.label] == pytest.approx(np.array(constraint.dual_value), abs=1e-4)
        for constraint in (cone, entropy):
            said = np.column_stack(
                [
                    np.atleast_2d(part).reshape(-1, found.duals[constraint.label].shape[0]).T
                    for part in constraint.dual_value
                ]
            )
            assert found.duals[constraint.label] == pytest.approx(said, abs=1e-4)
        assert found.duals["P, as declared"].shape == (3,)


Q = np.array([0.125, 0.25, 0.25, 0.375])
p = cp.Variable(4, name="p")
CONFLICTS = {  # what contradicts each other, in parts of which some have nothing to do with it, and how far each would have to give
    "ball": ([cp.norm(x) <= 1, named(x[0] >= 1.5, "floor"), x[1] >= -3], {"PnormApprox(x, 2) <= 1.0": 0.5, "floor": 0.5}),
    "ranges": ([y >= 1, named(y <= 0, "top"), x[0] <= y], {"1.0 <= y": 1, "top": 1}),
    "one of two": ([y >= 2, named(y <= 1, "first"), named(y <= 1.5, "second")], {"2.0 <= y": 1, "first": 1}),
    "equation": ([named(cp.sum(x) == 3, "sum"), named(x <= 0.5, "each")], {"sum": 1.5, "each": 0.5}),
    "matrix": ([P[0, 1] >= 2, P[0, 0] <= 1, P[1, 1] <= 1],
               {"2.0 <= P[0, 1]": 1, "P[0, 0] <= 1.0": 3, "P[1, 1] <= 1.0": 3, "P, as declared": 1}),
    "domain": ([named(cp.log(y) >= x[0], "log"), y <= -1, x == 0], {"y <= -1.0": 1, "log": None}),
    "entropy": ([cp.sum(p) == 1, named(p[0] >= 0.25, "first"), named(cp.sum(cp.rel_entr(p, Q)) <= 0.01, "entropy")],
                {"Sum(p, None, False) == 1.0": None, "first": None, "entropy": 0.0478}),
    "power": ([named(cp.power(y, 3, approx=False) <= 1, "cube"), y >= 2], {"2.0 <= y": 1, "cube": 7}),
    "linear": ([x[0] + x[1] <= 1, x[0] - x[1] <= -1, named(x[0] >= 0.5, "first"), y >= 0],
               {"x[0] + x[1] <= 1.0": 1, "x[0] + -(x[1]) <= -1.0": 1, "first": 0.5}),
    "rounding": ([x >= [0.1, 0.2, 0.3], named(cp.sum(x) <= 0.6, "sum")],
                 {"[0.1 0.2 0.3] <= x": None, "sum": Fraction(0.1) + Fraction(0.2) + Fraction(0.3) - Fraction(0.6)}),
}  # fmt: skip
LINEAR = ("ranges", "one of two", "equation", "linear", "rounding")


def relaxed(constraint, by):
    """The same with so much more on the right, or on either side of an equation."""
    left, right = constraint.args
    return cp.abs(left - right) <= by if isinstance(constraint, cp.constraints.Equality) else left - right <= by


@each("name", *CONFLICTS, every=4)
def test_a_conflict_has_its_constraints_and_what_they_would_have_to_give(name):
    constraints, needed = CONFLICTS[name]
    found = certify(cp.Problem(cp.Minimize(y + cp.sum(x) + cp.trace(P) + cp.sum(p)), constraints))
    assert (found.status, found.claim) == (Standing.INFEASIBLE, Claim.MODEL)
    assert set(found.conflict) == set(needed)
    for part, most in needed.items():
        assert most is None or 0 < found.conflict[part] <= most
        assert name not in LINEAR or most is None or found.conflict[part] >= 0.999 * float(most)
        assert part in found.advice
    verdict = check_interval(found.proof.encode())
    (told,) = (line for line in verdict.lines if line.startswith("these contradict each other: "))
    assert all(part in told for part in needed)
    for constraint in constraints if name in ("ball", "entropy", "power") and campaigns.THOROUGH else ():
        least = found.conflict.get(constraint.label, 0.0)
        rest = [other for other in constraints if other is not constraint]
        assert (
            certify(cp.Problem(cp.Minimize(0 * y), [*rest, relaxed(constraint, 0.99 * least)])).status
            is Standing.INFEASIBLE
        )


def test_what_goes_on_for_ever_is_named():
    found = certify(cp.Problem(cp.Minimize(cp.sum(x) + y), [cp.norm(x[:2]) <= 1, y >= 0]))
    assert found.status is Standing.UNBOUNDED
    assert list(found.ray) == ["x"]
    assert found.ray["x"][2] < 0.0 == found.ray["x"][0]
    assert found.advice == "bound what goes on for ever: x"


def test_statistics():
    found = certify(cp.Problem(cp.Minimize(cp.norm(x) + 8.0 * y), [x >= 0.25, cp.sum(x) == 3, cp.exp(y) <= 2, P >> 0]))
    assert dict(found.statistics) == {
        "columns": 9, "rows": 18, "entries": 19, "zero": 1, "nonnegative": 4, "second-order": 1, "exponential": 1, "semidefinite": 2,
        "least number": 0.25, "largest number": 8.0,
    }  # fmt: skip


def test_forged_names_are_refused():
    """Of a row that the proof uses and no part has, of one that two have, and of no rows."""
    honest = json.loads(certify(cp.Problem(cp.Minimize(y), CONFLICTS["equation"][0])).proof)
    assert check_interval(json.dumps(honest).encode()).proved
    for parts in (
        [],
        {},
        {"sum": [[0], []]},
        {"sum": [[0], []], "each": [[0, 1, 2, 3], []]},
        {"sum": [[0, 99], []]},
        {"sum": 1},
        {"sum": [[0]]},
    ):
        assert not check_interval(json.dumps(honest | {"constraints": parts}).encode()).proved
    del honest["constraints"]  # files of before have none
    assert check_interval(json.dumps(honest).encode()).proved
