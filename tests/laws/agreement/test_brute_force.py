"""Direct maximisation over full joint distributions: nothing feasible beats `upper`, the best found meets `lower`."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

import dalenius as dl
from campaigns import each, thinned

FLOOR = 1e-12
STARTS = 24


def matrix(seed: int, inputs: int, outputs: int):
    """Random rows of 3 decimals."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, 1001, size=(inputs, outputs - 1)), axis=1)
    counts = np.diff(cuts, axis=1, prepend=0, append=1000)
    return [[f"{count}e-3" for count in row] for row in counts.tolist()]


CASES = {
    "parity": ([2, 2], dl.Parity(), dl.symmetric(0.1, k=2), "0.8 max"),
    "count": ([2, 2, 2], dl.Count(), dl.geometric(1.0), "0.6 max"),
    "count, much entropy": ([2, 2, 2], dl.Count(), dl.geometric(1.0), "0.95 max"),
    "sum, unequal records": ([2, 3], dl.Sum(), dl.Channel(matrix(1, 4, 3)), "0.5 max"),
    "modular sum": ([3, 3], dl.ModularSum(3), dl.symmetric(0.2, k=3), "0.8 max"),
    "threshold, one idle record": ([2, 1, 2], dl.Threshold(1), dl.laplace_threshold(2.0), "1 bits"),
    "one record": ([3], dl.Identity(), dl.Channel(matrix(2, 3, 3)), "0.5 max"),
    "table": ([2, 2, 2], dl.Table([0, 1, 1, 2, 1, 0, 2, 2]), dl.Channel(matrix(3, 3, 2)), "0.75 max"),
    "all datasets": ([2, 2, 2], None, dl.Channel(matrix(4, 8, 3), inputs="dataset"), "0.7 max"),
    "all datasets, deterministic": (
        [2, 2],
        None,
        dl.Channel([[1, 0], [0, 1], [0, 1], [1, 0]], inputs="dataset"),
        "0.6 max",
    ),
}


def climb(channel, letters, bound: float, start):
    """A local maximum of I(X_i; Y) over priors with H >= bound."""
    indicator = np.eye(letters.max() + 1)[:, letters]

    def loss(prior):
        joint = indicator @ (prior[:, None] * channel)
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        ratio = np.log(np.maximum(joint, 1e-300)) - np.log(np.maximum(product, 1e-300))
        return -float(np.sum(joint * ratio)), 1.0 - np.sum(channel * ratio[letters], axis=1)

    constraints = [
        {"type": "eq", "fun": lambda p: p.sum() - 1.0, "jac": np.ones_like},
        {"type": "ineq", "fun": lambda p: -p @ np.log(p) - bound, "jac": lambda p: -np.log(p) - 1.0},
    ]
    options = {"maxiter": 200, "ftol": 1e-12}
    box = [(FLOOR, 1.0)] * start.size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = minimize(loss, start, jac=True, method="SLSQP", bounds=box, constraints=constraints, options=options)
    return found.x if np.all(np.isfinite(found.x)) else start


def brute_force(support, question) -> float:
    """The best leakage over many starts and all records; every point is feasible and evaluated from scratch."""
    rng, bound = np.random.default_rng(0), question.entropy_bound
    channel = support.full_channel(question)
    best = 0.0
    for record, size in enumerate(question.records.alphabets):
        letters = support.letters_of(question, record)
        for j in range(STARTS if size > 1 else 0):
            start = rng.dirichlet(np.full(question.records.datasets, (0.3, 1.0, 3.0)[j % 3]))
            prior = climb(channel, letters, bound, np.maximum(start, 1e-6))
            prior = support.made_feasible(prior, bound + 1e-12)
            best = max(best, support.leakage(prior, letters, channel))
    return best


@pytest.mark.parametrize("name", thinned(CASES, every=5))
def test_direct_maximisation(support, name):
    question = support.problem(*CASES[name])
    result = support.solve(question)
    best = brute_force(support, question)
    assert best <= result.upper + 1e-12
    assert best >= 0.999 * result.lower


@each("name", *thinned(CASES, every=3))
def test_random_feasible_points(support, name):
    question = support.problem(*CASES[name])
    upper = support.solve(question).upper
    for prior in support.random_priors(np.random.default_rng(1), question, 60):
        assert support.entropy(prior) >= question.entropy_bound - 1e-12
        assert support.worst_leakage(prior, question) <= upper + 1e-12


@pytest.mark.parametrize("name", CASES)
def test_witness_is_feasible_and_attains_the_lower_bound(support, name):
    """The witness's masses on (letter, input), spread evenly over datasets, evaluated as a prior on datasets."""
    question = support.problem(*CASES[name])
    result = support.solve(question)
    assert result.witness is not None
    letters = support.letters_of(question, result.witness.record)
    inputs = np.array(support.inputs_of_datasets(question))
    prior = np.zeros(question.records.datasets)
    for (letter, k), mass in np.ndenumerate(result.witness.masses):
        members = (letters == letter) & (inputs == k)
        assert members.any() or mass == 0.0
        prior[members] = mass / max(members.sum(), 1)
    assert prior.sum() == pytest.approx(1.0, abs=1e-12)
    assert support.entropy(prior) >= question.entropy_bound - 1e-12
    assert support.leakage(prior, letters, support.full_channel(question)) >= result.lower - 1e-12
