"""Theorem 1 of the paper on Pufferfish privacy in numbers: rules one by one, also those that a search never ends with."""

import math

import numpy as np
import pytest
from flint import arb, ctx

import dalenius as dl
from dalenius.conversions import RULES, Facts, Given, PrivacyProfile
from dalenius.conversions.numbers import ZERO
from dalenius.information import measures as m

NAMED = {rule.name: rule for rule in RULES}
SQRT = {"0.001": 0.04472135955, "0.01": 0.1414213562373, "0.1": 0.4472135955, "0.3": 0.7745966692415}
PURE = {"0.1": 0.005, "0.5": 0.125, "1": 0.5, "2": 2}
TANH = {"0.1": 0.004995837495788, "0.5": 0.1224593312019, "1": 0.46211715726, "2": 1.523188311912, "4": 3.856110320303}
PART_1 = [  # epsilon, delta, size; delta at epsilon 0, and the information
    ("0", "0.01", 2, 0.01, 0.1258660123209),
    ("0.1", "0.001", 2, 0.05090841658292, 0.4729368176366),
    ("0.1", "0.001", 10, 0.05090841658292, 0.6368046890577),
    ("0.5", "1e-5", 4, 0.2449262132171, 1.792463772465),
    ("1", "1e-5", 3, 0.4621225360884, 2.395937044438),
]


def evaluated(name: str, value: str | arb, **given: object) -> arb:
    """What one rule of the shelf gives, in a ball."""
    return NAMED[name].value(Given(arb(value), **{"facts": Facts(), **given}))


@pytest.fixture(autouse=True)
def _bits():
    with ctx.workprec(128):
        yield


@pytest.mark.parametrize(
    ("rule", "numbers"),
    [("theorem-1-distance", SQRT), ("theorem-1-divergence", PURE), ("local-dp-divergence", TANH)],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_the_first_two_implications(rule, numbers):
    """sqrt(2 mu), min(epsilon, epsilon^2/2), and epsilon tanh(epsilon/2) in its place."""
    for value, number in numbers.items():
        assert float(evaluated(rule, value)) == pytest.approx(number, rel=5e-12)


def test_a_search_ends_with_the_printed_implications_where_nothing_is_better():
    """Of an information Theorem 1(a) always is; of an epsilon the third implication from 1.3 on."""
    for value, number in SQRT.items():
        for sharp in (True, False):
            found = dl.convert("shannon_capacity", value, to="local_dp_delta(0)", sharp=sharp)
            assert found.steps[-1].rule == "theorem-1a"
            assert found.value < number
    for value, number in PURE.items():
        found = dl.convert("local_dp", value, to="pairwise_divergence", sharp=False).value
        assert found == pytest.approx(number) if float(value) < 1.3 else found < number
    assert dl.convert("local_dp", 2, to="pairwise_divergence", sharp=False).value == pytest.approx(1.6585, abs=5e-5)


@pytest.mark.parametrize(("epsilon", "delta", "size", "near", "information"), PART_1)
def test_part_1_of_the_third_implication(epsilon, delta, size, near, information):
    """delta' = 1 - 2 (1-delta)/(e^epsilon+1), and 2 h(delta') + 2 delta' log N, which may be more than the trivial log N."""
    distance = 1 - 2 * (1 - arb(delta)) / (arb(epsilon).exp() + 1)
    assert float(distance) == pytest.approx(near, rel=1e-12)
    found = evaluated("theorem-1-entropies (outputs)", distance, facts=Facts.of(outputs=size), before=ZERO)
    assert float(found) == pytest.approx(information, rel=1e-12)
    asked = dl.convert(f"local_dp_delta({epsilon})", delta, to="shannon_capacity", outputs=size, sharp=False)
    assert asked.value == pytest.approx(min(information, math.log(size)), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [("0", "0.01"), ("0.1", "0.001"), ("0.5", "1e-5"), ("1", "0.01")])
@pytest.mark.parametrize("most", ["1.5", "3", "7"])
def test_part_2_is_a_profile_of_two_points(epsilon, delta, most):
    """Eq. (4) has (epsilon, delta) and the largest log-ratio L: the chord from (0, delta') to (L, 0) makes delta' L, its second term,
    which is never above the first, corrected (E0.1); the point (epsilon, delta) itself makes it less."""
    ratio, distance = arb(most), 1 - 2 * (1 - arb(delta)) / (arb(epsilon).exp() + 1)
    chord = PrivacyProfile.of([(0, float(distance.upper())), (most, 0)]).capacity()
    assert chord == pytest.approx(float(distance * ratio), rel=1e-14)
    least = (-ratio).exp()
    assert distance * ratio <= distance * (ratio / (1 - least) - least)
    assert PrivacyProfile.of([(epsilon, delta), (most, 0)]).capacity() <= chord


def test_no_pair_of_laws_is_beyond_part_2():
    """Random pairs, with their own total variation and log-ratio."""
    random = np.random.default_rng(4)
    for _ in range(300):
        rows = random.dirichlet(np.full(random.integers(2, 6), random.choice([0.3, 1.0, 5.0])), 2)
        ratio = float(np.abs(np.log(rows[0] / rows[1])).max())
        if ratio < 100:
            distance = float(m.local_dp_delta(rows, 1.0))
            found = PrivacyProfile.of([(0, min(distance * (1 + 1e-12), 1)), (ratio * (1 + 1e-12), 0)]).capacity()
            assert float(m.pairwise_divergence(rows)) <= found
