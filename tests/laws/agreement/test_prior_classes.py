"""Suprema over classes of priors: against cvxpy, against laws of the class, and exactly; and which measures are not concave."""

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest
from flint import arb, fmpq

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.information import measures as m
from dalenius.measures.evaluation import largest_information
from dalenius.measures.subjects import exactly
from dalenius.model import sums as query_sums
from dalenius.model.adversaries.moment_priors import PriorMoment
from dalenius.model.sums import other_sums, record_types
from dalenius.reduction import record_selections


def between(p: cp.Variable, first: np.ndarray, second: np.ndarray) -> list[cp.Constraint]:
    share = cp.Variable()
    return [p == share * first + (1 - share) * second, share >= 0, share <= 1]


def classes(law: np.ndarray) -> dict[str, tuple[m.PriorClass, object, object]]:
    """Each class around a law, as a set of priors and as an adversary, and its constraints in cvxpy."""
    away, values = np.roll(law, 1), np.arange(4.0)
    mean = (round(law @ values, 6), round(law @ values, 6) + 0.125)
    low, high, wide = law * 0.7, law * 1.3, (law * 0.5, law * 1.5)
    return {
        "all": (m.AllPriors(), dl.AnyPrior(), lambda p: []),
        "floor": (m.PriorFloor(0.05), dl.FloorPriors("1/20"), lambda p: [p >= 0.05]),
        "box": (m.PriorBox(low, high), dl.BoxPriors(low, high), lambda p: [p >= low, p <= high]),
        "wide box": (m.PriorBox(*wide), dl.BoxPriors(*wide), lambda p: [p >= wide[0], p <= wide[1]]),
        "l1": (m.PriorBall(law, 0.3), dl.L1BallPriors(law, 0.3), lambda p: [cp.norm1(p - law) <= 0.3]),
        "kl": (m.KLBall(law, 0.05), dl.KLBallPriors(law, 0.05), lambda p: [cp.sum(cp.rel_entr(p, law)) <= 0.05]),
        "chi2": (
            m.ChiSquareBall(law, 0.1),
            dl.ChiSquareBallPriors(law, 0.1),
            lambda p: [cp.sum(cp.square(p - law) / law) <= 0.1],
        ),
        "moment": (
            PriorMoment(values, *mean),
            dl.adversaries.MomentPriors(values, *mean),
            lambda p: [values @ p >= mean[0], values @ p <= mean[1]],
        ),
        "polytope": (
            m.PriorPolytope([law, away]),
            dl.PolytopePriors([law, away]),
            lambda p: between(p, law, away),
        ),
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
    for name, (priors, _, constraints) in classes(law).items():
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
    for name, (priors, *_) in classes(law).items():
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


# Classes of laws as adversaries: against Clarabel, against laws of the class, and against listing the selections.


@pytest.mark.parametrize("seed", range(draws(1, 20)))
def test_one_record_against_a_cone_program(support, seed):
    draw = np.random.default_rng(seed)
    weights, counts = draw.integers(1, 9, 4), draw.integers(1, 9, (4, 3))
    law, channel = weights / weights.sum(), counts / counts.sum(axis=1, keepdims=True)
    for _, adversary, constraints in classes(law).values():
        problem = support.problem([4], dl.Identity(), dl.Channel(channel), adversary)
        result = dl.solve(problem, gap=1e-8)
        value = largest_by_cvxpy(channel, constraints)
        assert result.lower - 1e-6 <= value <= result.upper + 1e-6, adversary.kind
        assert result.gap <= 1e-8
        assert not result.refusals
        assert dl.verify(problem, result.certificate).proved
        assert m.mutual_information(channel, result.witness.masses.sum(axis=1)) >= result.lower - 1e-12


@each("query", dl.Count(), dl.Sum([0, 3, 1]), dl.Identity())
def test_several_records_are_their_selections(support, query):
    letters = 2 if query.kind == "count" else 3
    records, draw = dl.Records(2, alphabet=letters), np.random.default_rng(letters)
    rows = draw.dirichlet(np.full(3, 0.5), size=query.values(records).size)
    law = np.array([0.7, 0.3]) if letters == 2 else np.array([0.5, 0.3, 0.2])
    adversary = dl.L1BallPriors(law, 0.2)
    result = dl.solve(support.problem(records, query, dl.Channel(rows), adversary), gap=1e-9)
    inputs = np.array(support.inputs_of_datasets(support.problem(records, query, dl.Channel(rows), dl.ProductPriors())))
    grid = inputs.reshape(letters, letters)
    chosen = {*map(tuple, grid), *map(tuple, grid.T)}
    each = [dl.measure(rows[list(k)], prior=m.PriorBall(law, 0.2))["mutual_information"] for k in chosen]
    assert result.lower <= max(found.upper for found in each) + 1e-12
    assert max(found.lower for found in each) - 1e-12 <= result.upper
    assert result.gap <= 1e-9


def test_what_a_smaller_class_learns_is_no_more(support):
    channel = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
    law, before = [0.5, 0.3, 0.2], 0.0
    for radius in (0, 0.001, 0.02, 5):
        result = dl.solve(support.problem([3], dl.Identity(), dl.Channel(channel), dl.KLBallPriors(law, radius)))
        assert result.upper >= before
        before = result.lower
    everybody = dl.solve(support.problem([3], dl.Identity(), dl.Channel(channel), dl.AnyPrior()))
    assert result.lower <= everybody.upper
    assert everybody.lower <= result.upper


@pytest.mark.parametrize(
    "adversary", [dl.KLBallPriors([0.5, 0.3, 0.2], 0.02), dl.PolytopePriors([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])]
)
def test_designs(adversary):
    problem = support.design(
        dl.MinLeakage,
        dl.Records(1, alphabet=3),
        dl.Identity(),
        dl.Hamming(),
        0.2,
        adversary,
        law=dl.Iid([0.5, 0.3, 0.2]),
    )
    result = dl.solve(problem, gap=1e-3)
    assert result.gap <= 1e-3
    again = dl.solve(problem.release(result.mechanism.rows), gap=1e-6)
    assert again.lower <= result.upper
    assert result.lower <= again.upper


# Independent records and listed priors against listing every dataset.


MIXED = dl.Records(alphabets=[2, 3, 1, 2])
QUERIES = [
    dl.Parity(),
    dl.ModularSum(3),
    dl.Count(letters=[0, 1]),
    dl.Sum(),
    dl.Sum([-2, 5, 1]),
    dl.Sum([[0, 4], [6, 0, 4], [3], [-1, 1]]),
    dl.Threshold(2),
    dl.Table([(j * j) % 5 for j in range(12)]),
    dl.Identity(),
]


def question(support, query, adversary, *, seed=0, outputs=3):
    rows = np.random.default_rng(seed).dirichlet(np.full(outputs, 0.5), size=query.values(MIXED).size)
    return support.problem(MIXED, query, dl.Channel(rows), adversary)


def by_dataset(support, sizes, adversary, *, seed=0, outputs=3):
    rows = np.random.default_rng(seed).dirichlet(np.full(outputs, 0.3), size=int(np.prod(sizes)))
    return support.problem(sizes, None, dl.Channel(rows, inputs="dataset"), adversary)


def listed_selections(support, problem, record):
    """The distinct tuples of inputs of one record, by listing every dataset."""
    grid = np.array(support.inputs_of_datasets(problem)).reshape(problem.records.alphabets)
    return sorted(set(map(tuple, np.moveaxis(grid, record, -1).reshape(-1, grid.shape[record]).tolist())))


@pytest.mark.parametrize("shifts", [0, 64])
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.kind)
def test_selections_are_those_of_all_datasets(support, monkeypatch, query, shifts):
    monkeypatch.setattr(query_sums, "FEW_SHIFTS", shifts)
    problem = question(support, query, dl.ProductPriors())
    kinds = record_selections(problem)
    assert sum(kind.times for kind in kinds) == 3  # record 2 has one letter
    for kind in kinds:
        assert [tuple(row) for row in kind.inputs.tolist()] == listed_selections(support, problem, kind.record)


