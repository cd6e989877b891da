"""Parity through a binary symmetric channel: Mrs. Gerber's lemma gives the leakage in closed form."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.information.capacity import capacity

CAPACITY = 0.0795415058653  # log 2 - h(e^(-1/2)/2)
PUBLISHED = {0.5: 0.062, 1.0: 0.041, 1.5: 0.022, 2.0: 0.009}  # the source paper's Table 3
CIRCULATED = 0.0110037994307  # a reference value for b = 2.7; see test_circulated_value_is_a_misprint


LOG_2 = math.log(2.0)
UNIFORM = [["1/4"] * 4]
TIED = [[0.5, 0, 0, 0.5]]  # two fair bits, always equal


def independent(sizes, query, mechanism):
    return support.problem(sizes, query, mechanism, dl.ProductPriors())


def response(epsilon):
    """The leakage of randomised response: log 2 - h(1/(1 + e^epsilon))."""
    return math.log(2.0) - support.binary_entropy(1.0 / (1.0 + math.exp(epsilon)))


def parity(adversary, flip="0.1"):
    return support.problem(dl.Records(2, alphabet=2), dl.Parity(), dl.symmetric(flip, k=2), adversary)


def ternary(letters, flip):
    """The capacity of a symmetric channel."""
    return math.log(letters) - support.binary_entropy(flip) - flip * math.log(letters - 1)


@each(
    "question, exact, gap",
    *((support.parity4(bound), CAPACITY, 1e-6) for bound in (0, 0.5, 1, 1.5, 2)),
    (support.parity4("1 max"), 0.0, 0.0),
    *(
        (
            support.problem([2] * n, dl.Parity(), dl.symmetric(flip, k=2), f"{bits} bits"),
            support.gerber(n, flip, float(bits) * LOG_2),
            1e-3,
        )
        for n, flip, bits in ((2, 0.1, "0.5"), (2, 0.25, "1.9"), (3, 0.05, "2.3"), (6, 0.4, "5.75"), (5, 0, "4.5"))
    ),
    (
        support.problem(dl.Records(1000, alphabet=2), dl.Parity(), dl.laplace_threshold(1.0), "999.5 bits"),
        support.gerber(1000, math.exp(-0.5) / 2, 999.5 * LOG_2),
        1e-4,
    ),
    *(
        (support.problem([2] * 3, dl.Parity(), dl.exponential(epsilon, range=1), "1 bits"), response(epsilon / 2), 1e-5)
        for epsilon in (0.1, 1.0, 4.0)
    ),
    *(  # a uniform first letter and the rest uniform on one residue reach the channel's capacity for b <= (n-1) log m
        (
            support.problem([m] * n, dl.ModularSum(m), dl.symmetric(flip, k=m), f"{n - 1}/{n} max"),
            ternary(m, flip),
            1e-4,
        )
        for m, n, flip in ((3, 3, 0.2), (4, 2, 0.3), (5, 3, 0.1))
    ),
    *(
        (support.problem([size, 2], dl.Identity(), dl.symmetric(0, k=2 * size), 0), math.log(size), 1e-9)
        for size in (2, 3, 5)
    ),
    *(
        (independent([2] * 5, dl.Threshold(3), dl.randomized_response(epsilon, k=2)), response(epsilon), 1e-9)
        for epsilon in (0.1, 1.0, 8.0)
    ),
    *(  # the Z-channel
        (
            independent([2], None, dl.Channel([[1, 0], [p, 1 - p]], inputs="dataset")),
            math.log(1 + (1 - p) * p ** (p / (1 - p))),
            1e-9,
        )
        for p in (0.1, 0.5, 0.9)
    ),
    *((independent([k] * 3, dl.ModularSum(k), dl.symmetric(0.3, k=k)), ternary(k, 0.3), 1e-9) for k in (3, 7)),
    # e^-1000 is zero as a double, and still a positive probability
    (independent([2, 2], dl.Count(), dl.geometric(1000, range=(0, 4))), LOG_2, 1e-9),
    (support.problem([2, 2], dl.Count(), dl.symmetric(0, k=3), dl.PriorSet(TIED)), LOG_2, 1e-9),
    *((parity(dl.PriorSet(priors)), 0.0, 0.0) for priors in (TIED, np.eye(4))),
    (independent([3, 1], dl.Sum([0, 0, 0]), dl.Channel([[0.3, 0.7]])), 0.0, 0.0),
    (support.problem([2], dl.Identity(), dl.Channel([["1/3", "2/3"]] * 2), dl.L1BallPriors([0.5, 0.5], 0.2)), 0.0, 0.0),
    *(
        (support.problem([2] * 3, query, mechanism, bound), 0.0, 0.0)
        for bound in ("0 max", "0.5 max", "1 max")
        for query, mechanism in (
            (dl.Parity(), dl.symmetric("1/2", k=2)),
            (dl.Parity(), dl.randomized_response(0, k=2)),
            (dl.Parity(), dl.laplace_threshold(0)),
            (dl.Count(), dl.exponential(0, range=3)),
            (dl.Count(), dl.Channel([["0.3", "0.3", "0.4"]] * 4)),
            (dl.Count(), dl.Channel([[1]] * 4)),
        )
    ),
)
def test_closed_forms(question, exact, gap):
    result = dl.solve(question, gap=gap or 1e-4)
    support.assert_contains(result, exact, gap=gap)
    assert exact > 0.0 or (result.upper <= 1e-11 and result.witness is None)
    assert result.termination is dl.answers.Termination.GAP_REACHED


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


def test_witness_is_uniform_on_one_parity_class(support):
    """At b <= 3 log 2 a fair first bit with the rest uniform on even parity attains the capacity."""
    result = dl.solve(support.parity4("3 bits"), gap=1e-6)
    support.assert_contains(result, CAPACITY, gap=1e-6)
    assert result.witness is not None
    assert result.witness.letter_law == pytest.approx([0.5, 0.5], abs=1e-4)


# Modular sums through symmetric channels.


def test_known_instance(support):
    question = support.problem([3] * 3, dl.ModularSum(3), dl.symmetric(0.2, k=3), "0.8 max")
    result = dl.solve(question, gap=1e-3)
    assert result.lower >= 0.30954
    assert result.upper >= 0.3095486
    assert result.gap <= 1e-3


def test_one_record_is_the_channel_itself(support):
    """One record through a symmetric channel: uniform attains the capacity, and it is feasible for every b."""
    question = support.problem([4], dl.ModularSum(4), dl.symmetric(0.1, k=4), "0.9 max")
    low, high = support.capacity(question.channel)
    result = dl.solve(question, gap=1e-4)
    assert result.lower <= high
    assert low <= result.upper
    assert result.gap <= 1e-4


# Without an entropy bound the leakage is the largest Shannon capacity of a selection of one row a letter.


RANDOM = [["0.7", "0.2", "0.1"], ["0.1", "0.6", "0.3"], ["0.25", "0.25", "0.5"], ["0.05", "0.05", "0.9"]]

CASES = {
    "count": ([2] * 3, dl.Count(), dl.geometric(0.7)),
    "count of two letters": ([3, 3], dl.Count([0, 2]), dl.exponential(1.5)),
    "sum": ([2, 3], dl.Sum(), dl.Channel(RANDOM)),
    "modular sum": ([3, 3], dl.ModularSum(3), dl.symmetric(0.15, k=3)),
    "threshold": ([2] * 4, dl.Threshold(3), dl.randomized_response(0.5, k=2)),
    "unequal weights": ([2, 2], dl.Sum([[0, 1], [0, 2]]), dl.Channel(RANDOM)),
    "table": ([2, 2], dl.Table([3, 0, 0, 7]), dl.Channel([["0.5", "0.5"], ["0.9", "0.1"], ["0.2", "0.8"]])),
    "identity": ([2, 2], dl.Identity(), dl.Channel(RANDOM)),
    "a threshold nobody reaches": ([2, 2], dl.Threshold(9), dl.symmetric(0.1, k=2)),
}


@each("name", *CASES)
def test_best_selection(support, name):
    question = support.problem(*CASES[name], 0)
    low, high = support.without_entropy(question)
    result = dl.solve(question, gap=1e-4)
    assert result.lower <= high
    assert low <= result.upper
    assert result.upper - result.lower <= max(1e-4 * result.upper, 2e-11)


# At b = log |X| the uniform prior is the only adversary, and its leakage is a finite sum.


CASES_OF_ONE_PRIOR = {
    "parity": ([2] * 3, dl.Parity(), dl.symmetric(0.1, k=2)),
    "count": ([2] * 4, dl.Count(), dl.geometric(1.0)),
    "count of mixed records": ([2, 3, 4], dl.Count([0, 3]), dl.exponential(2.0, range=(0, 5))),
    "sum": ([3, 3], dl.Sum([0, 1, 5]), dl.symmetric(0.3)),
    "threshold": ([2] * 5, dl.Threshold(2), dl.laplace_threshold(2.0)),
    "modular sum of binary records": ([2, 2], dl.ModularSum(3), dl.symmetric(0.2, k=3)),
    "identity": ([2, 3], dl.Identity(), dl.randomized_response(1.0)),
    "one letter only": ([1, 1], dl.Sum(), dl.Channel([["0.5", "0.5"]])),
}


@each("name", *CASES_OF_ONE_PRIOR)
def test_uniform_prior_only(support, name):
    question = support.problem(*CASES_OF_ONE_PRIOR[name], "1 max")
    exact = support.worst_leakage(np.full(question.records.datasets, 1.0 / question.records.datasets), question)
    result = support.solve(question)
    support.assert_contains(result, exact)
    assert result.upper - result.lower <= 1e-11


def test_equal_bound_in_bits(support):
    question = support.problem([2] * 4, dl.Count(), dl.geometric(1.0), "4 bits")
    share = support.problem([2] * 4, dl.Count(), dl.geometric(1.0), "1 max")
    first, second = support.solve(question), support.solve(share)
    assert (first.lower, first.upper) == (second.lower, second.upper)
    assert first.upper > 0.0


def test_lower_bound_is_never_below_the_uniform_prior(support):
    """The uniform prior is feasible for every bound."""
    question = support.problem([2] * 4, dl.Count(), dl.geometric(1.0), "0.97 max")
    exact = support.worst_leakage(np.full(16, 1.0 / 16.0), question)
    assert support.solve(question).upper >= exact
    assert support.solve(question).lower >= exact * (1 - 1e-9)


# What holds for every instance: monotone in b, capped by alphabets, outputs and the whole channel's capacity.


BOUNDS = ["0 max", "0.3 max", "0.6 max", "0.8 max", "0.95 max", "1 max"]

INSTANCES = {
    "count": ([2] * 3, dl.Count(), dl.geometric(1.0)),
    "sum": ([2, 3], dl.Sum(), dl.exponential(2.0)),
    "modular sum": ([3, 3], dl.ModularSum(3), dl.symmetric(0.1, k=3)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", INSTANCES)
def test_falls_with_the_entropy_bound(support, name):
    results = [support.solve(support.problem(*INSTANCES[name], bound)) for bound in BOUNDS]
    for weak, strong in itertools.combinations(results, 2):
        assert strong.lower <= weak.upper


@each("bound", "0 max", "0.5 max")
@each(
    "sizes, query, mechanism, cap",
    ([4], dl.Identity(), dl.symmetric(0, k=4), math.log(4)),
    ([3, 3], dl.Threshold(2), dl.symmetric(0, k=2), math.log(2)),
    ([2] * 4, dl.Count(), dl.symmetric(0, k=5), math.log(2)),
)
def test_capped_by_letters_and_outputs(support, sizes, query, mechanism, cap, bound):
    result = support.solve(support.problem(sizes, query, mechanism, bound))
    assert result.lower <= cap
    assert result.upper <= cap + 1e-9


@pytest.mark.parametrize("name", INSTANCES)
def test_below_the_capacity_of_the_whole_channel(support, name):
    question = support.problem(*INSTANCES[name], "0.5 max")
    assert support.solve(question).lower <= support.capacity(support.full_channel(question))[1]


def test_correlated_records_leak_more_than_the_privacy_parameter_suggests(support):
    """A count with epsilon 1: independent records leak at most log 2 - h(1/(1+e)), correlated ones exceed that."""
    independent = math.log(2.0) - support.binary_entropy(1.0 / (1.0 + math.e))
    question = support.problem([2] * 6, dl.Count(), dl.geometric(1.0), "1 bits")
    assert support.solve(question).lower > independent
    assert support.solve(support.with_bound(question, "1 max")).upper <= independent


# Channels whose Shannon capacity is known in closed form.


ROUNDING = 1e-13  # the bounds are evaluated in doubles


def assert_capacity(rows, exact) -> None:
    answer = capacity(np.array(rows, dtype=float))
    assert answer.lower <= exact + ROUNDING
    assert exact <= answer.upper + ROUNDING
    assert 0.0 <= answer.gap <= 1e-9


def symmetric(size, flip):
    return np.full((size, size), flip / (size - 1)) + (1.0 - flip * size / (size - 1)) * np.eye(size)


def row_entropy(row) -> float:
    return -sum(x * math.log(x) for x in row if x > 0.0)


@each("flip", 0.0, 1e-300, 1e-9, 0.01, 0.11, 0.3, 0.4999999, 0.5, 0.9, 1.0)
def test_binary_symmetric_channel(support, flip):
    assert_capacity([[1.0 - flip, flip], [flip, 1.0 - flip]], math.log(2.0) - support.binary_entropy(flip))


@each("lost", 0.0, 1e-12, 0.2, 0.5, 0.999, 1.0)
def test_binary_erasure_channel(lost):
    assert_capacity([[1.0 - lost, lost, 0.0], [0.0, lost, 1.0 - lost]], (1.0 - lost) * math.log(2.0))


@each("flip", 1e-300, 1e-9, 0.01, 0.5, 0.9, 0.9999)
def test_z_channel(flip):
    assert_capacity([[1.0, 0.0], [flip, 1.0 - flip]], math.log1p((1.0 - flip) * flip ** (flip / (1.0 - flip))))


@each("size", 1, 2, 3, 10, 70, 130)
def test_noiseless_channel(size):
    assert_capacity(np.eye(size), math.log(size))


@each("outputs", [0, 0, 0], [0, 1, 1, 0], [3, 1, 3, 0, 1, 2])
def test_deterministic_channel(outputs):
    assert_capacity(np.eye(5)[outputs], math.log(len(set(outputs))))


@each("size", 2, 3, 8, 61, 125)
@each("flip", 0.01, 0.2, 0.7)
def test_symmetric_channel(support, size, flip):
    """One tile of the elimination, and more than one."""
    exact = math.log(size) - support.binary_entropy(flip) - flip * math.log(size - 1)
    assert_capacity(symmetric(size, flip), exact)


@each(
    "rows",
    [[1 / 3, 1 / 6, 1 / 2], [1 / 3, 1 / 2, 1 / 6]],
    [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]],
    np.full((4, 6), 1 / 6),
)
def test_weakly_symmetric_channel(rows):
    """Rows that permute each other and equal column sums: log of the outputs minus the entropy of a row."""
    assert_capacity(rows, math.log(len(rows[0])) - row_entropy(rows[0]))


@each("seed", *range(4))
def test_invertible_channel_that_uses_every_input(seed):
    """All divergences equal C, so C = log sum_y exp(-(R^-1 h)(y)) with h the entropies of the rows."""
    rows = 0.6 * np.eye(5) + 0.4 * np.random.default_rng(seed).dirichlet(np.ones(5), size=5)
    inverted = np.linalg.solve(rows, [row_entropy(row) for row in rows])
    assert_capacity(rows, math.log(np.exp(-inverted).sum()))


@each("uses", 1, 2, 5, 7)
def test_several_uses(support, uses):
    """Capacities of independent channels add."""
    single, rows = np.array([[0.9, 0.1], [0.1, 0.9]]), np.ones((1, 1))
    for _ in range(uses):
        rows = np.kron(rows, single)
    assert_capacity(rows, uses * (math.log(2.0) - support.binary_entropy(0.1)))


def test_a_choice_between_channels(support):
    """Channels without a common output: C = log sum exp C_i."""
    parts = [symmetric(3, 0.2), np.array([[0.5, 0.5]]), symmetric(2, 0.25)]
    rows = np.zeros((6, 7))
    rows[:3, :3], rows[3:4, 3:5], rows[4:, 5:] = parts
    first = math.log(3) - support.binary_entropy(0.2) - 0.2 * math.log(2)
    last = math.log(2) - support.binary_entropy(0.25)
    assert_capacity(rows, math.log(math.exp(first) + 1.0 + math.exp(last)))


def test_unused_inputs():
    """An input in the middle of two others is never worth using."""
    assert_capacity([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9], [0.7, 0.3]], math.log(2.0) - row_entropy([0.9, 0.1]))


# Independent records: closed forms, and what differential privacy promises.


@each("n", 1, 2, 5, 100_000)
@each("flip", "0", "0.01", "1/3", "0.4999", "1/2")
def test_parity(support, n, flip):
    question = independent(dl.Records(n, alphabet=2), dl.Parity(), dl.symmetric(flip, k=2))
    with localcontext(prec=50):  # an interval of 5e-8 is narrower than a closed form in doubles is exact
        p = Decimal(question.mechanism.flip.numerator) / question.mechanism.flip.denominator
        exact = Decimal(2).ln() + sum(x * x.ln() for x in (p, 1 - p) if x)
        result = dl.solve(question)
        assert Decimal(result.lower) <= exact + Decimal("1e-45")
        assert exact - Decimal("1e-45") <= Decimal(result.upper)
    assert result.upper - result.lower <= 1e-12
    assert result.scope is dl.answers.Scope.GLOBAL


@each("epsilon", 0.1, 1.0, 3.0)
@each("query, mechanism", (dl.Count(), dl.geometric), (dl.Sum([0, 1]), dl.exponential), (dl.Count(), dl.exponential))
def test_differential_privacy_bounds_independent_binary_records(support, query, mechanism, epsilon):
    result = dl.solve(independent([2] * 6, query, mechanism(epsilon)))
    assert result.upper <= response(epsilon) + 1e-12
    assert result.gap <= 1e-9


def test_the_most_exposed_record_is_named(support):
    """Only record 1 changes the parity of the sum; the others add even numbers."""
    question = independent([2, 3, 2], dl.Sum([[0, 2], [0, 1, 1], [2, 0]]), dl.Channel([[1, 0], [0, 1]] * 3))
    result = dl.solve(question)
    assert result.record == 1
    support.assert_contains(result, math.log(2.0), gap=1e-9)
    masses = result.witness.masses
    assert masses.shape == (3, 6)
    assert np.count_nonzero(masses, axis=1).max() == 1
    assert result.witness.letter_law.sum() == pytest.approx(1.0)
    assert result.witness.prior is None


def test_records_of_one_letter(support):
    result = dl.solve(independent([1, 1], dl.Sum(), dl.Channel([[0.3, 0.7]])))
    assert (result.lower, result.upper, result.record) == (0.0, 0.0, None)


def test_correlation_only_adds(support):
    mechanism, query = dl.geometric(1.0), dl.Count()
    alone = dl.solve(independent([2] * 3, query, mechanism))
    together = support.solve(support.problem([2] * 3, query, mechanism, dl.AnyPrior()), gap=1e-4)
    assert alone.upper < together.lower


def test_equal_records_are_solved_once(support):
    result = dl.solve(independent([2] * 50 + [3] * 7, dl.Sum(), dl.geometric(1.0)))
    assert [(part.record, part.times, part.method) for part in result.records] == [
        (0, 50, "selections"),
        (50, 7, "selections"),
    ]
    symmetric = dl.Table([sum(divmod(j, 2)) for j in range(4)])
    assert [part.times for part in dl.solve(independent([2, 2], symmetric, dl.geometric(1))).records] == [2]


def test_many_selections_share_few_laws_where_they_can(support):
    """All records but one select rows that leak little; one law bounds them all."""
    rows = [[1, 0, 0]] + [[0, 0.5 + j / 1000, 0.5 - j / 1000] for j in range(40)]
    result = dl.solve(independent([2] * 40, dl.Count(), dl.Channel(rows)))
    support.assert_contains(result, math.log(2.0), gap=1e-9)
    assert result.records[0].leaves <= 3


# Listed priors: closed forms.


def test_a_fair_bit_hides_the_other(support):
    result = dl.solve(parity(dl.PriorSet(UNIFORM)))
    support.assert_contains(result, 0.0)
    assert (result.gap, result.termination) == (0.0, dl.answers.Termination.GAP_REACHED)


def test_a_known_bit_hides_nothing(support):
    result = dl.solve(parity(dl.FixedPrior([[0.5, 0], [0.5, 0]])))  # record 1 is 0
    support.assert_contains(result, LOG_2 - support.binary_entropy(0.1), gap=1e-9)
    assert (result.record, result.witness.prior) == (0, 0)
    np.testing.assert_allclose(result.witness.masses, [[0.5, 0.0], [0.0, 0.5]])


def test_the_worst_of_several_priors_is_named(support):
    result = dl.solve(parity(dl.PriorSet([UNIFORM[0], TIED[0], [0, 0, 0.5, 0.5], [0.25, 0.75, 0, 0]])))
    support.assert_contains(result, LOG_2 - support.binary_entropy(0.1), gap=1e-9)
    assert (result.record, result.witness.prior) == (1, 2)


def test_the_uniform_prior_is_the_adversary_with_all_the_entropy(support):
    """Two ways to say it, on unequal alphabets."""
    channel = dl.Channel(np.random.default_rng(0).dirichlet(np.ones(4), size=6), inputs="dataset")
    listed = dl.solve(support.problem([2, 3], None, channel, dl.FixedPrior(np.full((2, 3), "1/6"))))
    bounded = dl.solve(support.problem([2, 3], None, channel, dl.EntropyAtLeast("1 max")))
    support.assert_overlap(listed, bounded)
    assert max(listed.gap, bounded.gap) < 1e-9


def test_a_prior_is_divided_by_its_exact_sum():
    third = dl.PriorSet([["0.3333333333", "0.3333333333", "0.3333333333", 0]])
    np.testing.assert_array_equal(third.weights, [[1 / 3, 1 / 3, 1 / 3, 0]])


def test_records_of_one_letter_under_listed_priors(support):
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


# Reference values of the source papers' catalogue for classes of laws (P0-2), and closed forms.


W0 = [["0.8", "0.1", "0.1"], ["0.2", "0.6", "0.2"], ["0.3", "0.3", "0.4"]]
THIRDS = [Fraction(1, 3)] * 3


@pytest.mark.parametrize(
    ("entropy", "digits"),
    thinned(
        [("0", 0.203980195), ("0.9", 0.202310492), ("1", 0.198691787), ("1.05", 0.194351223), ("1.09", 0.185206531)],
        every=2,
    ),
)
def test_an_entropy_bound_is_a_kl_ball_around_the_uniform_law(support, entropy, digits):
    """H(P) >= b is D(P || uniform) <= log n - b; the radius is rational, so that of two balls one is larger and one smaller."""
    radius = Fraction(round((math.log(3) - float(entropy)) * 10**12), 10**12)
    ends = [
        dl.solve(support.problem([3], dl.Identity(), dl.Channel(W0), dl.KLBallPriors(THIRDS, radius + shift)), gap=1e-9)
        for shift in (Fraction(-1, 10**11), Fraction(1, 10**11))
    ]
    assert ends[0].lower - 1e-9 <= digits <= ends[1].upper + 1e-9
    assert ends[1].upper - ends[0].lower <= 1e-9


def test_the_center_alone(support):
    balls = [kind(THIRDS, 0) for kind in (dl.KLBallPriors, dl.L1BallPriors, dl.ChiSquareBallPriors)]
    for adversary in (*balls, dl.FloorPriors("1/3"), dl.BoxPriors(THIRDS, THIRDS)):
        result = dl.solve(support.problem([3], dl.Identity(), dl.Channel(W0), adversary), gap=1e-9)
        assert result.lower - 1e-12 <= 0.175411136242 <= result.upper + 1e-12
        assert result.gap <= 1e-9


def test_letters_that_no_law_has_do_not_count(support):
    rows = [["0.5", "0.5"], ["0.4", "0.6"], ["1", "0"]]
    for adversary in (
        dl.KLBallPriors([0.5, 0.5, 0], 0.1),
        dl.ChiSquareBallPriors([0.5, 0.5, 0], 0.1),
        dl.BoxPriors([0, 0, 0], [1, 1, 0]),
        dl.PolytopePriors([[1, 0, 0], [0, 1, 0]]),
        dl.adversaries.MomentPriors([-1, -1, "1/3"], -2, -1),
    ):
        result = dl.solve(support.problem([3], dl.Identity(), dl.Channel(rows), adversary), gap=1e-9)
        assert result.gap <= 1e-9
        assert result.upper < 0.0051


@each("adversary", dl.BoxPriors([0.6, 0], [1, 0.4]), dl.adversaries.MomentPriors([5, -5], 1, 9))
def test_binary_randomised_response_in_a_box(support, adversary):
    """log(2) h2: I(p) of a symmetric channel is largest at the probability that is nearest to 1/2."""
    result = dl.solve(support.problem([2], dl.Identity(), dl.symmetric("0.1"), adversary), gap=1e-9)
    exact = support.binary_entropy(0.6 * 0.9 + 0.4 * 0.1) - support.binary_entropy(0.1)
    support.assert_contains(result, exact, gap=1e-9)
    assert np.allclose(result.witness.masses.sum(axis=1), [0.6, 0.4])


@each("low", "7/13", "-1")
def test_a_known_moment(support, low):
    """Where letters are told exactly L is the largest entropy of a law with the mean: that of the law proportional to 2^-f."""
    law = np.array([8, 4, 1]) / 13
    result = dl.solve(
        support.problem([3], dl.Identity(), dl.symmetric(0), dl.adversaries.MomentPriors([0, 1, 3], low, "7/13")),
        gap=1e-9,
    )
    support.assert_contains(result, -float(law @ np.log(law)), gap=1e-9)
    assert np.allclose(result.witness.masses.sum(axis=1), law)
