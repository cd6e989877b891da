"""Entropy bounds between two rationals, against the checker's balls of 1024 bits."""

from fractions import Fraction

import flint

import dalenius as dl
from campaigns import each

RECORDS = dl.Records(alphabets=[2, 3, 3, 5, 2])
STATES = 2 * 3 * 3 * 5 * 2


@each("entropy, of", ("4/5 max", STATES), ("1 max", STATES), ("1e-6 max", STATES), ("2.5 bits", 2), ("1e-300 bits", 2))
def test_an_irrational_bound_lies_between_two_rationals(entropy, of):
    bound = dl.EntropyAtLeast(entropy, "nats")
    low, high = bound.enclosure(RECORDS)
    assert 0 <= low < high <= low + Fraction(1, 10**60)
    with flint.ctx.workprec(1024):
        ball = flint.arb(flint.fmpq(bound.amount.numerator, bound.amount.denominator)) * flint.arb(of).log()
        assert flint.arb(flint.fmpq(low.numerator, low.denominator)) < ball
        assert flint.arb(flint.fmpq(high.numerator, high.denominator)) > ball


@each("entropy", "1.3 nats", "0 max", "0 bits", 0)
def test_a_rational_bound_is_itself(entropy):
    bound = dl.EntropyAtLeast(entropy, "nats")
    assert bound.enclosure(RECORDS) == (bound.amount, bound.amount)
