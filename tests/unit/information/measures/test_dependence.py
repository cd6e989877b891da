"""The ball around the maximal correlation, whatever vectors it is proved with."""

import numpy as np
from flint import arb, fmpq

from dalenius.information.measures import maximal_correlation
from dalenius.information.measures.dependence import _largest_quotient
from dalenius.information.measures.numbers import met


def exact(rows):
    return np.array([[fmpq(int(x), int(sum(row))) for x in row] for row in rows], dtype=object)


def test_it_holds_the_value_in_doubles_and_is_narrow():
    draw = np.random.default_rng(1)
    for shape in ((2, 2), (3, 5), (6, 3), (8, 8)):
        rows = draw.integers(0, 20, shape) + np.eye(*shape, dtype=int)
        prior = exact(draw.integers(1, 9, (1, shape[0])))[0]
        ball = maximal_correlation(exact(rows), prior).item()
        value = float(maximal_correlation(rows / rows.sum(axis=1, keepdims=True), prior.astype(float)))
        assert abs(ball - value) <= arb(1e-12)
        assert float(ball.rad()) <= 1e-14


def test_bad_vectors_make_it_wide_not_wrong():
    rows, prior = exact([[6, 3, 1], [2, 3, 5], [1, 1, 8]]), exact([[1, 1, 2]])[0]
    good = maximal_correlation(rows, prior).item()
    for vectors in (np.eye(3), np.ones((3, 3)), np.random.default_rng(2).normal(size=(3, 3))):
        assert _largest_quotient(met(rows, prior), vectors).overlaps(good * good)


def test_independence_and_certainty():
    assert maximal_correlation(exact([[1, 1], [1, 1]]), exact([[1, 3]])[0]).item() == 0
    assert maximal_correlation(exact([[1, 0], [0, 1]]), exact([[1, 3]])[0]).item().overlaps(arb(1))
    assert float(maximal_correlation([[1.0]], [1.0])) == 0.0


def test_laws_that_doubles_do_not_hold_are_no_error():
    tiny = fmpq(1, 10**400)
    ball = maximal_correlation(exact([[1, 0], [0, 1]]), np.array([tiny, 1 - tiny], dtype=object)).item()
    assert ball.overlaps(arb(1))
    assert ball.lower() >= 0
