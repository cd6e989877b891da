"""Scales of noise by closed forms: the digits of Nuradha and Goldfeld's theorems, and where those are wrong as printed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dalenius.errors import InputError
from dalenius.information import noise_formulas as formulas
from dalenius.information.noise_rows import gaussian_rows

NEAR = {"rel": 2e-12, "abs": 0.0}


def gaussian_capacity(distance):
    """Of two inputs, at this distance in standard deviations: the even law is the best, by symmetry."""
    rows = gaussian_rows(np.array([0.0, distance]))
    return float((rows[0] * np.log(rows[0] / rows.mean(axis=0))).sum())


@pytest.mark.parametrize(
    ("d", "digits"),
    [
        (1, {0.1: 9.508331944775, 0.5: 1.541494082537, 1: 0.5819767068693, 2: 0.1565176427497}),
        (5, {0.1: 9.900333331111, 0.5: 1.901666388955, 1: 0.9033311132254, 2: 0.4066489563439}),
        (30, {0.1: 9.983342592591, 0.5: 1.983379629415, 1: 0.9834259242113, 2: 0.4835185048025}),
    ],
)
def test_theorem_3(d, digits):
    assert [formulas.laplace_scale(e, 1.0, coordinates=d) for e in digits] == pytest.approx([*digits.values()], **NEAR)


@pytest.mark.parametrize(
    ("d", "digits"),
    [
        (1, {0.1: 4.516655566127, 0.5: 0.5819767068693, 1: 0.1565176427497, 2: 0.01865736036377}),
        (5, {0.1: 4.90066664889, 0.5: 0.9033311132254, 1: 0.4066489563439, 2: 0.1631932441832}),
        (30, {0.1: 4.983351851838, 0.5: 0.9834259242113, 1: 0.4835185048025, 2: 0.2337035940108}),
    ],
)
def test_theorem_4(d, digits):
    found = [formulas.gaussian_variance(e, 1.0, coordinates=d) for e in digits]
    assert found == pytest.approx([*digits.values()], **NEAR)


def test_corollary_3_with_the_best_constant_is_below_the_printed_one():
    printed = {1: 0.2909883534, 2: 0.3853735206, 5: 0.4516655566, 10: 0.4754165972}
    best = {1: 0.1454941767, 2: 0.2569156804, 5: 0.3763879638, 10: 0.4321969066}
    for d, variance in best.items():
        found = formulas.gaussian_variance_of_sensitivity(0.5, 1.0, coordinates=d)
        assert found == pytest.approx(variance, abs=1e-10)
        assert found * (d + 1) / d == pytest.approx(printed[d], abs=1e-10)


def test_the_standard_deviations_of_a_cross_polytope_refute_corollary_2():
    """E0.5: the points +-e_j/2 are at l1 distances of at most 1, and their deviations add up to sqrt(d)/2, not to 1/sqrt 2 at most."""
    for d in (1, 2, 3, 10):
        points = np.concatenate([np.eye(d), -np.eye(d)]) / 2
        assert np.abs(points[:, None] - points).sum(axis=2).max() <= 1.0 + 1e-15
        deviations = points.std(axis=0).sum()
        assert deviations == pytest.approx(math.sqrt(d) / 2)
        assert (deviations <= 1 / math.sqrt(2) + 1e-15) == (d <= 2)


def test_the_divergence_from_the_middle():
    digits = {
        0.01: 3.452210165841, 0.05: 1.497855618233, 0.1: 1.034804258298, 0.3: 0.5625012673703, 0.5: 0.4172611116885,
    }  # fmt: skip
    assert [formulas.laplace_scale_by_radius(e, 1.0) for e in digits] == pytest.approx([*digits.values()], **NEAR)
    for epsilon, scale in digits.items():
        t = 0.5 / scale
        assert t - 1.0 + math.exp(-t) == pytest.approx(epsilon, rel=1e-11)


def test_what_laplace_noise_tells_about_one_of_two_values():
    capacities = {
        0.1: 0.001208854164203, 0.5: 0.02636700237242, 1: 0.08851964020127, 2: 0.2477203758395, 5: 0.5709387669009,
    }  # fmt: skip
    assert [formulas.laplace_capacity(t) for t in capacities] == pytest.approx([*capacities.values()], rel=1e-12)
    exact = {
        0.01: 3.362577706073, 0.05: 1.399110989162, 0.1: 0.9279898589298, 0.3: 0.4279118332891, 0.5: 0.2491655598571,
        0.6: 0.1795270223025,
    }  # fmt: skip
    for epsilon, scale in exact.items():
        assert formulas.laplace_capacity(1 / scale) == pytest.approx(epsilon, rel=1e-11)
        if epsilon < 0.6:
            assert scale < formulas.laplace_scale_by_radius(epsilon, 1.0) < formulas.laplace_scale(epsilon, 0.5)


def test_what_gaussian_noise_tells_about_one_of_two_values():
    exact = {
        0.01: 12.37540062538, 0.05: 2.376730686088, 0.1: 1.127921223253, 0.3: 0.2958550344299, 0.5: 0.1250390360099,
    }  # fmt: skip
    for epsilon, variance in exact.items():
        assert gaussian_capacity(1 / math.sqrt(variance)) == pytest.approx(epsilon, rel=1e-11)
        assert variance < formulas.gaussian_variance_of_sensitivity(epsilon, 1.0)


@pytest.mark.parametrize(
    ("d", "epsilon", "laplace", "gauss", "exact_gauss", "exact_laplace"),
    [
        (1, 0.1, 0.004520418818601, 0.0001129163891532, 0.0001127921223253, 0.0001722330356553),
        (1, 0.5, 0.0001188102003248, 1.454941767173e-5, 1.250390360099e-5, 1.241669524378e-5),
        (1, 1, 1.693484436692e-5, 3.912941068742e-6, 0, 0),
        (2, 0.1, 0.01902062552946, 0.0002377082986194, 0.0002376730686088, 0.0003915023119987),
        (5, 0.1, 0.1225207500839, 0.0006125833311112, 0.0006125771401471, 0.001080363690828),
        (5, 1, 0.001020008875151, 5.083111954299e-5, 5.041684359356e-5, 6.883480423253e-5),
        (10, 0.1, 0.4950207916876, 0.001237541666389, 0.001237540062538, 0.002261385765876),
        (10, 1, 0.004520418818601, 0.0001129163891532, 0.0001127921223253, 0.0001722330356553),
        (30, 0.1, 4.485020819447, 0.003737513888879, 0.003737513706113, 0.007088897272524),
        (30, 1, 0.04352069467849, 0.0003626388786019, 0.000362622419058, 0.000617872220199),
    ],
)
def test_figure_3a(d, epsilon, laplace, gauss, exact_gauss, exact_laplace):
    """Column means of 100 records of d bits: bounds by theorems, and exact variances; E0.6: at epsilon/d = 1/2 Laplace noise wins."""
    n = 100
    assert 2 * formulas.laplace_scale(epsilon, d / (2 * n), coordinates=d) ** 2 == pytest.approx(laplace, rel=1e-12)
    assert formulas.gaussian_variance(epsilon, d / (4 * n**2), coordinates=d) == pytest.approx(gauss, rel=1e-12)
    assert laplace / gauss == pytest.approx(2 / math.tanh(epsilon / (2 * d)) * (1 if laplace else 0), rel=1e-11)
    if epsilon / d < math.log(2.0):
        assert gaussian_capacity(1 / (n * math.sqrt(exact_gauss))) == pytest.approx(epsilon / d, rel=1e-11)
        assert formulas.laplace_capacity(1 / (n * math.sqrt(exact_laplace / 2))) == pytest.approx(
            epsilon / d, rel=1e-11
        )
        assert (exact_laplace < exact_gauss) == (epsilon / d == 0.5)


def test_figure_3b():
    thirty = {
        0.001: 0.163231335666, 0.005: 0.3178773125505, 0.01: 0.4176009195864, 0.05: 0.7420860791082, 0.1: 0.908315514518,
        0.2: 1.047550359398, 0.3: 1.077078259826, 0.4: 1.04187236661, 0.5: 0.9526894143392, 0.2901812816253: 1.077386340458,
        0.1518594591422: 1.0, 0.4544328648703: 1.0,
    }  # fmt: skip
    one = {
        0.001: 0.163310263475,
        0.005: 0.3186471081593,
        0.01: 0.4196277026958,
        0.05: 0.7603964919517,
        0.1: 0.9540892917895,
    }
    many = {0.001: 0.1632286967656, 0.005: 0.3178516177712, 0.01: 0.4175334090321, 0.05: 0.7414862970836}
    for d, digits in ((30, thirty), (1, one), (1000, many)):
        found = [formulas.largest_classical_epsilon(e, coordinates=d) for e in digits]
        assert found == pytest.approx([*digits.values()], rel=2e-11)
    for epsilon, told in ((0.01, 0.08005427601978), (0.1, 0.2606529656311), (0.3, 0.4785677151139)):
        sigma = math.sqrt(2 * formulas.gaussian_variance_of_sensitivity(epsilon, 1.0))  # as printed
        assert math.erf(1 / (2 * sigma) / math.sqrt(2.0)) == pytest.approx(told, rel=1e-11)
        assert told < math.sqrt(2 * epsilon)


def test_section_3a():
    assert formulas.classical_gaussian_variance(0.5, 1e-5, 1, variance=0.25) == pytest.approx(93.63855213028, rel=1e-12)
    assert formulas.classical_gaussian_variance(1, 0.01, 1, variance=0.25) == pytest.approx(9.406627474605, rel=1e-12)
    assert formulas.classical_gaussian_variance(0.9, 0.01, 0.1, variance=1) == 0.0
    with pytest.raises(InputError, match="epsilon at most 1"):
        formulas.classical_gaussian_variance(1.5, 0.1, 1)


def test_theorem_5():
    """E0.9: part 2 needs no mean; with isotropic directions the mean eigenvalue is enough."""
    sigma, mean = np.diag([4, 1, 1, 0.25]), np.eye(4)[0]
    two, epsilon = 2, 0.5
    part_1 = formulas.gaussian_variance(epsilon, two * 4.0, coordinates=two)
    printed = formulas.gaussian_variance(epsilon, two * (4.0 + mean @ mean), coordinates=two)
    assert part_1 == pytest.approx(6.165976330147, rel=1e-12)
    assert printed == pytest.approx(7.707470412684, rel=1e-12)
    assert formulas.projected_gaussian_variance(epsilon, sigma, np.eye(4)[:2]) == pytest.approx(
        3.853735206342, rel=1e-12
    )
    assert formulas.randomly_projected_gaussian_variance(epsilon, sigma, projections=two) == pytest.approx(
        part_1, rel=1e-15
    )
    isotropic = formulas.randomly_projected_gaussian_variance(epsilon, sigma, projections=two, isotropic=True)
    assert isotropic == pytest.approx(2.408584503964, rel=1e-12)
    assert formulas.gaussian_variance(epsilon, sigma.trace(), coordinates=4) == pytest.approx(5.501268225293, rel=1e-12)


def test_theorem_6_is_exact_for_gaussian_data():
    digits = {
        (0.3, 0.01): 3.545149999, (0.5, 0.01): 11.62541666389, (0.5, 0.1): 0.3791638915317, (0.9, 0.01): 39.906349991,
        (0.9, 0.1): 3.468491008563, (0.9, 0.5): 0.2814011325642, (0.3, 0.1): 0, (0.3, 0.5): 0, (0.5, 0.5): 0,
    }  # fmt: skip
    for (rho, epsilon), variance in digits.items():
        found = formulas.gaussian_variance_beside_data(epsilon, 1.0, 1.0 - rho**2)
        assert found == pytest.approx(variance, rel=1e-9)
        told = -0.5 * math.log1p(-(rho**2) / (1.0 + found))
        assert told == pytest.approx(epsilon) if found else told <= epsilon
    free = {0.01: 0.1407171869149, 0.1: 0.4257572629116, 0.5: 0.7950600976207, 1: 0.9298734950322}
    for epsilon, rho in free.items():
        assert formulas.gaussian_variance_beside_data(epsilon, 1.0, 1.0 - (rho - 1e-12) ** 2) == 0.0
        assert formulas.gaussian_variance_beside_data(epsilon, 1.0, 1.0 - (rho + 1e-9) ** 2) > 0.0


def test_the_best_covariance():
    spectrum = [4, 1, 1, 0.25]
    traces = {
        0.1: (98.16249413819, 119.398946752, 121.9010405817),
        0.5: (17.31177434023, 20.02959712615, 22.00507290117),
    }
    traces[1] = (7.36936220075, 8.153562001947, 9.634338015855)
    for epsilon, (best, isotropic, theorem_4) in traces.items():
        found = formulas.anisotropic_gaussian(epsilon, spectrum)
        assert sum(found) == pytest.approx(best, rel=1e-12)
        told = 0.5 * sum(math.log1p(s / k) for s, k in zip(spectrum, found, strict=True))
        assert epsilon - 1e-13 <= told <= epsilon + 1e-15
        assert 4 * formulas.log_det_variance(epsilon, spectrum) == pytest.approx(isotropic, rel=1e-11)
        assert 4 * formulas.gaussian_variance(epsilon, 6.25, coordinates=4) == pytest.approx(theorem_4, rel=1e-11)
    assert formulas.anisotropic_gaussian(1, [0, 1]) == [0.0, pytest.approx(formulas.gaussian_variance(1, 1.0))]
    assert formulas.log_det_variance(1, [0, 0]) == 0.0


def test_algorithm_1_as_printed_leaks_too_much():
    """E0.3: without the second moment c of the data N(0, c) the release tells log(1 + 2 c epsilon)/2; with it no more than epsilon."""
    for c, epsilon in ((2, 0.5), (10, 0.1)):
        printed = 1 / (2 * epsilon)
        assert 0.5 * math.log1p(c / printed) == pytest.approx(0.5493061443, abs=1e-10)
        assert 0.5 * math.log1p(c / printed) > epsilon
        assert 0.5 * math.log1p(c / formulas.gaussian_variance(epsilon, c)) == pytest.approx(epsilon)


def test_likelihood_ratios_alone():
    told = {0.1: 0.00124982642746, 0.5: 0.03114209226116, 1: 0.1233015614822, 2: 0.4744746470705, 4: 1.669849633509}
    for ratio, epsilon in told.items():
        assert formulas.scale_by_ratios(epsilon, 3.0) == pytest.approx(3.0 / ratio, rel=1e-11)


@pytest.mark.parametrize(
    "call",
    [
        lambda: formulas.laplace_scale(0.0, 1.0),
        lambda: formulas.laplace_scale(math.inf, 1.0),
        lambda: formulas.laplace_scale(1.0, -1.0),
        lambda: formulas.gaussian_variance(1.0, 1.0, coordinates=0),
        lambda: formulas.anisotropic_gaussian(1.0, [-1.0]),
        lambda: formulas.largest_classical_epsilon(0.6),
    ],
)
def test_what_is_no_budget_is_refused(call):
    with pytest.raises(InputError, match="expected"):
        call()
