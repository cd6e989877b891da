"""What attacks gain, and information of an order: against enumeration and other formulas, in doubles and in balls."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import channels
import dalenius as dl
from campaigns import draws, each
from dalenius.information import measures as m
from dalenius.information.measures.numbers import rationals


def exact(array):
    array = np.asarray(array)
    return rationals(array.ravel()).reshape(array.shape)


def instances():
    rng = np.random.default_rng(39)
    for _ in range(draws(40, 1000)):
        rows, prior = channels.drawn(rng)
        yield rng, rows, prior


def test_no_test_of_two_values_is_better_and_one_is_as_good():
    """All events, and two of them by chance: the power is the upper hull of the points (Q(A), P(A))."""
    for rng, rows, _ in instances():
        level = rng.choice([0.0, rng.random(), 1.0])
        best = 0.0
        for p, q in itertools.permutations(rows, 2):
            events = [list(each) for k in range(p.size + 1) for each in itertools.combinations(range(p.size), k)]
            points = [(q[event].sum(), p[event].sum()) for event in events]
            for (a, b), (c, d) in itertools.product(points, repeat=2):
                if a <= level <= c:
                    best = max(best, b if c == a else b + (d - b) * (level - a) / (c - a))
        found = m.true_positive_rate(rows, level)
        assert float(found) == pytest.approx(best, abs=1e-9)
        ball = m.true_positive_rate(exact(rows), level).item()
        assert abs(float(arb(ball).mid()) - best) <= 1e-9
        assert float(m.pairwise_total_variation(rows)) >= float(found) - level - 1e-12


def test_divergence_and_information_of_an_order():
    for rng, rows, prior in instances():
        a = float(rng.choice([0.5, 1.0, 1.25, 2.0, 7.0]))
        found = float(m.local_renyi_dp(rows, a))
        with np.errstate(divide="ignore", invalid="ignore"):
            wanted = [
                channels.renyi(p, q, a) if a >= 1 else np.log((p**a * q ** (1 - a)).sum()) / (a - 1)
                for p, q in itertools.permutations(rows, 2)
            ]
        assert found == pytest.approx(max(wanted), rel=1e-9, abs=1e-9)
        told = [float(m.sibson_information(rows, prior, order)) for order in (0.2, 0.9, 1, 1.1, 3, 300)]
        assert (np.diff(told) >= -1e-9).all()
        assert told[-1] <= float(m.maximal_leakage(rows)) + 1e-9 <= told[-1] * (1 + 1e-2) + 0.03
        ball = arb(m.sibson_information(exact(rows), exact(prior), 3).item())
        assert abs(float(ball.mid()) - told[4]) < 1e-9
        law = (prior @ rows**3) ** (1 / 3)  # of the outputs, for which the divergence of order 3 is least
        least = np.log((prior[:, None] * rows**3 / np.where(law > 0, law / law.sum(), 1) ** 2).sum()) / 2
        assert told[4] == pytest.approx(least, abs=1e-9)


def test_gains_of_every_strategy():
    for rng, rows, prior in instances():
        gains = rng.integers(0, 4, size=(3, prior.size)) + (rng.random((3, prior.size)) < 0.5)
        gains[0] += 1
        strategies = itertools.product(range(3), repeat=rows.shape[1])
        best = max(sum(gains[w] @ (prior * rows[:, y]) for y, w in enumerate(strategy)) for strategy in strategies)
        blind = (gains @ prior).max()
        assert float(m.g_leakage(rows, prior, gains)) == pytest.approx(np.log(best / blind), abs=1e-12)
        assert float(m.g_advantage(rows, prior, gains)) == pytest.approx(best - blind, abs=1e-12)
        assert float(m.g_leakage(rows, prior, gains)) <= float(m.maximal_leakage(rows)) + 1e-12
        same = m.g_leakage(rows, prior, np.eye(prior.size))
        assert float(same) == pytest.approx(float(m.min_entropy_leakage(rows, prior)), abs=1e-12)


def test_a_power_between_balls_holds_both_bounds_where_the_order_of_outputs_is_open():
    wide = np.array([[arb(0.5, 0.01), arb(0.5, 0.01)], [arb(0.5, 0.01), arb(0.5, 0.01)]], dtype=object)
    found = m.true_positive_rate(wide, Fraction(1, 10)).item()
    assert found.contains(0.1)
    assert not found > 0.1


@each(
    "given, words",
    ({"order": [0]}, "order: expected a number above 0, got 0"),
    ({"level": [2]}, "level: expected a number from 0 to 1, got 2"),
    ({"gains": []}, "gains: expected at least one row"),
    ({"gains": [[1, 0]]}, "gains: expected a number for each of 3 inputs in every row"),
    ({"gains": [[1, -1, 0]]}, "gains[0][1] is a number and must not be negative"),
)
def test_what_cannot_be_asked_is_refused_in_one_line(given, words):
    with pytest.raises(dl.errors.InputError) as caught:
        dl.measure(np.eye(3), prior="uniform", **given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_needs_no_prior_is_told_without_one():
    found = dl.measure([[0.7, 0.3], [0.2, 0.8]], level=["0.1", "0.2"], order=[2], gains=[[1, 0]])
    assert found["true_positive_rate(0.1)"].exact == "0.35"
    assert found["attack_advantage"].exact == "0.5"
    assert [row.name for row in found].count("attack_advantage") == 1
    assert found["local_renyi_dp(2)"].upper < 1.0
    assert {"sibson_information(2)", "g_leakage", "g_advantage"} < found.refused.keys()
