"""Leakages down to 1e-14 are claimed relative to their size; none at all is 0; a gap is what it says, however small both ends are."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

import dalenius as dl
import support
from campaigns import each
from dalenius.cli import app
from dalenius.information import measures as m
from dalenius.information import relative_entropy
from dalenius.results import relative_gap
from digits import inside

SMALL = ("1e-3", "1e-4", "1e-5", "1e-6", "1e-7")  # of a fair coin, by which the mechanism is not fair
PRIORS = {
    "any": dl.AnyPrior(),
    "half": dl.EntropyAtLeast("0.5 max"),
    "independent": dl.ProductPriors(),
    "listed": dl.PriorSet([["1/2", 0, 0, 0, 0, 0, 0, "1/2"]]),
}


def parity(flip, adversary):
    return support.problem(dl.Records(3, alphabet=2), dl.Parity(), dl.symmetric(flip), adversary)


def capacity(off):
    """Of the binary symmetric channel that flips with probability 1/2 - off: log 2 - h(1/2 - off), to fifty digits."""
    with localcontext(prec=60):
        p = Decimal("0.5") - Decimal(off)
        return Fraction(Decimal(2).ln() + p * p.ln() + (1 - p) * (1 - p).ln())


@each("adversary", *PRIORS)
@each("off", *SMALL)
def test_a_small_leakage_is_found_relative_to_its_size(off, adversary):
    """2e-10 used to be 0 .. 2.001e-10, and everything below 2e-11 as narrow as was asked for."""
    result = dl.solve(parity(Fraction(1, 2) - Fraction(off), PRIORS[adversary]))
    assert Fraction(result.lower) <= capacity(off) <= Fraction(result.upper)
    assert 0.0 < result.gap <= 1e-4
    assert result.termination is dl.answers.Termination.GAP_REACHED


@each("off", "1e-5", "1e-6")
def test_where_doubles_do_not_steer_the_search_it_stalls_and_says_so(off):
    """Against an entropy bound that binds; it ends at once."""
    result = dl.solve(parity(Fraction(1, 2) - Fraction(off), dl.EntropyAtLeast("0.95 max")), node_limit=3000)
    assert 0.0 < result.lower <= result.upper <= float(capacity(off)) * (1.0 + 1e-3)
    assert result.gap > 1e-4
    assert result.termination is dl.answers.Termination.STALLED
    assert max(record.leaves for record in result.records) < 3000


@each("adversary", *PRIORS.values(), dl.EntropyAtLeast("0.95 max"), dl.EntropyAtLeast(1, "max"))
@each(
    "mechanism",
    dl.symmetric("1/2"),
    dl.Channel([["0.3", "0.7"], ["3/10", "7/10"]]),
    dl.DesignedMechanism([["1/3", "2/3"], ["1/3", "2/3"]]),
)
def test_a_constant_mechanism_leaks_0_exactly(mechanism, adversary):
    result = dl.solve(support.problem(dl.Records(3, alphabet=2), dl.Parity(), mechanism, adversary))
    assert (result.lower, result.upper, result.gap) == (0.0, 0.0, 0.0)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert not result.refusals


@each("mechanism", dl.exponential(0), dl.exponential(0, range=(4, 9)), dl.randomized_response(0), dl.symmetric("2/3"))
def test_noise_that_ignores_the_value_leaks_0_exactly_whatever_the_values_are(mechanism):
    problem = support.problem(dl.Records(2, alphabet=2), dl.Table([5, 6, 6, 7]), mechanism, "1 bits")
    result = dl.solve(problem)
    assert (result.lower, result.upper, result.termination) == (0.0, 0.0, dl.answers.Termination.GAP_REACHED)


@each("adversary", dl.AnyPrior(), dl.EntropyAtLeast("0.5 max"), dl.ProductPriors())
@each("mechanism", dl.symmetric("0.2"), dl.Channel([["1/3", "2/3"], [1, 0]]))
def test_a_query_with_one_value_leaks_0_exactly_whatever_the_other_rows_are(mechanism, adversary):
    """Of a count of all letters only the largest value occurs."""
    query = dl.Count(letters=(0, 1))
    result = dl.solve(support.problem(dl.Records(1, alphabet=2), query, mechanism, adversary))
    assert (result.lower, result.upper, result.termination) == (0.0, 0.0, dl.answers.Termination.GAP_REACHED)
    assert not result.refusals


def test_rows_that_are_equal_as_doubles_only_leak_something():
    problem = support.problem(
        dl.Records(2, alphabet=2),
        dl.Parity(),
        dl.Channel([["1/2", "1/2"], ["0.50000000000000000001", "0.49999999999999999999"]]),
        dl.AnyPrior(),
    )
    result = dl.solve(problem)
    assert result.lower == 0.0 < result.upper <= 1e-12
    assert (result.gap, result.termination) == (1.0, dl.answers.Termination.STALLED)


def test_a_query_that_is_fair_under_the_uniform_prior_leaks_0_exactly():
    result = dl.solve(parity("0.1", dl.EntropyAtLeast(1, "max")))
    assert (result.lower, result.upper) == (0.0, 0.0)


def test_a_gap_is_what_it_says():
    assert relative_gap(0.0, 1.1e-13) == 1.0
    assert relative_gap(0.0, 5e-324) == 1.0
    assert relative_gap(1e-300, 2e-300) == 0.5
    assert relative_gap(0.0, 0.0) == relative_gap(0.3, 0.3) == 0.0
    assert 0.0 < relative_gap(math.nextafter(1.0, 0.0), 1.0) <= 1.2e-16
    assert Fraction(relative_gap(0.1, 0.3)) >= 1 - Fraction(0.1) / Fraction(0.3), "rounded upward"


@each("gap", math.inf, math.nan, -1e-9)
def test_a_gap_is_asked_for_by_a_finite_number(gap):
    problem = parity("0.1", dl.AnyPrior())
    for ask in (
        lambda: dl.solve(problem, gap=gap),
        lambda: dl.compare(problem, methods=["paper-full"], gap=gap),
        lambda: dl.solve(problem).require(gap=gap),
    ):
        with pytest.raises(dl.errors.InputError, match="gap: expected a"):
            ask()


def test_an_infinite_gap_on_the_command_line_is_bad_input():
    done = CliRunner().invoke(app, ["solve", "identity/bit", "--gap", "inf"])
    assert isinstance(done.exception, dl.errors.InputError)
    assert str(done.exception) == "gap: expected a finite number of at least 0, got inf"


# Reference values of the catalogue that no other test has: secrets of three letters, unsanitised data, uniform binary designs.


J1 = np.array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
J2 = np.array([[0.20, 0.05, 0.05], [0.05, 0.25, 0.05], [0.05, 0.05, 0.25]])
A = [[0.30, 0.15, 0.05], [0.05, 0.15, 0.30]]
B = np.diag([0.5, 0.3, 0.2]).tolist()
C = [[0.25, 0.15, 0.08, 0.02], [0.02, 0.08, 0.15, 0.25]]
ONE = {"records": dl.Records(1, alphabet=2), "query": dl.Identity()}


@each(
    "joint, values",  # 002/003, section 3.7: of each letter of the secret
    (J1, [0.1673976434, 0.1240111851]),
    (J2, [0.2798038324, 0.2865395513, 0.2865395513]),
)
def test_strong_divergence_of_each_letter(joint, values):
    channel, prior = m.split(joint)
    told = [float(relative_entropy(prior @ channel, row)) for row in channel]
    np.testing.assert_allclose(told, values, atol=5e-11)
    assert m.strong_kl(channel, prior) == pytest.approx(max(told), rel=1e-14)


def test_the_other_singular_value():
    """Section 3.11: chi-square is the sum of the squares of all but the first."""
    channel, prior = m.split(J2)
    rest = math.sqrt(m.chi_square(channel, prior) - m.maximal_correlation(channel, prior) ** 2)
    assert rest == pytest.approx(0.52380952381, abs=5e-12)


@each(
    "joint, values",  # section 3.15: what the data themselves tell
    (A, ("0.5", "0.1981216036", "0.3571428571", "0.3571428571")),
    (B, ("1.24", "1.029653014", "2", "1")),
    (C, ("0.6", "0.2533574402", "0.4344605475", "0.4344605475")),
)
def test_unsanitised(joint, values):
    found = dl.measure(np.eye(len(joint[0])), prior=joint)
    for name, value in zip(("total_variation", "mutual_information", "chi_square"), values[:3], strict=True):
        inside(found[name], value)
    rho = found["maximal_correlation"]
    assert rho.lower**2 - 5e-11 <= float(values[3]) <= rho.upper**2 + 5e-11


@each("epsilon, value", (0.1, 0.8), (0.5, 0.8), (1, 0.8321205588))
def test_a_useful_guess(epsilon, value):
    """Section 2.16: the largest probability to guess right whether the letter is the last one."""
    problem = dl.MaxUtility(
        records=dl.Records(1, alphabet=3),
        query=dl.Identity(),
        law=dl.Iid([0.5, 0.3, 0.2]),
        utility=[[1, 0], [1, 0], [0, 1]],
        privacy=dl.PointwiseMaximalLeakage(epsilon),
    )
    low, high = problem.utilities(dl.solve(problem))
    assert low - 5e-11 <= value <= high + 5e-11


def test_capacities():
    """000/001, P0-2: of the rows that a class of the inputs selects, and of randomised response of a record."""
    channel = 0.05 + 0.85 * np.eye(3)
    for x in (0, 1):
        inside(dl.measure(channel[[x, 2]].round(2).tolist())["shannon_capacity"], "0.4626073734")
    inside(dl.measure(dl.randomized_response(1, k=2))["shannon_capacity"], "0.110944071672")


@each("bound, law", (0, (0.508326, 0.491674, 0)), (1, (0.461303, 0.397534, 0.141163)))
def test_the_worst_law_of_an_entropy_ball(bound, law):
    """P0-2: where the largest information is attained."""
    channel = dl.Channel([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]])
    found = dl.solve(support.problem(dl.Records(1, alphabet=3), dl.Identity(), channel, bound), gap=1e-9)
    np.testing.assert_allclose(found.witness.letter_law, law, atol=2e-5)
