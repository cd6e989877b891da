"""Suprema over classes of priors: against cvxpy, against laws of the class, and exactly; and which measures are not concave."""

import math

import cvxpy as cp
import numpy as np
import pytest
from flint import arb, fmpq

import dalenius as dl
from campaigns import draws, each
from dalenius.information import measures as m
from dalenius.measures.evaluation import largest_information
from dalenius.measures.subjects import exactly


def between(p: cp.Variable, first: np.ndarray, second: np.ndarray) -> list[cp.Constraint]:
    share = cp.Variable()
    return [p == share * first + (1 - share) * second, share >= 0, share <= 1]


def classes(law: np.ndarray) -> dict[str, tuple[m.PriorClass, object]]:
    """Each class around a law, and its constraints in cvxpy."""
    away = np.roll(law, 1)
    return {
        "all": (m.AllPriors(), lambda p: []),
        "floor": (m.PriorFloor(0.05), lambda p: [p >= 0.05]),
        "box": (m.PriorBox(law * 0.7, law * 1.3), lambda p: [p >= law * 0.7, p <= law * 1.3]),
        "l1": (m.PriorBall(law, 0.3), lambda p: [cp.norm1(p - law) <= 0.3]),
        "kl": (m.KLBall(law, 0.05), lambda p: [cp.sum(cp.rel_entr(p, law)) <= 0.05]),
        "chi2": (m.ChiSquareBall(law, 0.1), lambda p: [cp.sum(cp.square(p - law) / law) <= 0.1]),
        "polytope": (m.PriorPolytope([law, away]), lambda p: between(p, law, away)),
    }


def largest_by_cvxpy(channel: np.ndarray, constraints) -> float:
    p = cp.Variable(len(channel), nonneg=True)
    negentropy = np.sum(channel * np.log(channel), axis=1)
    problem = cp.Problem(
        cp.Maximize(cp.sum(cp.entr(channel.T @ p)) + negentropy @ p), [cp.sum(p) == 1, *constraints(p)]
    )
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("seed", range(draws(1, 12)))
def test_information_against_a_cone_program(seed):
    draw = np.random.default_rng(seed)
    weights, counts = draw.integers(1, 9, 4), draw.integers(1, 9, (4, 3))
    law, channel = weights / weights.sum(), counts / counts.sum(axis=1, keepdims=True)
    for name, (priors, constraints) in classes(law).items():
        found = dl.measure(channel, prior=priors)
        ends = found["mutual_information"]
        assert ends.upper - ends.lower <= 1e-8, name
        assert ends.lower - 1e-6 <= largest_by_cvxpy(channel, constraints) <= ends.upper + 1e-6, name
        for _ in range(20):
            mixed = law + 0.1 * (draw.dirichlet(np.ones(4)) - law)
            if name == "all" or (name == "floor" and mixed.min() >= 0.05):
                assert m.mutual_information(channel, mixed) <= ends.upper + 1e-12
                assert (
                    m.pointwise_maximal_leakage(channel, mixed).max()
                    <= found["pointwise_maximal_leakage"].upper + 1e-12
                )
                assert m.information_privacy(channel, mixed) <= found["information_privacy"].upper + 1e-12


def test_exact_laws_are_in_the_class_and_below_is_below():
    draw = np.random.default_rng(3)
    law = np.array([0.4, 0.3, 0.2, 0.1])
    for name, (priors, _) in classes(law).items():
        exact = exactly(priors)
        for _ in range(draws(5, 100)):
            k = np.array([fmpq(int(x), 100) for x in draw.integers(-50, 50, 4)], dtype=object)
            inside, least = exact.exact_law(k), exact.below(k)
            assert sum(inside) == 1, name
            assert min(inside) >= 0, name
            mean = (inside * k).sum()
            assert arb(least).lower() <= arb(mean).upper(), name
            assert abs(float(arb(mean)) - float(arb(least))) <= 1e-7, name
            assert math.isclose(
                float(priors.least_mean(np.array([float(arb(x)) for x in k]))), float(arb(mean)), abs_tol=1e-7
            )
            if name == "kl":
                assert arb(exact.distance(inside, exact.center)) <= arb(exact.radius)
            if name == "chi2":
                assert exact.distance(inside, exact.center) <= exact.radius


