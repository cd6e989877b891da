"""The largest log-ratio of a chain: every output of every chain of a box, by brute force, is never above its closed form."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from campaigns import each
from dalenius.information.chain_ratios import least_scale, probabilities_of_ends
from dalenius.information.chains import Chain, joint_law
from dalenius.model.mechanisms import Geometric


def closed(count: int, record: int, moves: tuple[Fraction, Fraction], epsilon: Fraction) -> float:
    zero, one = probabilities_of_ends(count, record, moves, epsilon)
    return max(abs(float((a / b).log())) for a, b in zip(zero, one, strict=True))


def listed(count: int, record: int, moves: tuple[float, float], rows: np.ndarray) -> np.ndarray:
    """|log ratio| of each output, from a list of all counts."""
    told = joint_law(Chain(count, record, stationary=True), np.array(moves)) @ rows
    given = told / told.sum(axis=1, keepdims=True)
    return np.abs(np.log(given[1] / given[0]))


@each("count, record", (1, 0), (2, 0), (5, 2), (6, 1), (9, 4))
def test_no_chain_of_the_box_and_no_output_is_above(count, record):
    low, high, epsilon = (Fraction(1, 20), Fraction(1, 5)), (Fraction(2, 5), Fraction(3, 5)), Fraction(1, 2)
    rows, most = Geometric(epsilon).channel(np.arange(count + 1)), closed(count, record, low, epsilon)
    axes = [np.linspace(float(a), float(b), 4) for a, b in zip(low, high, strict=True)]
    found = [listed(count, record, point, rows) for point in itertools.product(*axes)]
    assert max(each.max() for each in found) == pytest.approx(most, abs=1e-9)
    assert found[0].argmax() in (0, count)
    assert found[0].max() == pytest.approx(most, abs=1e-9)


def test_noise_that_moves_as_little_tells_no_more():
    """Every mechanism whose rows of neighbouring counts have ratios within e^epsilon is below the geometric one."""
    rng, epsilon, count = np.random.default_rng(5), Fraction(7, 10), 6
    for _ in range(40):
        moves = tuple(Fraction(int(k), 100) for k in rng.integers(2, 50, 2))
        steps = rng.uniform(-0.35, 0.35, (count + 1, 4)).cumsum(
            axis=0
        )  # ratios within e^0.35, so after division within e^0.7
        rows = np.exp(steps)
        rows /= rows.sum(axis=1, keepdims=True)
        most = closed(count, 2, moves, epsilon)  # type: ignore[arg-type]
        assert listed(count, 2, tuple(map(float, moves)), rows).max() <= most + 1e-9


def test_fair_independent_bits_are_a_single_record():
    assert closed(1000, 400, (Fraction(1, 2),) * 2, Fraction(1, 3)) == pytest.approx(1 / 3)


def test_the_least_scale_keeps_the_budget_and_a_smaller_one_does_not():
    moves, budget = (Fraction(1, 100), Fraction(1, 50)), Fraction(1, 2)
    scale = least_scale(2000, 900, moves, budget)
    assert 0 <= 0.5 - closed(2000, 900, moves, 1 / scale) < 1e-9
    assert closed(2000, 900, moves, 1 / (scale * Fraction(999_999, 1_000_000))) > 0.5
    assert float(least_scale(1, 0, moves, budget)) == pytest.approx(2)
    mean = math.inf
    for move in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)):  # less depends, less is needed
        needed = float(least_scale(2000, 900, (move, move), budget))
        assert needed < mean
        mean = needed
