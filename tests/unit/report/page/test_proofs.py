"""What is told besides the interval: bounds that hold for every adversary, and numbers at the prior that is exhibited."""

import math

import numpy as np

import dalenius as dl
import support
from dalenius.report.page.proofs import Proof, advantage_at_most, facts_of


def test_no_guess_gains_more_than_the_bound():
    """Channels and priors of two to five letters."""
    rng = np.random.default_rng(1)
    closest = math.inf
    for _ in range(500):
        letters, outputs = rng.integers(2, 6, 2)
        prior = rng.dirichlet(np.full(letters, 0.7))
        joint = prior[:, None] * rng.dirichlet(np.full(outputs, 0.7), size=letters)
        product = prior[:, None] * joint.sum(axis=0)
        information = float(np.sum(joint * np.log(np.maximum(joint, 1e-300) / np.maximum(product, 1e-300))))
        advantage = joint.max(axis=0).sum() - prior.max()
        bound = advantage_at_most(max(information, 0.0) + 1e-12, int(letters))
        assert advantage <= bound + 1e-9
        closest = min(closest, bound - advantage)
    assert closest < 0.05, "it is met closely, so that it says something"


def test_a_symmetric_bit_in_closed_form():
    problem = support.problem(dl.Records(1, alphabet=2), dl.Identity(), dl.symmetric("1/4", k=2), dl.AnyPrior())
    facts = facts_of(Proof(problem, dl.solve(problem).certificate))
    assert facts.guess_at_prior.startswith("0.2")
    low, high = (float(end) for end in facts.guess.split(" .. "))
    assert low <= 0.25 <= high <= math.sqrt(0.5 * (math.log(2) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75))) + 1e-3
    assert facts.sharpest is not None
    assert facts.without is not None
    assert facts.without.bits == "0", "nobody else is there to give it away"
    assert facts.factor == "1.5"


def test_where_no_prior_is_shown_it_says_why():
    problem = support.problem(dl.Records(2, alphabet=2), dl.Parity(), dl.symmetric("1/2", k=2), dl.AnyPrior())
    facts = facts_of(Proof(problem, dl.solve(problem).certificate))
    assert facts.sharpest is None
    assert "shows no prior" in facts.why_not
    assert facts.guess == "at most 0"
