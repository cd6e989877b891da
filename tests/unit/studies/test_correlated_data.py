"""Gaussian noise for correlated data: closed forms of two records, random covariances, proofs that the certifier's checker reads."""

import math
import signal
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws
from cvxcertify.check import check_interval
from dalenius.studies import correlated_data
from dalenius.studies.correlated_data import CorrelatedData
from support import refuses


def needed(covariance, query, secret, nats):
    """The least variance of noise with -(1/2) log(1 - c^2 / (g (v + n))) <= nats, from the definition."""
    c, g, v = query @ covariance @ secret, secret @ covariance @ secret, query @ covariance @ query
    return max(c * c / g / -math.expm1(-2 * nats) - v, 0.0)


def test_two_records_are_most_revealing_at_an_end():
    """What is needed is convex in the one correlation that there is; nothing beyond the ends is claimed."""
    rng = np.random.default_rng(5)
    for _ in range(draws(2, 1000)):
        query = rng.integers(-3, 4, size=2) + np.array([0.0, 0.5])
        s, t, rho = *rng.uniform(0.3, 3.0, size=2).round(2), round(rng.uniform(0, 1), 3)
        nats = float(rng.choice([1e-3, 0.05, 0.4, 2.0]))
        found = CorrelatedData([s, t], rho).least_variance(query, 0, nats)
        ends = [np.array([[s * s, r * s * t], [r * s * t, t * t]]) for r in (-rho, rho)]
        best = max(needed(end, query, np.array([1.0, 0.0]), nats) for end in ends)
        assert found.lower - 1e-9 * best <= best <= found.upper * (1 + 1e-9) + 1e-12
        assert found.upper <= max(found.lower / (1 - 1e-3), 1e-9)
        assert found.of_moments >= found.upper * (1 - 1e-3)


def test_no_law_of_the_family_needs_more():
    """Random deviations and correlations within the bounds, of three and four records and a secret that is a sum; some come near."""
    rng, near = np.random.default_rng(6), []
    for count in range(3, draws(4, 6)):
        query, secret = rng.normal(size=count).round(2), np.eye(count)[0] + np.eye(count)[1] * 0.5
        bounds = [(0.5, 1.5)] * (count - 1) + [(1, 1)]
        family, rho = CorrelatedData(bounds, "0.4"), 0.4
        found = family.least_variance(query, secret, "0.2 bits", gap=5e-2)
        exact = np.array(found.covariance, dtype=float)
        deviations = np.sqrt(np.diag(exact))
        sizes = np.abs(exact / np.outer(deviations, deviations)) - (1 - 0.4) * np.eye(count)
        assert sizes.max() <= 0.4 + 1e-9
        assert needed(exact, query, secret, 0.2 * math.log(2)) == pytest.approx(found.lower, rel=1e-6)
        for _ in range(draws(300, 20_000)):
            correlation = np.eye(count)
            upper = np.triu_indices(count, 1)
            correlation[upper] = rng.choice([-rho, rho, 0.0], size=len(upper[0])) * rng.choice([1.0, rng.random()])
            correlation = (
                np.maximum(correlation, correlation.T) + np.minimum(correlation, correlation.T) - np.eye(count)
            )
            if np.linalg.eigvalsh(correlation)[0] < 0:
                continue
            own = np.array([rng.choice([low, high, rng.uniform(low, high)]) for low, high in bounds])
            covariance = correlation * np.outer(own, own)
            need = needed(covariance, query, secret, 0.2 * math.log(2))
            near.append(need / found.upper)
            assert need <= found.upper * (1 + 1e-9)
            assert query @ covariance @ query / math.expm1(0.4 * math.log(2)) <= found.of_moments * (1 + 1e-9)
    assert max(near) > 0.9


def test_a_secret_that_is_what_is_released_needs_what_moments_need():
    """And the proofs are read by a program that knows nothing of the search."""
    found = CorrelatedData([1, 1, 1], [[1, "0.3", 0], ["0.3", 1, "0.1"], [0, "0.1", 1]]).least_variance(
        [1, 1, 1], [1, 1, 1], 0.1
    )
    most = (3 + 2 * 0.4) / math.expm1(0.2)
    assert found.lower == pytest.approx(most, rel=1e-6)
    assert found.of_moments == pytest.approx(most, rel=1e-6)
    assert found.mean_error == pytest.approx(math.sqrt(2 * found.upper / math.pi))
    assert check_interval(found.proofs[-1].proof.encode()).exit_code == 0


