"""Newton's step for the leakage: its errors are squared, its limit is that of long alternation, its iterates have their entropy."""

from itertools import pairwise

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.audits import ascent
from dalenius.audits.ascent import local_maxima, posterior
from dalenius.information import mutual_information
from dalenius.information.tilt import entropy_of, largest_score, newton_masses
from dalenius.reduction import record_channels
from dalenius.search.clock import Clock


@each("n", 6, 10)
def test_errors_are_squared_where_alternating_steps_take_dozens(n):
    problem = support.problem(dl.Records(n, alphabet=2), dl.Count(), dl.geometric(0.3, range=n), "0.8 max")
    channel = record_channels(problem)[0]
    uniform, bound = channel.log_uniform, -channel.max_knowledge

    def double_step(p, mu):
        c = np.log(posterior(p, channel.rows)) @ channel.rows.T
        return largest_score(c, uniform, bound, mu, Clock())

    best = local_maxima(channel, rng=np.random.default_rng(0), clock=Clock(), finest=1e-13)[0]
    long, many = best.p[None], np.array([best.mu])
    for _ in range(100):
        long, many = double_step(long, many)
    # a feasible start a hundredth away: the limit in part replaced by the uniform prior and by random masses, then one double step
    near = (
        0.95 * long
        + 0.03 * channel.uniform
        + 0.02 * np.random.default_rng(1).dirichlet(np.ones(long.size)).reshape(long.shape)
    )
    p, mu = double_step(near, many)
    errors, slow, slow_mu, alone = [float(np.abs(p - long).sum())], p, mu, 0
    while np.abs(slow - long).sum() > 1e-9:
        (slow, slow_mu), alone = double_step(slow, slow_mu), alone + 1
    for _ in range(3):
        p, mu = double_step(newton_masses(p, channel.rows, uniform, mu, bound), mu)
        assert np.all(p >= 0.0)
        assert abs(p.sum() - 1.0) < 1e-13
        assert bound <= entropy_of(p, uniform)[0] <= bound + 2e-13 * (1.0 - bound)
        errors.append(float(np.abs(p - long).sum()))
    assert errors[0] > 1e-3
    assert alone > 25
    assert all(after < 100.0 * before**2 + 1e-12 for before, after in pairwise(errors)), errors
    assert errors[-1] < 1e-11
    assert mutual_information(p @ channel.rows)[0] == pytest.approx(
        mutual_information(long @ channel.rows)[0], rel=1e-12
    )


def test_a_witness_near_known_priors_takes_few_steps_and_no_chance(monkeypatch):
    """A prior that comes to the known witness is given up there: some were followed for 470 steps."""
    problem = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(0.5, range=3), "0.8 max")
    channel, steps = record_channels(problem)[0], list[int]()

    def counted(*arguments, **more):
        steps.append(1)
        return largest_score(*arguments, **more)

    monkeypatch.setattr(ascent, "largest_score", counted)
    best = ascent.search(channel, rng=np.random.default_rng(0), clock=Clock())
    near = 0.9 * best.p + 0.1 * channel.uniform
    found = ascent.search(channel, rng=None, clock=Clock(), warm=[channel.uniform, near])
    assert found.leakage == pytest.approx(best.leakage, rel=1e-9)
    steps.clear()
    assert ascent.polish(channel, near, best, clock=Clock()) is best
    assert len(steps) < 30  # 40 without Newton's steps


# The closed form of Problem 1 with an entropy bound: the multiplier that meets it, for many scores at once.


class Counted:
    """A clock without an end that counts how often it was asked: once for each step."""

    asked = 0

    @property
    def expired(self):
        self.asked += 1
        return False


def batch(rng, size=24, letters=3, classes=4):
    weights = rng.dirichlet(np.ones(letters * classes)).reshape(letters, classes)
    return 3.0 * rng.normal(size=(size, letters, classes)), np.log(weights)


@each("seed", *range(draws(3, 20)))
def test_a_batch_takes_few_steps_and_what_has_converged_stays(seed):
    """It once took 50 to 70: whatever had met its bound was sent away again as long as the others went on."""
    rng, clock = np.random.default_rng(seed), Counted()
    c, log_uniform = batch(rng)
    bound = -0.6 * float(rng.uniform(0.5, 1.5))
    p, mu = largest_score(c, log_uniform, bound, np.full(len(c), 0.1), clock)
    assert clock.asked <= 20
    entropy = entropy_of(p, log_uniform)
    binding = mu > 0.0
    assert binding.any()
    assert np.all(entropy >= bound - 1e-14)
    assert np.all(entropy[binding] <= bound + 1e-12)


def test_a_batch_is_as_good_as_its_members_one_by_one():
    c, log_uniform = batch(np.random.default_rng(7))
    together = largest_score(c, log_uniform, -0.5, np.full(len(c), 0.1), Counted())
    for j in range(len(c)):
        alone = largest_score(c[j : j + 1], log_uniform, -0.5, np.array([0.1]), Counted())
        assert np.allclose(together[0][j], alone[0][0], rtol=0.0, atol=1e-9)
        assert together[1][j] == pytest.approx(float(alone[1][0]), rel=1e-9)
