"""Bands of whole curves against searches and proofs at other entropy bounds that know nothing of them."""

import itertools

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, thinned

SHARES = ["0.15 max", "0.35 max", "0.55 max", "0.82 max", "0.95 max"]
COUNT = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1), dl.AnyPrior())
LETTERS = support.problem(dl.Records(alphabets=[2, 3]), dl.Sum(), dl.geometric(1), dl.AnyPrior())
MODULAR = support.problem(dl.Records(2, alphabet=3), dl.ModularSum(3), dl.symmetric(0.2, k=3), dl.AnyPrior())


def band(question, points, gap=2e-2):
    curve = list(dl.entropy_curve(question, points, gap=gap, time_limit=None))
    return dl.answers.LeakageCurve.of(*((point.problem, point.result) for point in curve)), curve


@pytest.mark.parametrize(
    ("question", "points"), thinned([(MODULAR, ["0.8"]), (COUNT, ["0.6", "0.9"]), (LETTERS, ["0.7"])], 3)
)
def test_the_band_contains_what_is_solved_by_itself(curves, support, question, points):
    found, curve = band(question, points)
    for point in curve:
        assert curves.proved_apart(point.problem, point.result.certificate, SHARES)
    for share in SHARES:
        alone = dl.solve(support.with_bound(question, dl.EntropyAtLeast(share)), gap=2e-2, time_limit=None)
        lower, upper = found.at(share)
        assert lower <= alone.upper
        assert alone.lower <= upper
    ends = [found.at(f"{j}/40 max") for j in range(41)]
    assert all(later <= earlier for one in zip(*ends, strict=True) for earlier, later in itertools.pairwise(one))


@pytest.mark.campaign(minutes=4)
def test_no_prior_is_told_more_than_the_band_says(curves, support):
    """A thousand random small audits: one proof each, and priors of every kind at entropy bounds of all sizes."""
    rng = np.random.default_rng(16)
    for seed in range(draws(4, 250, 1000)):
        counts = support.random_counts(rng, 4, int(rng.integers(2, 4)), total=100)
        channel = dl.Channel(support.exact_rows(counts, 100), inputs="dataset")
        question = support.problem([2, 2], None, channel, f"{rng.integers(2, 95)}/100 max")
        result = dl.solve(question, gap=3e-2, time_limit=None, node_limit=3000, curve=["1/4", "3/4"], seed=seed)
        found = dl.answers.LeakageCurve.of((question, result))
        assert curves.proved_apart(question, result.certificate, ["0 max", f"{rng.integers(1, 99)}/100 max", "1 max"])
        for share in ("1/10 max", "5/10 max", "9/10 max"):
            there = support.with_bound(question, dl.EntropyAtLeast(share))
            told = [support.worst_leakage(prior, there) for prior in support.random_priors(rng, there, 6)]
            assert max(told) <= found.upper(share) + 1e-12
        best = support.brute_force(
            support.with_bound(question, dl.EntropyAtLeast("3/4 max")), rng, starts=draws(20, 5000)
        )
        assert best <= found.upper("3/4 max") + 1e-9
        assert best >= found.lower("3/4 max") * (1.0 - 0.05) - 1e-9
