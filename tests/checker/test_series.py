"""Polynomials known from below contain what exact fractions give, whatever is rounded; a product feels the limit of the check."""

import importlib
import random
from fractions import Fraction
from itertools import zip_longest

import pytest

import dalenius_check
from campaigns import draws, each

HOLES = [
    "Series.__mul__: self.off * other.most + other.off * self.most + 1 => self.off * other.most + other.off * self.most",
    "Series.__mul__: self.off * other.most + other.off * self.most => self.off * other.most",
    "Series.__mul__: self.off * other.most + other.off * self.most => other.off * self.most",
    "Series.__mul__: c >> self.bits => -(-c >> self.bits)",
    "Series.__mul__: self.most * other.most => self.most",
    "Series.__add__: self.off + other.off => self.off",
    "Series.__add__: self.most + other.most => self.most",
    "series.series: max(off, int(above) - low[e]) => off",
    "series.series: max(0, int(below)) => int(above)",
]


class Polynomials:
    """Those of a checker, made and multiplied beside their coefficients as fractions."""

    def __init__(self, checker, words):
        self.arithmetic = importlib.import_module(f"{checker.__name__}.core.arithmetic")
        self.series = importlib.import_module(f"{checker.__name__}.lemmas.histograms.series")
        self.allowance = importlib.import_module(f"{checker.__name__}.core.allowance").Allowance()
        self.rng = random.Random(37)
        self.words = words

    def some(self, most):
        """A few coefficients that add up to `most` at most, two of one power among them: any fractions, or exact and tiny."""
        weights = [self.rng.randint(1, 30) for _ in range(self.rng.randint(1, 4))]
        whole = sum(weights) + self.rng.choice([0, 5]) if self.rng.random() < 0.7 else 1 << self.rng.randint(80, 120)
        powers = [self.rng.randint(0, 3) for _ in weights]
        exact = [
            Fraction(most * sum(w for e, w in zip(powers, weights, strict=True) if e == j), whole) for j in range(4)
        ]
        balls = [self.arithmetic.arb(self.arithmetic.fmpq(most * w, whole)) for w in weights]
        return self.series.series(zip(powers, balls, strict=True), most, self.allowance), exact

    def lost(self):
        """Whether some result does not contain the exact coefficients, or less than they add up to."""
        with self.arithmetic.using(self.arithmetic.choose(self.words)), self.arithmetic.chosen().workprec(128):
            (one, f), (two, g) = self.some(self.rng.randint(1, 3)), self.some(self.rng.randint(1, 900))
            fourth = product(product(f, f), product(f, f))
            results = [(one * two, product(f, g)), (two * one, product(f, g)), (one**4, fourth)]
            both = [sum(pair) for pair in zip_longest(f, g, fillvalue=Fraction(0))]
            results += [(one + two, both), ((one + two) * one, product(both, f))]
            return not all(contains(*result) for result in results)


def product(f, g):
    found = [Fraction(0)] * (len(f) + len(g) - 1)
    for i, a in enumerate(f):
        for j, b in enumerate(g):
            found[i + j] += a * b
    return found


def contains(made, exact):
    units = made.units(len(exact))
    held = all(n <= c * 2**made.bits <= n + made.off for n, c in zip(units, exact, strict=True))
    return held and sum(exact) <= made.most


@each("words", "flint", "python")
def test_series_contain_what_exact_fractions_give(words):
    found = Polynomials(dalenius_check, words)
    assert not any(found.lost() for _ in range(draws(60, 6000)))


@pytest.mark.parametrize("hole", HOLES)
def test_a_coefficient_is_lost_where_a_rounding_is_left_out(planted, hole):
    found = Polynomials(planted(hole, hole), "flint")
    assert any(found.lost() for _ in range(60))


@each("words", "flint", "python")
def test_a_product_that_takes_longer_than_there_is_is_not_begun(words):
    """One of a million coefficients cannot be interrupted, and takes the checker's own arithmetic ten seconds."""
    series, allowance, arithmetic = (
        importlib.import_module(f"dalenius_check.{name}")
        for name in ("lemmas.histograms.series", "core.allowance", "core.arithmetic")
    )
    with arithmetic.using(arithmetic.choose(words)):
        long = arithmetic.fmpz_poly([1] * (1 << 20))
        polynomial = series.Series(long, 0, 1 << 20, allowance.Allowance(seconds=5))
        with pytest.raises(allowance.LimitError, match="5 seconds"):
            polynomial**2
