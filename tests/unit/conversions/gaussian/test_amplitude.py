"""Capacities of Gaussian noise on inputs of bounded length: known values, and proofs that an input law is the best."""

import math
from fractions import Fraction

import pytest
from flint import acb, arb, ctx

from campaigns import thinned
from dalenius.conversions.gaussian import amplitude, amplitude_capacity, amplitude_of, shells
from dalenius.conversions.gaussian.amplitude import DivergenceOfLengths
from dalenius.conversions.gaussian.shells import Shells, best_shells
from dalenius.information.balls import ball
from support import refused

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
    refused(lambda: amplitude_capacity(amplitude, dimension))


# Divergences of inputs of every length, by a rule of points and by interpolation, against an adaptive integral that knows
# neither.


LAWS = [  # radii, weights, dimension
    ("0 2", "1 6", 1),
    ("1", "1", 1),
    ("0 2.265325 5", "1 1 2", 1),
    ("0.001", "1", 2),
    ("0.54 1", "3 1", 3),
    ("1.4 2.9 4", "5 1 2", 10),
    ("2", "1", 64),
    ("3.1 6.5 9", "1 9 90", 10),
]


def law_of(radii: str, weights: str, dimension: int) -> Shells:
    shares = [Fraction(w) for w in weights.split()]
    return Shells(tuple(map(Fraction, radii.split())), tuple(w / sum(shares) for w in shares), dimension)


def adaptive(law: Shells, radius: Fraction) -> arb:
    """The integral over the lengths of the output, far into its tail, as a library's adaptive rule has it."""
    d, half, r = law.dimension, arb(law.dimension) / 2, ball(radius)
    scale = arb(2) ** (1 - half) / half.gamma()
    masses = [
        (ball(w) * (-(ball(q) ** 2) / 2).exp(), ball(q) ** 2 / 4) for q, w in zip(law.radii, law.weights, strict=True)
    ]

    def integrand(s: acb, analytic: bool) -> acb:
        square = s * s
        density = scale * s ** (d - 1) * (-(square + r * r) / 2).exp() * (square * (r * r / 4)).hypgeom_0f1(half)
        mean = sum((mass * (square * quarter).hypgeom_0f1(half) for mass, quarter in masses), acb(0))
        return density * mean.log(analytic=analytic)

    return r**2 / 2 - acb.integral(integrand, 0, r + 24, rel_tol=arb(2) ** -70, abs_tol=arb(2) ** -70).real


@pytest.mark.parametrize(("radii", "weights", "dimension"), thinned(LAWS, every=4))
def test_divergences_are_the_integrals(radii, weights, dimension):
    with ctx.workprec(100):
        law = law_of(radii, weights, dimension)
        curve = DivergenceOfLengths.of(law)
        for share in ("0", "0.37", "1"):
            radius = curve.size * Fraction(share)
            known, found, near = adaptive(law, radius), law.divergence(radius), curve.at(radius)
            assert found.overlaps(known)
            assert near.overlaps(known)
            assert found.rad() < 1e-18
            assert near.rad() < 1e-15


@pytest.mark.parametrize(("radii", "weights", "dimension"), thinned(LAWS, every=4))
def test_the_largest_value_is_enclosed(radii, weights, dimension):
    """Nothing between 0 and the end is above the bound, and it is as near to a value as doubles tell."""
    with ctx.workprec(100):
        curve = DivergenceOfLengths.of(law_of(radii, weights, dimension))
        for share in (Fraction(1), Fraction(2, 3)):
            end = curve.size * share
            most = curve.most(end, arb("-inf"))
            values = [curve.at(end * k / 400) for k in range(401)]
            assert not any(value > most for value in values)
            bend = max(1.0, float(curve.size) ** 2)  # of D, and so of its top between two of these
            assert most - max(value.mid() for value in values) < bend * (float(end) / 400) ** 2
            enough = (most + 1).mid()
            assert curve.most(end, enough) is enough


@pytest.mark.parametrize(("radii", "weights"), thinned([law[:2] for law in LAWS if law[2] == 1], every=3))
@pytest.mark.parametrize(("module", "constant"), [(shells, "ACCURACY"), (amplitude, "SMALL")])
def test_errors_are_bounded_where_they_are_large(monkeypatch, module, constant, radii, weights):
    """With too few points for the integrals, or for the interpolation, values are wrong in digits that are seen, and balls say so."""
    with ctx.workprec(100):
        truth = law_of(radii, weights, 1)
        lengths = [max(truth.radii) * k / 20 for k in range(21)]
        values = [truth.divergence(r) for r in lengths]
        monkeypatch.setattr(module, constant, 0)
        curve = DivergenceOfLengths.of(law_of(radii, weights, 1))
        found = [curve.at(r) for r in lengths]
        assert max(abs(near.mid() - value) for near, value in zip(found, values, strict=True)) > 1e-9
        assert all(near.overlaps(value) for near, value in zip(found, values, strict=True))
        assert not any(value > curve.most(curve.size, arb("-inf")) for value in values)


def test_a_length_beyond_the_radii_is_no_length_of_the_law():
    with ctx.workprec(100), pytest.raises(ValueError, match="beyond the largest"):
        law_of("1 2", "1 1", 1).divergence(Fraction(2) + Fraction(1, 2**60))


@pytest.mark.parametrize("amplitude", thinned(["10/3", "7.0710678118654755", "5.9"], every=3))
def test_no_input_is_longer_than_the_amplitude(amplitude):
    """Not by a rounding either: as multiples of 2^-40 the largest of these radii were longer, and told more than is allowed."""
    size = Fraction(amplitude)
    law = best_shells(size, 3)
    assert len(law.radii) > 1
    assert max(law.radii) == size
    assert sum(law.weights) == 1
