"""Parity through a binary symmetric channel: Mrs. Gerber's lemma gives the leakage in closed form."""

import math
from decimal import Decimal

import pytest

import dalenius as dl
from campaigns import each

CAPACITY = 0.0795415058653  # log 2 - h(e^(-1/2)/2)
PUBLISHED = {0.5: 0.062, 1.0: 0.041, 1.5: 0.022, 2.0: 0.009}  # the source paper's Table 3
CIRCULATED = 0.0110037994307  # a reference value for b = 2.7; see test_circulated_value_is_a_misprint


@each("bound", 0, 0.5, 1, 1.5, 2)
def test_slack_entropy_bound(support, bound):
    support.assert_contains(dl.solve(support.parity4(bound), gap=1e-6), CAPACITY, gap=1e-6)


@each("bound, known", ("2.2", 0.0712774696959), ("2.5", 0.0387007796428), ("2.7", 0.011003799692431))
def test_binding_entropy_bound(support, bound, known):
    exact = float(support.gerber_digits(4, Decimal(1), Decimal(bound)))
    assert exact == pytest.approx(known, abs=2e-13)
    support.assert_contains(dl.solve(support.parity4(bound), gap=1e-4), exact, gap=1e-4)


def test_circulated_value_is_a_misprint(support):
    """The value 0.0110037994307 circulates for n = 4, epsilon 1, b = 2.7: it is wrong in the tenth decimal.

    Mrs. Gerber's formula in 60-digit arithmetic gives 0.01100379969243077, and the certified lower bound alone
    excludes the circulated number. Its digits are those of the right one with "692" left out.
    """
    exact = support.gerber_digits(4, Decimal(1), Decimal("2.7"))
    assert str(exact).startswith("0.01100379969243076")
    assert "0.011003799692430".replace("692", "") + "7" == str(CIRCULATED)
    assert abs(exact - Decimal("0.011003799692431")) < Decimal("5e-16")
    assert exact - Decimal(str(CIRCULATED)) > Decimal("2.6e-10")
    result = dl.solve(support.parity4("2.7"), gap=1e-4)
    assert CIRCULATED < result.lower <= float(exact) <= result.upper


@each("bound", *sorted(PUBLISHED))
def test_published_values_under_report(support, bound):
    """Table 3's values are no maxima: each lies below a certified lower bound."""
    assert PUBLISHED[bound] < support.solve(support.parity4(bound)).lower


def test_thousand_bits(support):
    exact = support.gerber(1000, math.exp(-0.5) / 2, 999.5 * math.log(2.0))
    question = support.problem(dl.Records(1000, alphabet=2), dl.Parity(), dl.laplace_threshold(1.0), "999.5 bits")
    support.assert_contains(dl.solve(question, gap=1e-4), exact, gap=1e-4)


@each("n, flip, bits", (2, 0.1, "0.5"), (2, 0.25, "1.9"), (3, 0.05, "2.3"), (6, 0.4, "5.75"), (5, 0, "4.5"))
def test_other_sizes_and_flips(support, n, flip, bits):
    question = support.problem([2] * n, dl.Parity(), dl.symmetric(flip, k=2), f"{bits} bits")
    exact = support.gerber(n, flip, float(bits) * math.log(2.0))
    support.assert_contains(dl.solve(question, gap=1e-3), exact, gap=1e-3)


@each("epsilon", 0.1, 1.0, 4.0)
def test_exponential_mechanism_flips_with_its_known_probability(support, epsilon):
    exact = math.log(2.0) - support.binary_entropy(1.0 / (1.0 + math.exp(epsilon / 2.0)))
    question = support.problem([2] * 3, dl.Parity(), dl.exponential(epsilon, range=1), "1 bits")
    support.assert_contains(support.solve(question, gap=1e-5), exact, gap=1e-5)


def test_witness_is_uniform_on_one_parity_class(support):
    """At b <= 3 log 2 a fair first bit with the rest uniform on even parity attains the capacity."""
    result = dl.solve(support.parity4("3 bits"), gap=1e-6)
    support.assert_contains(result, CAPACITY, gap=1e-6)
    assert result.witness is not None
    assert result.witness.letter_law == pytest.approx([0.5, 0.5], abs=1e-4)
