"""Equations solved exactly: random ones with a known point, those that say the same, those that nothing meets."""

from fractions import Fraction

import numpy as np

from campaigns import draws
from dalenius.designs.exchange.region import AffineHull

ONE = Fraction(1)


def test_points_near_doubles_meet_random_equations_exactly():
    rng = np.random.default_rng(1)
    for _ in range(draws(20, 300)):
        size = int(rng.integers(2, 9))
        point = [Fraction(int(w), 7) for w in rng.integers(0, 9, size=size)]
        equations = []
        for _ in range(rng.integers(1, size + 2)):  # more than there are entries, too: they agree
            terms = {i: Fraction(int(c), 3) for i, c in enumerate(rng.integers(-3, 4, size=size)) if c}
            equations.append((terms, sum((c * point[i] for i, c in terms.items()), Fraction(0))))
        near = np.array([float(x) for x in point]) + 1e-9 * rng.normal(size=size)
        hull = AffineHull.of(equations, range(size), first=near)
        found = hull.near(near)
        assert all(sum((c * found[i] for i, c in terms.items()), Fraction(0)) == end for terms, end in equations)
        assert all(x == y for i, (x, y) in enumerate(zip(found, found, strict=True)) if i in hull.free)


def test_entries_that_are_left_out_are_zero():
    hull = AffineHull.of([({0: ONE, 1: ONE, 2: ONE}, ONE)], [0, 1], first=np.array([0.2, 0.8, 0.0]))
    assert hull.near(np.array([0.25, 0.5, 9.0])) == [Fraction(1, 4), Fraction(3, 4), 0]


def test_equations_that_nothing_meets():
    first = np.array([0.5, 0.5])
    assert AffineHull.of([({0: ONE}, ONE), ({0: 2 * ONE}, ONE)], [0, 1], first=first) is None
    assert AffineHull.of([({1: ONE}, ONE)], [0], first=first) is None
