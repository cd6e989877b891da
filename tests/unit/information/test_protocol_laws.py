"""The nearest law of a class against no other law of the class being nearer, and exact laws being in the class."""

import numpy as np
from flint import arb

import dalenius as dl
from campaigns import each
from dalenius.information.measures.numbers import doubles
from dalenius.information.protocol_laws import SharedLetters, exact_law_near

CENTER = [0.4, 0.3, 0.2, 0.1]
CLASSES = [
    dl.FloorPriors(0.05),
    dl.BoxPriors([0.3, 0.2, 0.2, 0], [0.5, 0.4, 0.2, 0.2]),
    dl.L1BallPriors(CENTER, 0.3),
    dl.KLBallPriors(CENTER, 0.05),
    dl.ChiSquareBallPriors(CENTER, 0.1),
]


@each("adversary", *CLASSES)
def test_nearest_laws(adversary):
    priors, draw = adversary.priors, np.random.default_rng(4)
    class_of = SharedLetters(priors, np.arange(4), np.ones(4, dtype=int))
    for _ in range(5):
        point = np.array(CENTER) + draw.normal(size=4) * 0.3
        law = class_of.nearest(point)
        assert abs(law.sum() - 1) <= 1e-14
        exact = exact_law_near(priors, law)
        assert sum(exact) == 1
        assert np.allclose(doubles(exact), law, rtol=0, atol=1e-12)
        for _ in range(20):  # a law of the class, whose way from the nearest one leads away from the point
            other = doubles(priors.exact_law(np.array([arb(x).mid().fmpq() for x in draw.normal(size=4).tolist()])))
            assert (point - law) @ (other - law) <= 1e-9


def test_letters_that_are_alike_share_a_number():
    """The same nearest law in two numbers and in five."""
    priors = dl.KLBallPriors([0.3, 0.3, 0.1, 0.1, 0.2], 0.02).priors
    whole = SharedLetters(priors, np.arange(5), np.ones(5, dtype=int))
    shared = SharedLetters(priors, np.array([0, 2, 4]), np.array([2, 2, 1]))
    point = np.array([0.5, 0.0, 0.1])
    np.testing.assert_allclose(
        shared.nearest(point)[[0, 0, 1, 1, 2]], whole.nearest(point[[0, 0, 1, 1, 2]]), atol=1e-14
    )
