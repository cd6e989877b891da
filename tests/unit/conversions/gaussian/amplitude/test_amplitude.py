"""Capacities of Gaussian noise on inputs of bounded length: known values, and proofs that an input law is the best."""

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
SEVERAL = [  # amplitude on the line, nats, the least distance of an input from the origin, and its probability, where it is known
    ("2", "0.65286881178", 0.0, 0.13787695),
    ("2.5", "0.77502081", 0.0, None),
    ("3", "0.88136104333", 0.394727, None),
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


@pytest.mark.parametrize(("amplitude", "digits", "inner", "weight"), thinned(SEVERAL, every=3))
def test_several_lengths_are_needed_beyond_the_threshold(amplitude, digits, inner, weight):
    found = amplitude_capacity(amplitude)
    assert not found.optimal
    assert found.lower - 1e-8 <= float(digits) <= found.upper + 1e-8
    assert found.upper - found.lower <= 1e-12
    assert sum(found.weights) == 1
    assert [float(r) for r in found.radii] == pytest.approx([inner, float(amplitude)], abs=2e-6)
    assert weight is None or float(found.weights[0]) == pytest.approx(weight, abs=2e-8)


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
    with pytest.raises(dl.errors.InputError):
        amplitude_capacity(amplitude, dimension)