@pytest.mark.parametrize("shifts", [0, 64])
def test_sums_of_many_weighted_records(monkeypatch, shifts):
    monkeypatch.setattr(query_sums, "FEW_SHIFTS", shifts)
    weights = [[0, 7 * i % 11 - 3, i * i % 17] for i in range(8)]
    query, records = dl.Sum(weights), dl.Records(8, alphabet=3)
    types = record_types(query, records)
    for kind, sums in zip(types, other_sums(query, types), strict=True):
        others = [w for i, w in enumerate(weights) if i != kind.first]
        assert sums.tolist() == sorted({sum(choice) for choice in itertools.product(*others)})


def assert_exhaustive(support, problem):
    """The interval is small, and what listing the settings of the others finds."""
    low, high = support.product_leakage(problem)
    result = dl.solve(problem)
    assert result.lower <= high
    assert low <= result.upper
    assert result.gap <= 1e-9


@each("seed", *range(draws(1, 3)))
@each("query", *QUERIES)
def test_independent_records(support, query, seed):
    assert_exhaustive(support, question(support, query, dl.ProductPriors(), seed=seed))


@each("sizes", [2], [5], [2, 2, 2], [3, 2], [2, 1, 3])
def test_independent_records_by_dataset(support, sizes):
    assert_exhaustive(support, by_dataset(support, sizes, dl.ProductPriors(), seed=len(sizes)))


