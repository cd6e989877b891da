"""The least of all upper bounds is returned, a cut-short search keeps its best, and proofs carry over to larger entropy."""

import itertools

import pytest

import dalenius as dl
from dalenius.studies.curves import entropy_curve


def letters_problem(bound):
    return dl.WorstCaseLeakage(
        records=dl.Records(alphabets=[2, 4, 3]),
        query=dl.Count(letters=[0, 3]),
        mechanism=dl.geometric(1.0),
        adversary=dl.EntropyAtLeast(bound),
    )


def test_an_upper_bound_for_less_entropy_is_never_beaten_by_the_answer():
    free = dl.solve(letters_problem("0 max"), gap=1e-2, time_limit=5)
    assert dl.solve(letters_problem("0.5 max"), gap=1e-2, time_limit=5).upper <= free.upper + 1e-6


def test_a_known_proof_holds_for_an_adversary_with_more_entropy():
    free = dl.solve(letters_problem("0.3 max"), gap=1e-2, time_limit=5)
    later = dl.solve(letters_problem("0.6 max"), gap=0.9, time_limit=0.01, known=free)
    assert later.upper <= free.upper + 1e-12
    assert dl.verify(letters_problem("0.6 max"), later.certificate).proved


@pytest.mark.thorough
def test_the_upper_ends_of_a_curve_fall():
    problem = letters_problem("0 max")
    uppers = [point.result.upper for point in entropy_curve(problem, [0, 0.25, 0.5, 0.75, 1], gap=1e-2, time_limit=0.5)]
    assert all(right <= left + 1e-12 for left, right in itertools.pairwise(uppers))


def test_a_search_cut_short_keeps_a_leaking_witness():
    problem = letters_problem("0.5 max")
    full = dl.solve(problem, gap=1e-2, time_limit=10)
    for limit in (0.2, 0.5, 1.0):
        assert dl.solve(problem, gap=1e-9, time_limit=limit).lower >= 0.5 * full.lower


def test_no_leakage_is_no_gap():
    problem = dl.WorstCaseLeakage(
        records=dl.Records(2, alphabet=2),
        query=dl.Count(),
        mechanism=dl.randomized_response(0, k=3),
        adversary=dl.EntropyAtLeast("1 bits"),
    )
    result = dl.solve(problem)
    assert (result.gap, result.termination) == (0.0, dl.answers.Termination.GAP_REACHED)
    assert result.require(gap=1e-9) is result
