"""Symmetries: found where they are, refused where they are not, and priors moved by them are as good."""

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.information import mutual_information
from dalenius.reduction import Orbits, record_completions


def design(records, query, *, distortion=None, law=None, mechanism="oblivious", adversary=None):
    return support.design(
        dl.MinLeakage,
        records,
        query,
        distortion or dl.Hamming(),
        0.1,
        adversary or dl.EntropyAtLeast("0.5 max"),
        law=law or dl.Uniform(),
        mechanism=mechanism,
    )


@each(
    "problem, orbit_count, moves",
    (design(dl.Records(4, alphabet=2), dl.Count()), 5, 1),
    (design(dl.Records(4, alphabet=2), dl.Count(), mechanism="full"), 5, 1),
    (design(dl.Records(4, alphabet=2), dl.Count(), law=dl.Iid(["0.3", "0.7"])), 5, 0),
    (design(dl.Records(4, alphabet=2), dl.Count(), adversary=dl.ProductPriors()), 5, 0),
    (design(dl.Records(2, alphabet=4), dl.Table([(a * a + b * b) % 4 for a in range(4) for b in range(4)])), 3, 1),
    (design(dl.Records(alphabets=[2, 3]), dl.Table([0, 1, 1, 2, 1, 0]), distortion=dl.Squared()), 3, 0),
)
def test_which_symmetries_there_are(problem, orbit_count, moves):
    orbits = Orbits.of(problem)
    assert len(orbits.cost) == orbit_count
    assert bool(orbits.moving_outputs) == bool(moves)


def test_symmetries_in_words():
    """One is not called several."""
    problem = design(dl.Records(4, alphabet=2), dl.Count())
    assert Orbits.of(problem).explain()[-1].startswith("under 1 map of inputs and outputs")
    full = design(dl.Records(2, alphabet=2), dl.Count(), mechanism="full")
    assert Orbits.of(full).explain()[0].startswith("under 1 exchange of records or letters")


def test_orbits_are_values_where_records_and_letters_can_be_exchanged():
    orbits = Orbits.of(design(dl.Records(3, alphabet=3), dl.ModularSum(3), mechanism="full"))
    value = np.array([sum(x) % 3 for x in np.ndindex(3, 3, 3)])
    for orbit in range(len(orbits.cost)):
        assert len(set(value[orbits.orbit == orbit])) == 1


PROBLEMS = [
    design(dl.Records(3, alphabet=2), dl.Count()),
    design(dl.Records(3, alphabet=2), dl.Count(), mechanism="full"),
    design(dl.Records(2, alphabet=3), dl.ModularSum(3)),
    design(dl.Records(2, alphabet=3), dl.ModularSum(3), mechanism="full"),
    design(dl.Records(alphabets=[2, 3, 2]), dl.Sum(), mechanism="full", distortion=dl.Absolute()),
    design(
        dl.Records(2, alphabet=4), dl.Table([(a * a + b * b) % 4 for a in range(4) for b in range(4)]), mechanism="full"
    ),
]


def entropy(masses, log_uniform):
    held = masses > 0.0
    return float(np.sum(masses[held] * (log_uniform[held] - np.log(masses[held]))))


@each("problem", *PROBLEMS)
def test_images_of_a_prior_are_as_good(problem):
    """Entropy stays, and what a symmetric mechanism tells about a record stays; on orbits, and on the problem's own inputs."""
    orbits, rng = Orbits.of(problem), np.random.default_rng(1)
    tables = {part.record: part.log_uniform for part in record_completions(problem)}
    Q = rng.dirichlet(np.ones(problem.output_count), size=len(orbits.cost))
    for part in orbits.completions:
        held = np.isfinite(part.log_uniform)
        masses = np.where(held, rng.exponential(size=held.shape), 0.0)
        masses /= masses.sum()
        known = entropy(masses, part.log_uniform)
        for record, image in orbits.images(part.record, masses):
            own = next(other.log_uniform for other in orbits.completions if other.record == record)
            assert entropy(image, own) == pytest.approx(known, abs=1e-12)
        placed = orbits.lift(part.record, masses, rng.exponential(size=(len(masses), problem.output_count)))
        for record, image, _ in placed:
            assert image.sum() == pytest.approx(1.0, abs=1e-12)
            assert entropy(image, tables[record]) == pytest.approx(known, abs=1e-12)
            told = float(mutual_information(image @ orbits.lift_mechanism(Q)))
            assert told == pytest.approx(float(mutual_information(masses @ Q)), abs=1e-12)
        first = orbits.apply(placed[0][0], placed[0][1])
        assert first[0] == part.record
        assert np.allclose(first[1], masses, atol=1e-12)


@each("problem", *PROBLEMS)
def test_scores_of_all_images_are_alike_within_an_orbit(problem):
    orbits, rng = Orbits.of(problem), np.random.default_rng(2)
    part = orbits.completions[0]
    masses = np.where(np.isfinite(part.log_uniform), rng.exponential(size=part.log_uniform.shape), 0.0)
    masses /= masses.sum()
    phi = rng.exponential(size=(len(masses), problem.output_count))
    total = 0.0
    for _, image, own in orbits.lift(part.record, masses, phi):
        total = total + image.T @ (np.log(own / own.sum(axis=0)) - np.log(image.sum(axis=1, keepdims=True)))
    for orbit in range(len(orbits.cost)):
        assert np.ptp(total[orbits.orbit == orbit], axis=0).max() <= 1e-10


def test_costs_are_summed_over_orbits():
    problem = design(dl.Records(3, alphabet=2), dl.Count(), mechanism="full", law=dl.Iid(["0.2", "0.8"]))
    orbits = Orbits.of(problem)
    whole = problem.input_law[:, None] * problem.cost
    for orbit, cost in enumerate(orbits.cost):
        assert np.allclose(cost, whole[orbits.orbit == orbit].sum(axis=0), atol=1e-15)


@each("problem", *PROBLEMS)
def test_a_mechanism_on_orbits_leaks_no_more_and_costs_the_same(problem):
    """Applying what was lifted gives what there was; the mean over an orbit keeps the distortion, and tells no record's uniform prior
    more than some record was told before."""
    orbits, rng = Orbits.of(problem), np.random.default_rng(3)
    Q = rng.dirichlet(np.ones(problem.output_count), size=len(orbits.cost))
    assert np.allclose(orbits.apply_mechanism(orbits.lift_mechanism(Q)), Q, atol=1e-15)
    full = rng.dirichlet(np.ones(problem.output_count), size=problem.input_count)
    mean = orbits.apply_mechanism(full)
    cost = problem.input_law[:, None] * problem.cost
    assert np.sum(orbits.cost * mean) == pytest.approx(np.sum(cost * full), abs=1e-12)
    before = max(mutual_information(part.uniform @ full) for part in orbits.on_inputs.values())
    assert max(mutual_information(part.uniform @ mean) for part in orbits.completions) <= before + 1e-12
