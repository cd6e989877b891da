"""Two laws of bounded Rényi divergence: never below two coins that have the guarantee, nor far above the best ones; other packages."""

import math
import warnings

import numpy as np
import pytest
from flint import arb, ctx
from scipy.optimize import brentq
from scipy.stats import norm

import channels
from campaigns import draws, each
from dalenius.conversions.pairs import (
    gap_at_one,
    gap_of_all_orders_at_one,
    largest_gap,
    largest_gap_of_all_orders,
)


def in_balls(gap, *numbers):
    with ctx.workprec(160):
        return float(gap(*(arb(x) for x in numbers)).upper())


def farthest(q, order, most):
    """The largest p for which neither divergence of the coins p, q is more."""

    def over(p):
        coins = np.array([p, 1 - p]), np.array([q, 1 - q])
        return max(channels.renyi(*coins, order), channels.renyi(*coins[::-1], order)) - most

    return brentq(over, q, 1 - 1e-15, xtol=1e-15)


def test_coins_that_have_the_guarantee_come_near_it_and_none_exceeds_it():
    rng = np.random.default_rng(1)
    for _ in range(draws(4, 300)):
        order, most = rng.choice([1.0, 1 + rng.exponential(3.0)]), 10 ** rng.uniform(-2, 0.3)
        epsilon = rng.choice([0.0, rng.uniform(0, 1.5 * most + 0.3)])
        found = in_balls(largest_gap, order, most, epsilon)
        grid = np.exp(np.linspace(-12, -0.02, 30))
        for _ in range(10):  # concave in q: finer between the neighbours of the best
            gaps = [farthest(q, order, most) - math.exp(epsilon) * q for q in grid]
            at = int(np.argmax(gaps))
            assert max(gaps) <= found + 1e-12, (order, most, epsilon)
            grid = np.linspace(grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)], 9)
        assert found <= max(gaps) + 1e-6 * found, (order, most, epsilon)


def test_the_best_of_all_orders_is_that_of_coins_which_keep_them_all():
    """Normal laws keep all orders with equality: what is true of them is allowed; and what an order alone allows is not less."""
    for rho, epsilon in ((0.005, 0.1), (0.1, 0.0), (0.1, 1.0), (0.5, 2.5), (3.0, 9.0)):
        found, printed = (in_balls(gap, rho, epsilon) for gap in (largest_gap_of_all_orders, gap_of_all_orders_at_one))
        mu = math.sqrt(2 * rho)
        truth = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        alone = min(in_balls(largest_gap, a, a * rho, epsilon) for a in (1.0, 1.1, 1.5, 2.0, 4.0, 9.0, 30.0))
        assert truth <= found <= min(alone, printed) * (1 + 1e-9)


@each("order", 1.0, 1 + 1e-12, 2.0, 1e6)
@each("most", 0.0, 1e-300, 1e-12, 1.0, 1e4)
def test_extremes_give_a_probability(order, most):
    for epsilon in (0.0, 1e-12, 1.0, 300.0, 1e4):
        found = in_balls(largest_gap, order, most, epsilon)
        assert 0.0 <= found <= 1.0
        assert found <= in_balls(gap_at_one, order, most, epsilon)
        assert 0.0 <= in_balls(largest_gap_of_all_orders, most, epsilon) <= 1.0
    assert in_balls(largest_gap, order, 0.0, 0.0) == 0.0


def test_other_packages_agree_where_they_speak():
    """dp_accounting bounds by the multipliers at p = 1; autodp has the trade-off function of one order."""
    cases = ((2.0, 0.3, 1.0), (8.0, 0.5, 1.0), (1.5, 0.2, 0.1), (32.0, 3.0, 4.0))
    accountant = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant", reason="needs dp_accounting")
    for order, most, epsilon in cases:
        theirs, _ = accountant.compute_delta(np.array([order]), np.array([most]), epsilon)
        printed = in_balls(gap_at_one, order, most, epsilon)
        assert theirs == pytest.approx(printed, rel=1e-9) or theirs <= printed  # it has another bound, of D_1, besides
        assert in_balls(largest_gap, order, most, epsilon) <= printed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converter = pytest.importorskip("autodp.converter", reason="needs autodp")
        for order, most, epsilon in cases:
            tradeoff = converter.single_rdp_to_fdp(order, most)
            levels = np.append(np.exp(np.linspace(-9, -0.01, 300)), np.linspace(0.001, 0.999, 300))
            theirs = max(1 - tradeoff(x) - math.exp(epsilon) * x for x in levels)
            assert theirs <= in_balls(largest_gap, order, most, epsilon) * (1 + 1e-6) <= max(theirs, 1e-12) * 1.01
