"""Listed priors: closed forms."""

import math
from fractions import Fraction

import numpy as np

import dalenius as dl
import support
from campaigns import each

LOG_2 = math.log(2.0)
UNIFORM = [["1/4"] * 4]
TIED = [[0.5, 0, 0, 0.5]]  # two fair bits, always equal


def parity(adversary, flip="0.1"):
    return support.problem(dl.Records(2, alphabet=2), dl.Parity(), dl.symmetric(flip, k=2), adversary)


def test_a_fair_bit_hides_the_other(support):
    result = dl.solve(parity(dl.PriorSet(UNIFORM)))
    support.assert_contains(result, 0.0)
    assert (result.gap, result.termination) == (0.0, dl.answers.Termination.GAP_REACHED)


def test_a_known_bit_hides_nothing(support):
    result = dl.solve(parity(dl.FixedPrior([[0.5, 0], [0.5, 0]])))  # record 1 is 0
    support.assert_contains(result, LOG_2 - support.binary_entropy(0.1), gap=1e-9)
    assert (result.record, result.witness.prior) == (0, 0)
    np.testing.assert_allclose(result.witness.masses, [[0.5, 0.0], [0.0, 0.5]])


def test_equal_bits_have_no_parity_but_a_count(support):
    support.assert_contains(dl.solve(parity(dl.PriorSet(TIED))), 0.0)
    count = support.problem([2, 2], dl.Count(), dl.symmetric(0, k=3), dl.PriorSet(TIED))
    support.assert_contains(dl.solve(count), LOG_2, gap=1e-9)


def test_the_worst_of_several_priors_is_named(support):
    result = dl.solve(parity(dl.PriorSet([UNIFORM[0], TIED[0], [0, 0, 0.5, 0.5], [0.25, 0.75, 0, 0]])))
    support.assert_contains(result, LOG_2 - support.binary_entropy(0.1), gap=1e-9)
    assert (result.record, result.witness.prior) == (1, 2)


def test_the_uniform_prior_is_the_adversary_with_all_the_entropy(support):
    """Two ways to say it, on unequal alphabets."""
    rng = np.random.default_rng(0)
    channel = dl.Channel(rng.dirichlet(np.ones(4), size=6), inputs="dataset")
    listed = dl.solve(support.problem([2, 3], None, channel, dl.FixedPrior(np.full((2, 3), "1/6"))))
    bounded = dl.solve(support.problem([2, 3], None, channel, dl.EntropyAtLeast("1 max")))
    support.assert_overlap(listed, bounded)
    assert max(listed.gap, bounded.gap) < 1e-9


def test_point_masses_leak_nothing(support):
    result = dl.solve(parity(dl.PriorSet(np.eye(4))))
    support.assert_contains(result, 0.0)
    assert result.upper < 1e-12


def test_a_prior_is_divided_by_its_exact_sum():
    third = dl.PriorSet([["0.3333333333", "0.3333333333", "0.3333333333", 0]])
    np.testing.assert_array_equal(third.weights, [[1 / 3, 1 / 3, 1 / 3, 0]])


def test_records_of_one_letter(support):
    result = dl.solve(support.problem([1, 1], dl.Sum(), dl.Channel([[1]]), dl.FixedPrior([1])))
    assert (result.lower, result.upper, result.record) == (0.0, 0.0, None)


def test_entries_are_exact():
    adversary = dl.PriorSet([[0.1, "1/5", Fraction(3, 10), np.float64(0.4)]])
    assert adversary.priors == ((Fraction(1, 10), Fraction(1, 5), Fraction(3, 10), Fraction(2, 5)),)


@each("records", dl.Records(2, alphabet=2), dl.Records(alphabets=[1, 2, 1, 2]))
def test_an_array_has_one_axis_a_record(records):
    prior = np.arange(1, 5).reshape(records.alphabets) / 10
    dl.FixedPrior(prior).check(records)
    assert dl.FixedPrior(prior) == dl.FixedPrior([0.1, 0.2, 0.3, 0.4])
