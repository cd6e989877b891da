"""The table of docs/atoms.md, cell by cell: curvature, parameters, cones, claim; values by definition and by `dl.measure`."""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each
from cvxcertify.derive import derived
from dalenius import atoms
from dalenius.programs import certify
from definitions import information

PAGE = (Path(__file__).parents[3] / "docs" / "atoms.md").read_text()
TABLE = {
    cells[0].split("(")[0].strip("` "): cells
    for cells in (
        [cell.strip() for cell in line.strip("|\n").split("|")] for line in re.findall(r"^\| `.*", PAGE, re.M)
    )
}
LAW = np.array([0.5, 0.3, 0.2])
OTHER = np.array([0.2, 0.25, 0.55])
MASSES = np.array([[0.4, 0.1, 0.05], [0.1, 0.2, 0.15]])
PRIORS = np.array([[[0.2, 0.05, 0.05], [0.0, 0.1, 0.1]], [[0.1, 0.05, 0.0], [0.05, 0.1, 0.2]]])
CHANNEL = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
DISTANCE = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
COUNTS = np.log([1.0, 3.0, 2.0])


@dataclass
class Case:
    """An atom of X (3, 3), whose rows are laws, and of data by name, and its value at numbers by definition."""

    apply: Callable
    exact: Callable
    data: dict = field(default_factory=dict)


def kl(p, q):
    return np.sum(p * np.log(p / q))


def at(joint):
    """u and pi r."""
    return joint, np.outer(joint.sum(axis=1), joint.sum(axis=0))


def norms(X, law, alpha):
    return np.sum((law @ X**alpha) ** (1.0 / alpha))


def of_two(atom, exact, **data):
    """A divergence of two rows; its data p and q take their place one after the other."""
    return Case(
        lambda X, p=None, q=None, **more: atom(X[0] if p is None else p, X[1] if q is None else q, **more),
        lambda X, p=None, q=None, **more: exact(X[0] if p is None else p, X[1] if q is None else q, **more),
        {"p": LAW, "q": OTHER} | data,
    )


