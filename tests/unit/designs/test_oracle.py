"""The oracle of an exchange: its priors are feasible, exact as written, and learn as much as an audit finds."""

import math

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.designs.oracle import block_masses, oracle_of
from dalenius.information import mutual_information
from dalenius.reduction import Orbits, record_completions
from dalenius.search.clock import Clock

ADVERSARIES = {
    "all": dl.EntropyAtLeast(0),
    "some entropy": dl.EntropyAtLeast("0.7 max"),
    "all entropy": dl.EntropyAtLeast("1 max"),
    "independent": dl.ProductPriors(),
    "a household": dl.IndependentBlocks(2),
    "some entropy in a household": dl.IndependentBlocks(2, entropy_at_least="0.7 max"),
    "households of one": dl.IndependentBlocks(1),
    "listed": dl.PriorSet([["1/4"] * 4, ["1/2", 0, 0, "1/2"]]),
}


def design(adversary, records=None):
    return support.design(dl.MinLeakage, records or dl.Records(2, alphabet=2), dl.Sum(), dl.Absolute(), 0.3, adversary)


def adversary_of(problem):
    return oracle_of(problem, Orbits.of(problem).completions, np.random.default_rng(0))


@pytest.mark.parametrize("name", ADVERSARIES)
def test_the_worst_priors_are_priors_and_as_good_as_an_audit(name, support):
    problem = design(ADVERSARIES[name])
    found, Q = adversary_of(problem), np.array([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.3, 0.7]])
    priors = found.worst_priors(Q, [], Clock(10.0))
    audit = support.solve(problem.release(Q.tolist()), gap=1e-3, time_limit=10.0)
    assert audit.lower - 1e-9 <= max(found.leakage(prior, Q) for prior in priors) <= audit.upper + 1e-9
    tables = {part.record: part.uniform for part in record_completions(problem)}
    for prior in [*priors, found.any_prior]:
        assert prior.masses.sum() == pytest.approx(1.0, abs=1e-14)
        assert prior.masses.min() >= 0.0
        if isinstance(problem.adversary, dl.EntropyAtLeast):
            held = prior.masses > 0.0
            knows = np.sum(prior.masses[held] * np.log(prior.masses[held] / tables[prior.record][held]))
            assert knows <= problem.max_knowledge + 1e-15
            assert prior.hint in (None, "uniform")


def test_the_selection_of_which_a_class_tells_most_is_found():
    """Eight of nine have rows that are farther apart, of a letter that is rare."""
    rare = dl.PolytopePriors([["1/100", "99/100", "0"], ["0", "0", "1"]])
    records = dl.Records(3, alphabet=3)
    problem = support.design(dl.MinDistortion, records, dl.Sum(), dl.Absolute(), 0.3, rare, mechanism="full")
    Q = np.tile([0.9, 0.1], (27, 1))  # by dataset, the first record's letter first
    Q[:8], Q[26] = [0.0, 1.0], [0.5, 0.5]
    found = adversary_of(problem)
    priors = [prior for prior in found.worst_priors(Q, [], Clock(10.0)) if prior.record == 0]
    even = found.parts[0].lift(8, np.array([1 / 200, 99 / 200, 1 / 2]))
    assert max(found.leakage(prior, Q) for prior in priors) >= mutual_information(even @ Q) > 0.1


@each("name", *ADVERSARIES)
def test_an_oracle_without_time_still_answers_with_priors(name):
    problem = design(ADVERSARIES[name])
    clock = Clock(10.0)
    clock.stop()
    for prior in adversary_of(problem).worst_priors(np.eye(3), [], clock):
        assert prior.masses.sum() == pytest.approx(1.0, abs=1e-12)


@each("adversary", dl.EntropyAtLeast(0), dl.ProductPriors(), dl.PriorSet([[1]]))
def test_any_prior_is_there_even_without_secrets(adversary):
    assert adversary_of(design(adversary, dl.Records(2, alphabet=1))).any_prior.masses.tolist() == [[1.0]]


def test_a_large_count_has_worst_priors():
    problem = support.design(dl.MinLeakage, dl.Records(60, alphabet=2), dl.Count(), dl.Absolute(), 1, 20)
    found, clock = adversary_of(problem), Clock(0.5)
    priors = found.worst_priors(np.eye(61), [], clock)
    assert priors
    assert clock.seconds < 5.0
    assert all(0.0 <= found.leakage(prior, np.eye(61)) <= math.log(2) + 1e-12 for prior in priors)


@each("entropy", None, "0.7 max", "1 max")
def test_the_priors_of_a_block_are_read_as_they_are_written(entropy):
    blocks = dl.IndependentBlocks(sizes=[1, 2], entropy_at_least=entropy)
    problem = design(blocks, dl.Records(alphabets=[3, 2, 2]))
    found = adversary_of(problem)
    Q = np.random.default_rng(0).dirichlet(np.ones(problem.output_count), size=problem.input_count)
    for prior in [found.any_prior, *found.worst_priors(Q, [], Clock(10.0))]:
        assert np.allclose(
            block_masses(problem, blocks, prior.record, prior.hint), prior.masses, rtol=1e-12, atol=1e-15
        )
    with pytest.raises(KeyError):
        block_masses(problem, blocks, 0, ("7", "uniform"))