def test_a_bad_search_makes_the_interval_wide_not_wrong(monkeypatch):
    rows = np.array([[fmpq(7, 10), fmpq(3, 10)], [fmpq(1, 5), fmpq(4, 5)]], dtype=object)
    good = largest_information(rows, m.AllPriors())
    monkeypatch.setattr(
        "dalenius.information.law_classes.best_mixture", lambda listed, *_, **__: np.eye(len(listed))[0]
    )
    monkeypatch.setattr("dalenius.information.law_classes.MOST_ROUNDS", 3)
    bad = largest_information(rows, m.AllPriors())
    assert bad.lower() <= good.upper()
    assert good.lower() <= bad.upper()
    assert bad.rad() > 1e-3


def test_inputs_that_no_prior_of_the_class_has_do_not_count():
    rows = [[0.5, 0.5], [0.4, 0.6], [1, 0]]
    polytope = dl.measure(rows, prior=m.PriorPolytope([[0.5, 0.5, 0], [0.2, 0.8, 0]]))
    alone = dl.measure(rows[:2], prior=m.PriorPolytope([[0.5, 0.5], [0.2, 0.8]]))
    for name in ("mutual_information", "pointwise_maximal_leakage", "information_privacy"):
        assert abs(polytope[name].upper - alone[name].upper) <= 1e-9
    assert polytope["pointwise_maximal_leakage"].exact == alone["pointwise_maximal_leakage"].exact


def test_an_irrational_mechanism_over_a_class():
    found = dl.measure(dl.randomized_response(1, k=3), prior=m.PriorBall(["1/3"] * 3, 0.2))
    assert all(row.upper - row.lower <= 1e-9 for row in found)
    assert found["pointwise_maximal_leakage"].upper < found["local_dp"].lower


CORNERS = np.random.default_rng(11)


def is_not_concave(measure) -> bool:
    """Whether the mean of two priors has less than the mean of their measures, clearly, for some channel."""
    for _ in range(200):
        channel, first, second = (
            CORNERS.dirichlet(np.ones(3), 3),
            CORNERS.dirichlet(np.ones(3)),
            CORNERS.dirichlet(np.ones(3)),
        )
        middle = measure(channel, (first + second) / 2)
        if middle < (measure(channel, first) + measure(channel, second)) / 2 - 1e-3:
            return True
    return False


def test_mutual_information_is_concave_in_the_prior_and_others_are_not():
    assert not is_not_concave(m.mutual_information)
    others = (m.total_variation, m.chi_square, m.maximal_correlation, m.bayes_advantage, m.min_entropy_leakage)
    for measure in (*others, m.strong_total_variation, m.strong_kl, m.strong_chi_square):
        assert is_not_concave(measure), measure


ERRORS = [
    (m.PriorBox([0.5, 0.5], [0.6, 0.6]), "prior: low needs a number for each of the 3 inputs, got 2"),
    (m.PriorBox([0.1] * 3, [0.2] * 3), "no law lies in this box"),
    (m.PriorFloor(0.5), "lower the floor"),
    (m.KLBall([0.5, 0.4, 0.2], 0.1), "prior: center must sum to 1"),
    (m.KLBall([0.5, 0.3, 0.2], -0.1), "must not be negative"),
]


@each("priors, message", *ERRORS)
def test_errors(priors, message):
    with pytest.raises(dl.errors.InputError) as error:
        dl.measure([[0.5, 0.5]] * 3, prior=priors)
    assert message in str(error.value)


def test_what_is_not_offered_over_a_class_is_said():
    """Each output by itself is, and the delta that needs no prior."""
    ball = m.PriorBall([0.5, 0.3, 0.2], 0.2)
    rows = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
    found = dl.measure(rows, prior=ball, outputs=True, epsilon=["log 2"], delta=["0.1"])
    each = [found[f"pointwise_maximal_leakage[{y}]"] for y in range(3)]
    assert max(row.upper for row in each) == found["pointwise_maximal_leakage"].upper
    assert "local_dp_delta(log 2)" in found
    assert "local_dp_epsilon(0.1)" in found
    for name in ("output_probability[0]", "information_privacy_delta(log 2)", "information_privacy_epsilon(0.1)"):
        with pytest.raises(dl.errors.InputError, match="has no bound over a set of priors"):
            found[name]
