"""What no sanitizer exceeds: against the exact frontier of the continuous model, and against mechanisms of all kinds."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

import dalenius as dl
from campaigns import draws, each, thinned
from dalenius.sanitizers import TwoGaussians, converse
from dalenius.sanitizers.two_gaussians import atoms
from support import refused, refuses

# max P(U' = U) under chi2(S;U') <= eta of the continuous model, by Neyman and Pearson: sqrt eta -> accuracy, six digits
FRONTIER = {"0.05": 0.691522, "0.1": 0.715173, "0.2": 0.760729, "0.4": 0.838406, "0.6": 0.866549}
HALF = Fraction(1, 2) * Fraction(1, 10**6)


@pytest.mark.parametrize(("root", "truth"), thinned(FRONTIER.items(), 4))
def test_it_lies_above_the_continuous_frontier_and_near_it(root, truth):
    bound = TwoGaussians.correlated().converse(Fraction(root) ** 2, points=12)
    assert Fraction(str(truth)) - HALF <= bound.upper < truth + 0.01
    assert dl.verify(bound.problem, bound.certificate).proved


@pytest.mark.thorough
def test_more_points_are_tighter():
    coarse, fine = (TwoGaussians.correlated().converse("0.01", points=k).upper for k in (6, 12))
    assert Fraction("0.7151725") <= fine < coarse < Fraction("0.74")


@pytest.mark.thorough
def test_independent_labels_cost_nothing():
    bound = TwoGaussians.independent().converse("0.0025", points=16)
    assert Fraction("0.8413447") < bound.upper < Fraction("0.848")


@each("points", 2, 3, 9, 24)
def test_atoms_are_more_telling_than_the_observation(points):
    """Every test of s = 1 against s = -1 that looks at x is one of the atoms': at every threshold, with both errors no larger."""
    low, high = atoms(points)
    assert sum(low) == sum(high) == 1
    assert min(*low, *high) >= 0
    for t in np.linspace(-3, 3, 25):
        reject, detect = norm.sf(t + 1), norm.sf(t - 1)  # of x > t
        order = np.argsort([h / f if f else np.inf for f, h in zip(low, high, strict=True)])[::-1]
        a, b = (np.concatenate([[0], np.cumsum([float(law[k]) for k in order])]) for law in (low, high))
        assert np.interp(reject, a, b) >= detect - 1e-12


def test_random_guesses_from_random_tables_never_exceed_it():
    rng = np.random.default_rng(5)
    for _ in range(draws(3, 300)):
        s, u, x = 2, int(rng.integers(2, 4)), int(rng.integers(2, 6))
        weights = rng.integers(0, 20, (s, u, x))
        weights[:, :, 0] += 1
        total = int(weights.sum())
        joint = [[[Fraction(int(w), total) for w in row] for row in rows] for rows in weights]
        guess = rng.dirichlet(np.full(u, 0.5), x)
        law = weights / total
        told = np.einsum("sux,xg->sg", law, guess)
        product = told.sum(1, keepdims=True) * told.sum(0)
        eta = float((told**2 / np.maximum(product, 1e-300)).sum() - 1)
        accuracy = float(np.einsum("sux,xu->", law, guess))
        bound = converse(joint, Fraction(max(eta, 1e-6)) * Fraction(10**9 + 1, 10**9))
        assert bound.upper >= accuracy - 1e-9
        assert bound.lower <= bound.upper


test_what_is_no_law_is_refused = refuses(
    ([[[0.5], [0.5]]], "table for each of two or more secrets"),
    ([[["1/2", 0]], [[0, "1/2"]]], "two or more labels"),
    ([[["1/2"], [0]], [[0], ["1/3"]]], "sum 1"),
    ([[["3/2"], [0]], [[0], ["-1/2"]]], "sum 1"),
    ([[["1/2"], [0]], [[0], ["1/2", 0]]], "one shape"),
    by=lambda joint: converse(joint, "0.1"),
)


def test_laws_of_two_gaussians_are_checked():
    refused(lambda: TwoGaussians([["1/2", "1/2"]]), "two rows of two numbers")
    refused(lambda: atoms(1), "points")
