"""The power of a test that a capacity leaves: the curve of Theorem 1(a), its tangents, and the channels that attain it."""

import math

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws
from dalenius.conversions import largest_power
from dalenius.errors import InputError
from dalenius.information.capacity import capacity

LEVELS = ("0", "0.001", "0.01", "0.1", "0.3")
CURVES = {  # bits: the power at each level (local mutual-information privacy, Theorem 1(a))
    "0.01": "0.0187298027927 0.0241327508885 0.0475518032578 0.181294340337 0.412587424734",
    "0.1": "0.177503347184 0.185429832265 0.224884956343 0.416010176587 0.667747005111",
    "0.5": "0.696455629004 0.702082236611 0.733524598622 0.879612345688 0.999415871157",
}


@pytest.mark.parametrize("bits", CURVES)
def test_the_curve(bits):
    for level, digits in zip(LEVELS, CURVES[bits].split(), strict=True):
        found = largest_power(f"{bits} bits", level)
        assert found == pytest.approx(float(digits), abs=1.1 * 10.0 ** -len(digits.partition(".")[2]))


def test_the_channel_that_attains_theorem_1a():
    """0.1 bits, epsilon = 1: its capacity is 0.1 bits, and its delta what the theorem allows; q is the law of its outputs."""
    p0, p1, q = 0.26043775434, 0.021688165, 0.1230023926
    assert largest_power("0.1 bits", p1) == pytest.approx(p0, abs=5e-9)
    measured = dl.measure(
        [[str(p0), str(round(1 - p0, 12))], [str(p1), str(round(1 - p1, 12))]], epsilon=["1"], units="bits"
    )
    assert measured["shannon_capacity"].lower == pytest.approx(0.1, abs=1e-9)
    assert measured["local_dp_delta(1)"].lower == pytest.approx(0.2014832104693, abs=1e-8)
    found = capacity(np.array([[p0, 1 - p0], [p1, 1 - p1]]), gap=1e-14)
    assert found.output_law[0] == pytest.approx(q, abs=1e-7)


def test_delta_is_the_intercept_of_a_tangent():
    """The largest p0 - e^epsilon p1 on the curve is what `convert` says, and every pair on the curve is an admissible one."""
    random = np.random.default_rng(0)
    for _ in range(draws(3, 100)):
        mu, epsilon = round(10 ** random.uniform(-3, -0.2), 6), round(random.uniform(0, 2), 3)
        most = dl.convert("shannon_capacity", mu, to=f"local_dp_delta({epsilon})").value
        levels = np.linspace(0, 0.6, 21).round(2)
        values = [largest_power(mu, level) - math.exp(epsilon) * level for level in levels]
        assert max(values) <= most + 1e-12
        assert max(values) > most - 0.03
        level = levels[random.integers(1, 20)]
        power = largest_power(mu, level)
        if power < 1:
            found = capacity(np.array([[power, 1 - power], [level, 1 - level]]), gap=1e-14)
            assert found.lower == pytest.approx(mu, rel=1e-9)


def test_ends():
    assert largest_power("1 bits", 0) == largest_power(5, "0.5") == largest_power("0.1", 1) == 1.0
    assert largest_power(0, "0.25") == pytest.approx(0.25, rel=1e-15)
    assert largest_power(1e-30, 0) == pytest.approx(1e-30, rel=1e-4)
    assert largest_power("0.6931471", "0.999999") == 1.0
    for wrong in ((-1, 0), (1, -0.1), (1, 1.1)):
        with pytest.raises(InputError):
            largest_power(*wrong)
