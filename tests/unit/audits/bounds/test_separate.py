"""The dual bound one output at a time: against maxima over laws by many starts, and where it closes what trees cannot."""

import math

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.audits.bounds.row_solver import RowSolver
from dalenius.audits.bounds.separate import separate_bound
from dalenius.search import Clock

RNG = np.random.default_rng(256)


def value(law, log_uniform, slope, stay, change):
    """One letter's part of the dual bound at a law on its outputs, the uniform output law beside it."""
    K = change + (stay - change) * law
    there = law > 0
    entropy = float((law[there] * (log_uniform[there] - np.log(law[there]))).sum())
    return float((K * np.log(K * len(law))).sum()) + slope * entropy


@pytest.mark.parametrize("flip", ["0.1", "0.5", "0.97"])
def test_no_law_is_above_a_letters_bound(flip):
    size, letters = 12, 3
    stay, change = 1 - float(flip), float(flip) / (size - 1)
    log_uniform = np.log(RNG.dirichlet(np.full(size, 3.0), size=letters) / letters)
    log_uniform[0, 3] = -np.inf
    bound = separate_bound(log_uniform, 0.6, stay, change, Clock(60.0))
    assert bound is not None
    best = np.full(letters, -np.inf)
    for a in range(letters):
        there = np.isfinite(log_uniform[a])
        for draw in range(300):
            law = np.where(there, RNG.dirichlet(np.full(size, (0.05, 0.3, 2.0)[draw % 3])), 0.0) + 1e-12 * there
            best[a] = max(best[a], value(law / law.sum(), log_uniform[a], bound.slope, stay, change))
    assert (bound.slope * (np.log(np.exp(best / bound.slope).sum()) + 0.6)) <= bound.upper + 1e-9


@pytest.mark.parametrize(("modulus", "upper"), [(16, 1.16121928), (256, 2.41872740)])
def test_secure_sums(modulus, upper):
    """Half a letter's entropy is known: from above, and by a prior that the audit finds, within one per cent or two."""
    alike = np.full((modulus, modulus), -2.0 * math.log(modulus))
    bound = separate_bound(alike, 0.5 * math.log(modulus), 0.9, 0.1 / (modulus - 1), Clock(60.0))
    assert bound is not None
    assert bound.upper == pytest.approx(upper, abs=1e-6)


def test_an_output_that_is_never_wrong_has_no_such_bound():
    assert separate_bound(np.zeros((2, 2)), 0.1, 1.0, 0.0, Clock(60.0)) is None


def test_boxes_that_a_clock_leaves_no_time_for_have_no_multipliers():
    """They had minutes between two looks at the clock, of sums modulo 256."""

    class Late:
        remaining = 0.0
        expired = True

    size = 64
    rows, low = np.full((size, size), 0.1 / (size - 1)), np.zeros((2000, size))
    np.fill_diagonal(rows, 0.9)
    asked = []

    def solve(rows, log_masses, base, low, high, beta, enough=None):
        asked.append(len(base))
        return np.ones_like(base)

    nu = RowSolver(solve=solve, clock=Late())(rows, np.zeros(size), low, low, low + 0.5, 1.0)
    assert asked == [nu[:, 0].sum()]
    assert 0 < asked[0] < 2000


def test_the_secure_sum_of_the_tracker_closes():
    question = support.problem(dl.Records(100, alphabet=16), dl.ModularSum(16), dl.symmetric("0.1"), "0.995 max")
    result = dl.solve(question, gap=5e-2)
    assert result.gap <= 5e-2
    assert [proof.method for proof in result.records] == ["separate"]
    assert dl.verify(question, result.certificate).proved
