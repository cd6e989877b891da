"""Markov chains in doubles: laws against sums over all paths, enclosures on boxes, and bounds that hold wherever the law is known."""

import numpy as np
import pytest

from campaigns import draws
from dalenius.audits.binary_chains import count_law, tilted
from dalenius.information import mutual_information
from dalenius.information.chains import (
    Chain,
    after_bound,
    blocks_bound,
    joint_law,
    letters_bound,
    slopes_of,
    window_bound,
)
from dalenius.model.mechanisms import Geometric
from definitions import joint_of_chain


def by_paths(chain: Chain, point) -> np.ndarray:
    """P(X_i = x, s ones), path by path."""
    alpha, beta = point[:2]
    first = alpha / (alpha + beta) if chain.stationary else point[2]
    steps, places = [[1 - alpha, alpha], [beta, 1 - beta]], np.eye(chain.count + 1)
    return joint_of_chain([1 - first, first], steps, chain.count, chain.record, lambda path: places[sum(path)])


def some_chains(rng, times):
    for _ in range(times):
        count = int(rng.integers(1, 7))
        chain = Chain(count, int(rng.integers(count)), bool(rng.integers(2)))
        low = rng.uniform(0.01, 0.6, chain.parameters)
        yield chain, low, low + rng.uniform(0, 0.1, chain.parameters)


def test_the_law_is_that_of_all_paths():
    rng = np.random.default_rng(1)
    for chain, point, _ in some_chains(rng, draws(20, 500)):
        assert joint_law(chain, point) == pytest.approx(by_paths(chain, point), abs=1e-15)
        if chain.stationary:
            assert count_law(chain.count, chain.record, point) == pytest.approx(by_paths(chain, point), abs=1e-14)


def test_leakages_and_their_derivatives_lie_in_their_balls():
    rng, known = np.random.default_rng(2), 0
    for chain, low, high in some_chains(rng, draws(20, 1000)):
        rows = Geometric(1).channel(np.arange(chain.count + 1))
        found = slopes_of(chain, rows, low[None], high[None])
        if np.isnan(found.leakage.mid[0]):
            continue
        known += 1
        for _ in range(3):
            at = rng.uniform(low, high)
            assert (
                abs(mutual_information(by_paths(chain, at) @ rows) - found.leakage.mid[0])
                <= found.leakage.rad[0] + 1e-12
            )
            for j in range(chain.parameters):
                up, down = at.copy(), at.copy()
                up[j], down[j] = at[j] + 1e-6, at[j] - 1e-6
                ends = [mutual_information(by_paths(chain, end) @ rows) for end in (up, down)]
                slope = (ends[0] - ends[1]) / 2e-6
                assert abs(slope - found.slopes.mid[0, j]) <= found.slopes.rad[0, j] + 1e-7
    assert known


def test_bounds_are_above_and_tilts_below():
    rng = np.random.default_rng(3)
    told = 0
    for _ in range(draws(15, 2000)):
        count, low = int(rng.integers(1, 150)), 10 ** rng.uniform(-2, -0.3, 2)
        high = low * rng.uniform(1, 1.1, 2)
        chain = Chain(count, int(rng.integers(count)), stationary=True)
        at = rng.uniform(low, high)
        if at.sum() >= 1:
            continue
        exact = mutual_information(joint_law(chain, at))
        window, left_out = window_bound(chain, low, high)
        told += window < 0.3
        assert exact <= window + 1e-14, (chain, at, left_out)
        assert exact <= letters_bound(chain, low, high) + 1e-14
        noisy = mutual_information(joint_law(chain, at) @ Geometric(0.5).channel(np.arange(count + 1)))
        assert tilted(count, chain.record, at, 0.5).leakage <= noisy + 1e-12
    assert told


def test_little_is_lost_between_a_tilt_and_a_window():
    point = np.array([0.2, 0.3])
    chain = Chain(4001, 2000, stationary=True)
    exact = mutual_information(count_law(4001, 2000, point))
    assert exact <= window_bound(chain, point, point)[0] <= 1.02 * exact
    assert 0.99 * exact <= tilted(4001, 2000, point, 5.0).leakage <= exact


def test_where_nothing_is_known_nothing_is_said():
    chain = Chain(2, 0, stationary=False)
    box = np.array([[0.1, 0.1, 0.0]]), np.array([[0.2, 0.2, 0.5]])
    assert np.isnan(slopes_of(chain, np.eye(3), *box).slopes.mid).all()
    assert window_bound(chain, box[0][0], box[1][0])[0] == np.inf
    rare = np.full(2, 1e-40), np.array([1e-40, 1e-6])  # what is larger than any double was a warning
    assert window_bound(Chain(2, 0, stationary=True), *rare)[0] == np.inf
    assert letters_bound(Chain(2, 1, stationary=False), box[0][0], box[1][0]) == np.log(2)


def test_what_a_window_leaves_out_is_not_lost():
    point = np.array([0.01, 0.01])
    chain = Chain(20_001, 10_000, stationary=True)
    exact = mutual_information(count_law(20_001, 10_000, point))
    bound, left_out = window_bound(chain, point, point)
    assert exact <= bound <= 1.005 * exact
    assert 2 * left_out > 0.04 * 20_001


def test_records_near_the_ends_are_some_of_many_that_begin_alike():
    point = np.array([0.3, 0.2])
    for record in (0, 4, 595):
        chain = Chain(600, record, stationary=True)
        exact = mutual_information(count_law(600, record, point))
        bound, count = blocks_bound(chain, point, point)
        assert exact <= bound < min(0.05, letters_bound(chain, point, point))
        assert 1 <= count < 600
    assert blocks_bound(Chain(600, 4, stationary=True), point, point + 0.02)[0] >= blocks_bound(chain, point, point)[0]
    assert blocks_bound(Chain(600, 4, stationary=True), point, point + 0.3)[0] == np.inf


def test_behind_its_first_block_a_chain_from_any_start_is_stationary():
    for first in (0.0, 0.3, 1.0):
        point = np.array([0.3, 0.2, first])
        chain = Chain(400, 200, stationary=False)
        exact = mutual_information(joint_law(chain, point))
        bound, within, left_out = after_bound(chain, point, point)
        assert exact <= bound < 1.3 * exact
        assert within + left_out <= 200
    assert after_bound(Chain(400, 0, stationary=False), point, point)[0] == np.inf