def test_where_no_noise_is_needed_none_is_asked_for():
    """Many independent records hide each other; and 10,000 nats are more than anything tells of a sum of others'."""
    for family, budget in ((CorrelatedData([1] * 4, 0), 1), (CorrelatedData([2, 3], "0.5"), 1e4)):
        found = family.least_variance([1] * len(family.deviations), 0, budget)
        assert (found.lower, found.upper) == (0.0, 0.0)


def test_the_difference_of_two_that_may_be_equal_or_opposite(monkeypatch):
    """Nothing is needed where it does not vary, and 4 / (e^200 - 1) where one is the other's opposite: the ends are on both sides."""
    monkeypatch.setattr(correlated_data, "PIECES", 2)
    found = CorrelatedData([1, 1], 1).least_variance([1, -1], 0, 100)
    assert 0.0 <= found.lower <= 4.0 / math.expm1(200.0) * (1.0 + 1e-12)
    assert 4.0 / math.expm1(200.0) <= found.upper
    assert -1.0 <= found.correlation <= 1.0


def test_where_nothing_varies_no_correlation_is_known(monkeypatch):
    """The law that programs come near may be the one of equal numbers: of it the query does not vary, and needs no noise."""
    equal = [[Fraction(1)] * 2] * 2
    monkeypatch.setattr(correlated_data, "PIECES", 2)
    monkeypatch.setattr(CorrelatedData, "_near", lambda family, values: equal)
    found = CorrelatedData([1, 1], 1).least_variance([1, -1], 0, 100)
    assert found.covariance == tuple(map(tuple, equal))
    assert (found.lower, found.correlation) == (0.0, 0.0)


def test_an_interruption_keeps_what_was_proved(monkeypatch):
    def stopping(problem, **options):
        search = certify(problem, **options)
        clocks[0] += 1
        if clocks[0] == 6:
            signal.raise_signal(signal.SIGINT)
        return search

    certify, clocks = correlated_data.certify, [0]
    monkeypatch.setattr(correlated_data, "certify", stopping)
    found = CorrelatedData([1, 1, 1], "0.5").least_variance([1, 1, 1], 0, 0.1, gap=1e-6)
    assert found.lower < found.upper
    assert len(found.proofs) < 8


PAIR = CorrelatedData([1, 1], 1)
test_what_is_no_family_or_no_question_is_refused = refuses(
    (lambda _: CorrelatedData([], 0), "from 1 to 24 records, got 0"),
    (lambda _: CorrelatedData([1, 0], 0), ["deviations[1]", "no law is such"]),
    (lambda _: CorrelatedData([(2, 1)], 0), ["deviations[0]", "no law is such"]),
    (lambda _: CorrelatedData([1, 1], -0.1), "correlation: no law is such"),
    (lambda _: CorrelatedData([1, 1], 1.5), "correlation: no law is such"),
    (lambda _: CorrelatedData([1, 1], [[1, 0.1], [0.2, 1]]), "correlation: no law is such"),
    (lambda _: CorrelatedData([1, 1], [[1, 0.1]]), "correlation: no law is such"),
    (lambda pair: pair.least_variance([1], 0, 0.1), "query: expected a weight for each of 2 records"),
    (lambda pair: pair.least_variance([0, 0], 0, 0.1), "not all 0"),
    (lambda pair: pair.least_variance([1, 1], 2, 0.1), "secret"),
    (lambda pair: pair.least_variance([1, 1], [1, -1], 0.1), "its variance may be 0"),
    (lambda pair: pair.least_variance([1, 1], 0, 0), "at_most: expected a leakage above 0"),
    (lambda pair: pair.least_variance([1, 1], 0, 0.1, gap=1), "gap: expected"),
    by=lambda call: call(PAIR),
)


def test_a_time_limit_that_is_too_short_says_so():
    with pytest.raises(dl.errors.DaleniusError, match="nothing was proved"):
        CorrelatedData([1] * 24, "0.5").least_variance([1] * 24, 0, 0.1, time_limit=1e-9)