CASES = {
    "leakage": Case(atoms.leakage, lambda X, prior: information(prior @ X), {"prior": MASSES}),
    "mutual_information": Case(
        lambda X, row_law: atoms.mutual_information(X / 3.0, row_law),
        lambda X, row_law: kl(X / 3.0, np.outer(row_law, X.sum(axis=0) / 3.0)),
        {"row_law": np.full(3, 1 / 3)},
    ),
    "information_of_prior": Case(
        lambda X, channel: atoms.information_of_prior(X[0], channel),
        lambda X, channel: information(X[0][:, None] * channel),
        {"channel": CHANNEL},
    ),
    "conditional_information": Case(
        atoms.conditional_information, lambda X, priors: information(priors @ X).sum(), {"priors": PRIORS}
    ),
    "conditional_entropy": Case(
        lambda X: atoms.conditional_entropy(X / 3.0), lambda X: -np.sum(X / 3.0 * np.log(X / X.sum(axis=0)))
    ),
    "concave_entropy": Case(
        lambda X, log_counts, weights: atoms.concave_entropy(X[0], log_counts=log_counts, weights=weights),
        lambda X, log_counts, weights: weights @ (X[0] * (log_counts - np.log(X[0]))),
        {"log_counts": COUNTS, "weights": OTHER},
    ),
    "divergence": of_two(atoms.divergence, kl),
    "chi_square": of_two(atoms.chi_square, lambda p, q: np.sum((p - q) ** 2 / q)),
    "total_variation": of_two(atoms.total_variation, lambda p, q: np.abs(p - q).sum()),
    "hellinger": of_two(atoms.hellinger, lambda p, q: 0.5 * np.sum((np.sqrt(p) - np.sqrt(q)) ** 2)),
    "jensen_shannon": of_two(atoms.jensen_shannon, lambda p, q: (kl(p, (p + q) / 2) + kl(q, (p + q) / 2)) / 2),
    "hockey_stick": of_two(
        atoms.hockey_stick,
        lambda p, q, epsilon: max(  # the best test of p against q, by brute force
            sum(p[k] - math.exp(epsilon) * q[k] for k in range(3) if event >> k & 1) for event in range(8)
        ),
        epsilon=0.25,
    ),
    "renyi": of_two(lambda p, q: atoms.renyi(p, q, 0.25), lambda p, q: math.log(np.sum(p**0.25 * q**0.75)) / -0.75),
    "f_divergence": Case(
        lambda X: atoms.f_divergence(X[0], LAW, lambda t: cp.huber(t - 1.0, 0.5)),
        lambda X: sum(q * (t * t if t <= 0.5 else t - 0.25) for q, t in zip(LAW, abs(X[0] / LAW - 1.0), strict=True)),
    ),
    "joint_and_product": Case(
        lambda X, prior: sum(cp.sum(cp.multiply(DISTANCE[:2], part)) for part in atoms.joint_and_product(X, prior)),
        lambda X, prior: sum(np.sum(DISTANCE[:2] * part) for part in at(prior @ X)),
        {"prior": MASSES},
    ),
    "guessing": Case(atoms.guessing, lambda X, prior: max_of_strategies(prior @ X), {"prior": MASSES}),
    "bayes_advantage": Case(
        atoms.bayes_advantage,
        lambda X, prior: max_of_strategies(prior @ X) - prior.sum(axis=1).max(),
        {"prior": MASSES},
    ),
    "exp_min_entropy_leakage": Case(
        atoms.exp_min_entropy_leakage,
        lambda X, prior: max_of_strategies(prior @ X) / prior.sum(axis=1).max(),
        {"prior": MASSES},
    ),
    "exp_maximal_leakage": Case(atoms.exp_maximal_leakage, lambda X: max_of_strategies(X)),
    "sibson": Case(lambda X, law: atoms.sibson(X, law, 0.5), lambda X, law: -np.log(norms(X, law, 0.5)), {"law": LAW}),
    "exp_sibson": Case(lambda X, law: atoms.exp_sibson(X, law, 2.0), lambda X, law: norms(X, law, 2.0), {"law": LAW}),
    "expected_cost": Case(atoms.expected_cost, lambda X, cost: np.sum(cost * X), {"cost": DISTANCE}),
    "expected_distortion": Case(
        atoms.expected_distortion,
        lambda X, law, distortion: law @ np.sum(distortion * X, axis=1),
        {"law": LAW, "distortion": DISTANCE},
    ),
    "entropy_at_least": Case(
        lambda X, b, log_counts: atoms.entropy_at_least(X[0], b, log_counts=log_counts),
        lambda X, b, log_counts: b - X[0] @ (log_counts - np.log(X[0])),
        {"b": 1.55, "log_counts": COUNTS},
    ),
    "local_dp": Case(
        atoms.local_dp, lambda X, epsilon: np.log(X.max(axis=0) / X.min(axis=0)).max() - epsilon, {"epsilon": 0.75}
    ),
    "pointwise_leakage_at_most": Case(
        atoms.pointwise_leakage_at_most,
        lambda X, law, epsilon: np.log(X.max(axis=0) / (law @ X)).max() - epsilon,
        {"law": LAW, "epsilon": 0.5},
    ),
    "maximal_leakage_at_most": Case(
        atoms.maximal_leakage_at_most,
        lambda X, epsilon: math.log(max_of_strategies(X)) - epsilon,
        {"epsilon": 0.25},
    ),
    "maximal_correlation_at_most": Case(
        atoms.maximal_correlation_at_most,
        lambda X, prior, rho: second_singular_value(prior @ X) - rho,
        {"prior": MASSES, "rho": 0.25},
    ),
}


