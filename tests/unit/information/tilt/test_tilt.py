"""The closed form of Problem 1 with an entropy bound: the multiplier that meets it, for many scores at once."""

import numpy as np
import pytest

from campaigns import draws, each
from dalenius.information.tilt import entropy_of, largest_score


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
