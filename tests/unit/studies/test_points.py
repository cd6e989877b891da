"""Somebody else's priors and mechanisms as ends of intervals: always feasible, always proved, never on the wrong side."""

from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each, thinned
from dalenius.baselines import aggregated, full_joint
from dalenius.reduction import record_channels
from dalenius.search import Limits
from dalenius.studies.points import Prior, better_of, with_mechanism, with_prior

AUDIT = support.problem(dl.Records(alphabets=[2, 3, 2]), dl.Sum(), dl.geometric(0.7), "0.6 max")
DESIGNS = {
    "least distortion": support.design(
        dl.MinDistortion, dl.Records(3, alphabet=2), dl.Parity(), dl.Hamming(), "0.05", 1.0, mechanism="full"
    ),
    "least leakage": support.design(
        dl.MinLeakage, dl.Records(3, alphabet=2), dl.Count(), dl.Absolute(), "0.3", "0.6 max"
    ),
}


@pytest.fixture(scope="module")
def proved():
    return dl.solve(AUDIT, gap=0.1)


@each("family", full_joint(AUDIT), aggregated(AUDIT))
def test_random_priors_are_proved_as_what_they_are(family, proved):
    """Whoever's they are: each is worth at least what it leaks to the record that it is about, rounding apart."""
    rng = np.random.default_rng(0)
    for _ in range(draws(2, 20)):
        law = family.random(rng)
        value, best = family.judged(law)
        view = family.views[best]
        masses = view.masses(law, len(family.channel))
        result = with_prior(AUDIT, Prior(masses, None if family.shared else view.record))
        assert value * (1.0 - 1e-6) - 1e-12 <= result.lower <= proved.upper
        assert dl.verify(AUDIT, result.certificate).proved


def loose_lower() -> float:
    """What the uniform prior proves."""
    channel = record_channels(AUDIT)[0]
    return with_prior(AUDIT, Prior(channel.uniform, kind=channel.record)).lower


def test_what_breaks_the_entropy_bound_is_mixed_until_it_does_not(proved):
    channel = record_channels(AUDIT)[0]
    least, most = (np.flatnonzero(row)[[0, -1]] for row in channel.uniform)
    point = np.zeros(channel.uniform.shape)
    point[0, least[0]] = point[1, most[-1]] = 0.5
    result = with_prior(AUDIT, Prior(point, kind=channel.record))
    assert 0.05 < result.lower < proved.upper
    impossible = with_prior(AUDIT, Prior((channel.uniform == 0.0).astype(float), kind=channel.record))
    assert impossible.lower == pytest.approx(loose_lower(), rel=1e-9)
    assert dl.verify(AUDIT, result.certificate).proved


def test_the_better_end_is_taken_and_proved(proved):
    channel = record_channels(AUDIT)[0]
    loose = with_prior(AUDIT, Prior(channel.uniform, kind=channel.record))
    witness = with_prior(AUDIT, Prior(proved.witness.masses))
    joined = better_of(AUDIT, loose, witness, 1e-2)
    assert joined.lower == witness.lower == pytest.approx(proved.lower, rel=1e-6)
    assert (joined.upper, joined.termination) == (loose.upper, loose.termination)
    assert joined.witness is witness.witness
    assert dl.verify(AUDIT, joined.certificate).proved
    assert better_of(AUDIT, proved, loose, 1e-2) is proved
    assert better_of(AUDIT, loose, witness, 0.9).termination is dl.answers.Termination.GAP_REACHED


@pytest.mark.parametrize(("_", "problem"), thinned(DESIGNS.items(), every=2))
def test_mechanisms_meet_their_budget_exactly_and_are_proved(_, problem):
    """Whatever they are like: a mechanism that tells all, one that tells nothing, random rows."""
    inputs, outputs = problem.input_count, problem.output_count
    best = dl.solve(problem, gap=0.2, time_limit=2.0)
    rng = np.random.default_rng(0)
    least = np.eye(outputs)[np.argmin(problem.cost, axis=1)]
    drawn = [rng.dirichlet(np.ones(outputs), size=inputs) for _ in range(draws(1, 10))]
    for rows in (least, np.full((inputs, outputs), 1.0 / outputs), *drawn):
        design = with_mechanism(problem, rows, 1.0, Limits(gap=1e-2, time_limit=5.0))
        assert design.lower == 0.0
        assert design.upper >= best.lower
        assert all(sum(row) == 1 and min(row) >= 0 for row in design.mechanism.rows)
        if isinstance(problem, dl.MinLeakage):
            assert design.distortion <= problem.budget
        else:
            assert Fraction(design.audit.upper) <= Fraction(problem.max_leakage_nats)
            assert design.upper >= design.distortion
        assert dl.verify(problem, design.certificate).proved
        joined = better_of(problem, best, design, 5e-2)
        assert (joined.lower, joined.upper) == (best.lower, min(best.upper, design.upper))
