"""Capacities of Gaussian noise on inputs of bounded length: known values, and proofs that an input law is the best."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import ctx

import dalenius as dl
from campaigns import thinned
from dalenius.conversions.gaussian import amplitude_capacity, amplitude_of
from dalenius.conversions.gaussian.shells import Shells

ROOT_10 = math.sqrt(10)
ONE_SPHERE = [  # dimension, amplitude, nats
    (1, 1, "0.33683082034683"),
    (10, "1", "0.47653648402214"),
    (1, math.sqrt(2), "0.50007213606684"),
    (1, math.sqrt(0.1), "0.047649233896716"),
    (2, 1, "0.40347551890721"),
    (1, "0.1", "0.0049751646254505"),
    (3, 1, "0.43085305455738"),
    (10, ROOT_10, "3.4480712253336"),
    (10, math.sqrt(0.05), "0.024937707427553"),
    (10, math.sqrt(20), "5.4227033609482"),
]
SEVERAL = [  # amplitude on the line, nats, gap, the least length above 0 in the best law
    ("2", "0.65286881178", 1e-7, None),
    ("2.5", "0.77502081", 1e-7, None),
    ("3", "0.88136104333", 1e-7, 0.394727),
    ("5", "1.21883118840", 1e-3, 2.265325),
]


@pytest.mark.parametrize(("dimension", "amplitude", "digits"), thinned(ONE_SPHERE, every=4))
def test_one_sphere_is_proved_to_be_the_best(dimension, amplitude, digits):
    found = amplitude_capacity(amplitude, dimension)
    assert found.lower == pytest.approx(float(digits), abs=0.6 * 10.0 ** -(len(digits) - 2))
    assert found.optimal
    assert found.lower <= found.upper <= found.lower + 1e-13
    assert len(found.radii) == 1
    power = dimension * math.log1p(float(amplitude) ** 2 / dimension) / 2
    assert found.upper <= power, "inputs of that mean length tell no less (Theorem 3)"


@pytest.mark.thorough
@pytest.mark.parametrize(("amplitude", "digits", "gap", "inner"), SEVERAL)
def test_several_lengths_are_needed_beyond_the_threshold(amplitude, digits, gap, inner):
    found = amplitude_capacity(amplitude, gap=gap)
    assert not found.optimal
    assert found.lower - 1e-8 <= float(digits) <= found.upper + 1e-8
    assert found.upper - found.lower <= 1.1 * gap
    assert sum(found.weights) == 1
    assert inner is None or min(r for r in map(float, found.radii) if r > 0) == pytest.approx(inner, abs=1e-3)


@pytest.mark.thorough
def test_several_spheres_in_ten_dimensions():
    """sigma^2 = 0.2, where one sphere is no longer the best: a solver's interval has what is proved."""
    found = amplitude_capacity(math.sqrt(50), 10, gap=1e-3)
    assert not found.optimal
    assert found.lower <= 8.710923
    assert found.upper >= 8.710609
    assert found.upper - found.lower <= 1.1e-3


@pytest.mark.parametrize(
    ("dimension", "threshold", "step"),
    thinned(
        [
            (1, "1.6659256412713", "1e-12"),
            (2, "2.4533899579696", "1e-12"),
            (3, "3.065107731648", "1e-11"),
            (10, "5.7892319707708", "1e-12"),
        ],
        every=4,
    ),
)
def test_the_threshold_is_where_the_origin_is_as_far_as_the_sphere(dimension, threshold, step):
    signs = []
    with ctx.workprec(110):
        for size in (Fraction(threshold) - Fraction(step), Fraction(threshold) + Fraction(step)):
            law = Shells((size,), (Fraction(1),), dimension)
            signs.append(bool(law.divergence(Fraction(0)) < law.divergence(size)))
    assert signs == [True, False]


@pytest.mark.parametrize(
    ("bits", "dimension", "variance"),
    [("0.01", 1, 71.63587610758), ("0.1", 1, 6.722453844828), ("0.1", 10, 71.63589949478)],
)
def test_the_noise_of_figure_1(bits, dimension, variance):
    amplitude = amplitude_of(float(bits) * math.log(2), dimension)
    assert dimension / amplitude**2 == pytest.approx(variance, rel=1e-10)


@pytest.mark.parametrize(("amplitude", "dimension"), [(0, 1), (13, 1), (1, 0), (1, 65)])
def test_what_is_out_of_range_is_refused(amplitude, dimension):
    with pytest.raises(dl.InputError):
        amplitude_capacity(amplitude, dimension)