def max_of_strategies(joint):
    """By brute force over what is guessed at which output."""
    letters, outputs = joint.shape
    return max(sum(joint[code // letters**y % letters, y] for y in range(outputs)) for code in range(letters**outputs))


def second_singular_value(joint):
    u, product = at(joint)
    return np.linalg.svd(u / np.sqrt(product), compute_uv=False)[1]


def rows(count):
    rng = np.random.default_rng(38)
    return [0.98 * rng.dirichlet(np.full(3, 0.7), size=3) + 0.02 / 3.0 for _ in range(count)]


def variable(value=None):
    X = cp.Variable((3, 3), nonneg=True, name="X")
    if value is not None:
        X.save_value(value)
    return X


def defaults(name):
    """Data that are arguments of their own; a divergence's p and q may also vary."""
    return {key: value for key, value in CASES[name].data.items() if key not in ("p", "q")}


def is_limit(name):
    return TABLE[name][3] == "limit"


def constraints(limit):
    """A limit is one constraint; an entropy bound is a list."""
    return limit if isinstance(limit, list) else [limit]


def model(name, **data):
    """A small model with the atom, which its own objective, or a limit, makes bounded and not trivial."""
    X = variable()
    found, cost = CASES[name].apply(X, **data), atoms.expected_cost(X, DISTANCE / 3.0)
    laws = [cp.sum(X, axis=1) == 1]
    if is_limit(name):
        goal = cp.Maximize(X[0, 1] + X[0, 0] / 2) if name == "entropy_at_least" else cp.Minimize(cost)
        return cp.Problem(goal, [*laws, *constraints(found)])
    if TABLE[name][3] == "concave":
        return cp.Problem(cp.Maximize(found + 0.1 * X[0, 1]), laws)
    apart = [cost <= 0.1] if TABLE[name][3] == "convex" else [X >= 0.1]
    return cp.Problem(cp.Minimize(found), [*laws, *apart])


@pytest.mark.parametrize("name", TABLE)
def test_the_table_is_that_of_the_room_and_signatures_are_those_of_the_code(name):
    own = inspect.signature(getattr(atoms, name)).parameters
    said = re.fullmatch(r"`\w+\(([\w, ]*)\)`", TABLE[name][0])[1].split(", ")
    assert said == list(own)[: len(said)]
    assert "Raises\n" in (words := inspect.cleandoc(getattr(atoms, name).__doc__))
    assert {*TABLE, "letter_masses"} == {*dir(atoms)} == {*CASES, "letter_masses"}
    assert "ecause*" in words
    assert "DPP" in words
    assert ">>> " in words


@pytest.mark.parametrize("name", TABLE)
def test_values_and_subgradients_are_those_of_the_definition(name):
    case = CASES[name]
    for value in rows(draws(6, 20)):
        X = variable(value)
        found, exact = case.apply(X, **defaults(name)), case.exact(value, **defaults(name))
        if is_limit(name):
            kept = all(np.max(constraint.violation()) <= 1e-12 for constraint in constraints(found))
            assert kept == (exact <= 0.0), exact
            continue
        assert float(found.value) == pytest.approx(exact, rel=1e-10, abs=1e-12)
        step = np.random.default_rng(1).normal(size=(3, 3)) * 1e-6
        step -= step.mean(axis=1, keepdims=True)  # rows stay laws
        there, back = (case.exact(value + sign * step, **defaults(name)) for sign in (1.0, -1.0))
        slope = float(np.asarray(found.grad[X].toarray()).reshape(3, 3, order="F").ravel() @ step.ravel())
        assert 2.0 * slope == pytest.approx(there - back, rel=1e-4, abs=1e-12)


@each("name", *TABLE)
def test_curvature_and_cones_are_those_of_the_table(name):
    _, _, _, curvature, _, cones, _, _ = TABLE[name]
    problem = model(name, **defaults(name))
    assert problem.is_dcp()
    if curvature != "limit":
        assert CASES[name].apply(variable(), **defaults(name)).curvature.lower() == curvature
    kinds = {cone.kind for cone in derived(problem).instance.cones} - {"zero", "nonnegative"}
    assert kinds == {*cones.split(", ")} - {"linear", "of f"} or name == "f_divergence"


def parameter(key, value):
    """A parameter for this data, or one for each of several matrices."""
    if np.ndim(value) == 3:
        return [parameter(key, part) for part in value]
    return cp.Parameter(np.shape(value), nonneg=key not in ("epsilon", "log_counts"), name=key)


def put(given, value):
    for one, part in zip(given, value, strict=True) if isinstance(given, list) else [(given, value)]:
        one.value = part


def other(value):
    """Other data of the same kind: a smaller number, or blurred laws."""
    values = np.asarray(value)
    return 0.9 * values if not values.ndim else 0.9 * values + 0.1 * np.mean(values, axis=-1, keepdims=True)


@each("name", *TABLE, every=2)
def test_a_model_is_dpp_in_the_parameters_of_the_table_and_in_no_others(name):
    case = CASES[name]
    groups = [{*words.split(", ")} - {"-"} for words in TABLE[name][4].split(" or ")]
    for chosen in (part for group in groups for part in (group, *({key} for key in group))):
        if {"p", "q"} <= chosen:  # nothing would vary
            continue
        given = {key: value for key, value in case.data.items() if key in chosen or key not in ("p", "q")}
        made = given | {key: parameter(key, given[key]) for key in chosen}
        problem = model(name, **made)
        assert problem.is_dcp(dpp=True), chosen
        for data in (given, given | {key: other(given[key]) for key in chosen}):
            for key in chosen:
                put(made[key], data[key])
            fresh = model(name, **data).solve(solver="CLARABEL")
            assert problem.solve(solver="CLARABEL") == pytest.approx(fresh, abs=1e-5), chosen
    if len(groups) > 1:
        assert not model(name, **{key: parameter(key, value) for key, value in case.data.items()}).is_dcp(dpp=True)
    assert {*case.data} == set().union(*groups)


@pytest.mark.parametrize("name", TABLE)
def test_a_model_is_certified_to_what_the_table_claims(name):
    found = certify(model(name, **defaults(name)))
    assert found.gap <= 1e-8
    assert found.claim.value == TABLE[name][6], found.rounded


PI = MASSES.sum(axis=1)
MEASURES = {  # of a channel Q, about a secret with these masses
    "mutual_information": lambda Q: atoms.leakage(Q, MASSES),
    "chi_square": lambda Q: atoms.chi_square(*atoms.joint_and_product(Q, MASSES)),
    "total_variation": lambda Q: atoms.total_variation(*atoms.joint_and_product(Q, MASSES)),
    "bayes_advantage": lambda Q: atoms.bayes_advantage(Q, MASSES),
    "min_entropy_leakage": lambda Q: cp.log(atoms.exp_min_entropy_leakage(Q, MASSES)),
    "maximal_leakage": lambda Q: cp.log(atoms.exp_maximal_leakage(MASSES / PI[:, None] @ Q)),
    "strong_total_variation": lambda Q: cp.max(atoms.total_variation(MASSES / PI[:, None] @ Q, MASSES.sum(axis=0) @ Q)),
    "local_dp_delta(0.5)": lambda Q: cp.maximum(
        *(atoms.hockey_stick(*(MASSES / PI[:, None])[order] @ Q, 0.5) for order in ([0, 1], [1, 0]))
    ),
}


def test_values_are_those_of_measures():
    for Q in rows(3):
        found = {row.name: row for row in dl.measure(Q, prior=MASSES, epsilon=[0.5]).rows}
        for name, made in MEASURES.items():
            value = float(made(cp.Constant(Q)).value)
            assert found[name].lower - 1e-12 <= value <= found[name].upper + 1e-12, name
        rho = found["maximal_correlation"]
        for limit, kept in ((rho.upper + 1e-9, True), (rho.lower - 1e-9, False)):
            constraint = atoms.maximal_correlation_at_most(Q, MASSES, limit)
            assert (constraint.violation() <= 1e-14) == kept


@each(
    "atom",
    atoms.divergence,
    atoms.chi_square,
    atoms.total_variation,
    atoms.hellinger,
    atoms.jensen_shannon,
    lambda p, q: atoms.hockey_stick(p, q, 0.1),
    lambda p, q: atoms.renyi(p, q, 0.5),
    lambda p, q: atoms.f_divergence(p, q, cp.square),
)
def test_of_a_matrix_and_a_vector_each_row_is_taken_by_itself(atom):
    X = rows(1)[0]
    each_row = atom(cp.Constant(X), LAW)
    assert each_row.shape == (3,)
    assert each_row.value == pytest.approx([float(atom(row, LAW).value) for row in X], abs=1e-14)


def test_letters_without_mass_are_left_out():
    silent, Q = np.vstack([MASSES, np.zeros(3)]), rows(1)[0]
    for atom in (atoms.leakage, atoms.guessing, lambda Q, prior: atoms.chi_square(*atoms.joint_and_product(Q, prior))):
        assert float(atom(Q, silent).value) == pytest.approx(float(atom(Q, MASSES).value), abs=1e-14)
    law, X = np.array([0.5, 0.5, 0.0]), variable()
    model = cp.Problem(cp.Minimize(atoms.leakage(X, law)), [cp.sum(X, axis=1) == 1, cp.trace(X) >= 2.5])
    assert certify(model).gap <= 1e-8


@each(
    "f, named",
    (lambda t: cp.square(t - 1.0), atoms.chi_square),
    (lambda t: cp.pos(t - 1.25), lambda p, q: atoms.hockey_stick(p, q, math.log(1.25))),
)
def test_an_f_divergence_of_laws_that_both_vary_is_the_named_one(f, named):
    X = variable()
    both = atoms.joint_and_product(X, LAW)
    apart = [cp.sum(X, axis=1) == 1, atoms.expected_distortion(X, LAW, 1.0 - np.eye(3)) <= 0.2]
    least = certify(cp.Problem(cp.Minimize(atoms.f_divergence(*both, f)), apart))
    exact = certify(cp.Problem(cp.Minimize(named(*both)), apart))
    assert least.gap <= 1e-8
    assert least.claim.value == "conic form"
    assert max(least.lower, exact.lower) <= min(least.upper, exact.upper)
    law = cp.Variable(3, nonneg=True, name="law")
    each_row = cp.Problem(cp.Minimize(cp.max(atoms.f_divergence(CHANNEL, law, f))), [cp.sum(law) == 1])
    other = cp.Problem(cp.Minimize(cp.max(named(CHANNEL, law))), [cp.sum(law) == 1])
    assert each_row.solve(solver="CLARABEL") == pytest.approx(other.solve(solver="CLARABEL"), abs=1e-6)
    X.save_value(CHANNEL)
    assert float(atoms.f_divergence(*both, f).value) == pytest.approx(float(named(*both).value), abs=1e-6)


def test_a_limit_is_a_constraint_also_of_a_secret_with_one_letter():
    X, one = variable(), np.array([LAW])
    limits = [
        atoms.local_dp(X, 1.0),
        atoms.pointwise_leakage_at_most(X, LAW, 1.0),
        atoms.maximal_leakage_at_most(X, 1.0),
        atoms.maximal_correlation_at_most(X, MASSES, 0.5),
        atoms.maximal_correlation_at_most(X, one, 0.5),
    ]
    assert all(isinstance(limit, cp.Constraint) for limit in limits)
    told = cp.Problem(cp.Maximize(cp.trace(X)), [cp.sum(X, axis=1) == 1, limits[-1]])
    assert certify(told).lower == pytest.approx(3.0), "who has one letter is told nothing by any release"