@each("seed", *range(4))
def test_no_product_prior_leaks_more(support, seed):
    problem = by_dataset(support, [2, 3, 2], dl.ProductPriors(), seed=seed)
    upper, rng = dl.solve(problem).upper, np.random.default_rng(seed)
    for concentration in (0.05, 0.5, 1.0) * 30:
        laws = [rng.dirichlet(np.full(size, concentration)) for size in problem.records.alphabets]
        assert support.worst_leakage(np.einsum("a,b,c->abc", *laws).ravel(), problem) <= upper


def test_the_witness_is_a_product_prior_that_leaks_so_much(support):
    problem = by_dataset(support, [2, 3, 2], dl.ProductPriors(), seed=5)
    result = dl.solve(problem)
    prior = result.witness.masses.sum(axis=0)  # inputs are datasets
    others = [
        np.delete(data, result.record)
        for data, mass in zip(support.datasets(problem.records), prior, strict=True)
        if mass
    ]
    assert len({tuple(z) for z in others}) == 1
    assert support.leakage(
        prior, support.letters_of(problem, result.record), support.full_channel(problem)
    ) == pytest.approx(result.lower, abs=1e-12)


@each("query", *QUERIES)
def test_listed_priors(support, query):
    priors = np.random.default_rng(1).dirichlet(np.full(12, 0.3), size=4)
    problem = question(support, query, dl.PriorSet(priors))
    exact = [support.worst_leakage(prior, problem) for prior in priors]
    result = dl.solve(problem)
    support.assert_contains(result, max(exact), gap=1e-9)
    if max(exact) > 1e-9:
        assert result.witness.prior == int(np.argmax(exact))


def test_batches_of_priors(support, monkeypatch):
    """The same answer, a few priors at a time."""
    from dalenius.audits import listed

    priors = np.random.default_rng(2).dirichlet(np.ones(12), size=25)
    problem = question(support, dl.Identity(), dl.PriorSet(priors))
    whole = dl.solve(problem)
    monkeypatch.setattr(listed, "BATCH", 24)
    parts = dl.solve(problem)
    support.assert_overlap(whole, parts)
    assert whole.witness.prior == parts.witness.prior


@pytest.mark.parametrize("batch", [1, 100])
def test_batches_of_selections(support, monkeypatch, batch):
    from dalenius.audits import selections

    problem = question(support, dl.Sum(), dl.ProductPriors())
    whole = dl.solve(problem)
    monkeypatch.setattr(selections, "BATCH", batch)
    support.assert_overlap(whole, dl.solve(problem))


def test_one_law_more_only_narrows(support, monkeypatch):
    """With room for few laws the interval is wider, and valid."""
    from dalenius.audits import selections

    problem = support.problem([2] * 12, dl.Count(), dl.geometric(1.0), dl.ProductPriors())
    exact, before = dl.solve(problem), np.inf
    for laws in (0, 1, 5, 20):
        monkeypatch.setattr(selections, "MOST", laws * 13)
        result = dl.solve(problem)
        support.assert_overlap(result, exact)
        assert result.upper <= before
        assert result.records[0].leaves <= laws + 1
        before = result.upper
    assert result.gap <= 1e-9
