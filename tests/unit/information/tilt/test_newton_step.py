"""Newton's step for the leakage: its errors are squared, its limit is that of long alternation, its iterates have their entropy."""

from itertools import pairwise

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
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
