"""Scales of noise by closed forms: the digits of Nuradha and Goldfeld's theorems, and where those are wrong as printed."""

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb, ctx
from scipy.integrate import quad
from scipy.special import log_ndtr

import dalenius as dl
from campaigns import each
from dalenius.information import noise_formulas as formulas
from dalenius.information import relative_entropy
from dalenius.model.mechanisms.real_noise import gaussian_rows, laplace_rows
from digits import same
from support import refused

NEAR = {"rel": 2e-12, "abs": 0.0}


def gaussian_capacity(distance):
    """Of two inputs, at this distance in standard deviations: the even law is the best, by symmetry."""
    rows = gaussian_rows(np.array([0.0, distance]))
    return float((rows[0] * np.log(rows[0] / rows.mean(axis=0))).sum())


@each(
    "d, digits",
    (1, {0.1: 9.508331944775, 0.5: 1.541494082537, 1: 0.5819767068693, 2: 0.1565176427497}),
    (5, {0.1: 9.900333331111, 0.5: 1.901666388955, 1: 0.9033311132254, 2: 0.4066489563439}),
    (30, {0.1: 9.983342592591, 0.5: 1.983379629415, 1: 0.9834259242113, 2: 0.4835185048025}),
)
def test_theorem_3(d, digits):
    assert [formulas.laplace_scale(e, 1.0, coordinates=d) for e in digits] == pytest.approx([*digits.values()], **NEAR)


def through_laplace(density_times_log, scale, reach):
    """h(M) - h(noise), M a sum with Laplace noise, from the integrand -p log p."""
    entropy = quad(density_times_log, -reach, reach, limit=400, points=[0.0, 1.0])[0]
    return entropy - math.log(2 * math.e * scale)


def test_deviations_from_medians_will_do_for_theorem_3():
    """Of a bit that is 1 with probability 0.1 the standard deviation is 0.3, and the mean distance from the median 0.1."""
    p, epsilon = 0.1, 0.05
    scale = formulas.laplace_scale(epsilon, p)
    assert scale == pytest.approx(formulas.laplace_scale(epsilon, math.sqrt(p * (1 - p))) / 3)

    def term(y):
        density = ((1 - p) * math.exp(-abs(y) / scale) + p * math.exp(-abs(y - 1) / scale)) / (2 * scale)
        return -density * math.log(density)

    assert 0.0 < through_laplace(term, scale, 40 * scale) < epsilon


def test_remark_9():
    """The mean of n independent Gaussian numbers, of which the others are known: sqrt(s)/(n (e^epsilon - 1))."""
    n, s, epsilon = 10, 4.0, 0.5
    scale, sigma = formulas.laplace_scale(epsilon, math.sqrt(s) / n), math.sqrt(s) / n
    assert scale == pytest.approx(math.sqrt(s) / (n * math.expm1(epsilon)), rel=1e-15)

    def term(y):
        # the density of the sum, e^(a^2/2)/(2 b) (e^(-y/b) F(y/sigma - a) + e^(y/b) F(-y/sigma - a)), a = sigma/b
        a = sigma / scale
        log_density = np.logaddexp(log_ndtr(y / sigma - a) - y / scale, log_ndtr(-y / sigma - a) + y / scale)
        log_density += a * a / 2 - math.log(2 * scale)
        return -math.exp(log_density) * log_density

    assert 0.0 < through_laplace(term, scale, 40 * scale) < epsilon


def test_laplace_noise_for_an_epsilon_and_a_delta():
    """Its own delta, 1 - e^((epsilon - 1/b)/2) in one dimension, is 1 - sqrt(1 - delta); any such ratios leave at most delta."""
    for epsilon, delta in ((0.1, 1e-5), (0.5, 0.1), (2.0, 0.5)):
        scale = formulas.classical_laplace_scale(epsilon, delta, 1.0)
        assert scale == pytest.approx(1.0 / (epsilon - math.log(1 - delta)), rel=1e-12)
        assert -math.expm1((epsilon - 1 / scale) / 2) == pytest.approx(1 - math.sqrt(1 - delta), rel=1e-9)
        assert 0.0 < dl.convert("local_dp", 1 / scale, to=f"local_dp_delta({epsilon})").value <= delta
    assert formulas.classical_laplace_scale(0.5, 0.0, 3.0) == 6.0


def test_what_releases_tell_about_each_other():
    """Remark 5. E0.2: M_1 is X ~ N(0, 20^2) with next to no noise, M_2 = X + exponential noise: 3.41591924166 nats."""
    told = formulas.eta_of_noise([1e12, 401.0])
    same([told, told - 3.41591924166], "3.415919246858", "0.000000005")
    constants = ("gaussian", 1.0), ("laplace", 1.155727350), ("symmetric", 1.423289037), ("log_concave", 2.311454699582)
    for noise, constant in constants:
        assert math.exp(2 * formulas.eta_of_noise([7.0, 1.0], noise=noise)) == pytest.approx(constant, rel=5e-10)
        assert formulas.eta_of_noise([3.0, 7.0, 5.0], noise=noise) == pytest.approx(
            0.5 * math.log(15 * constant**2), rel=1e-9
        )
    assert formulas.eta_of_outputs([7, 2, 3]) == pytest.approx(math.log(6), rel=1e-15)
    assert formulas.eta_of_outputs([2, 2]) > math.log(2.0)  # the double is below log 2
    entropies = {"gaussian": 0.5 * math.log(2 * math.pi * math.e), "laplace": 0.5 * math.log(2 * math.e**2)}
    entropies |= {
        "symmetric": 0.5 * math.log(12),
        "log_concave": 1.0,
    }  # of variance 1: a normal, Laplace, uniform, exponential law
    for noise, entropy in entropies.items():
        normal = 0.5 * math.log(2 * math.pi * math.e)
        assert math.exp(2 * (normal - entropy)) == pytest.approx(dict(constants)[noise], rel=5e-10)


@each(
    "d, digits",
    (1, {0.1: 4.516655566127, 0.5: 0.5819767068693, 1: 0.1565176427497, 2: 0.01865736036377}),
    (5, {0.1: 4.90066664889, 0.5: 0.9033311132254, 1: 0.4066489563439, 2: 0.1631932441832}),
    (30, {0.1: 4.983351851838, 0.5: 0.9834259242113, 1: 0.4835185048025, 2: 0.2337035940108}),
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


def test_how_far_two_inputs_are_the_best():
    """Up to 1.6659256412713 deviations from the middle through Gaussian noise, up to t = 3.139356744 scales through Laplace noise."""
    assert gaussian_capacity(2 * 1.6659256412713) == pytest.approx(0.5709755996764, abs=1e-12)
    same(formulas.laplace_capacity(3.139356744), "0.4092487557")
    for t, best in (
        (3.139, True),
        (3.14, False),
    ):  # the divergence of an input in the middle from the mixture of both ends
        assert (middle_divergence(t) < formulas.laplace_capacity(t)) == best
    same([formulas.laplace_scale(e, 0.5) for e in (0.01, 0.05, 0.1)], "49.75", "9.752", "4.754")
    same([formulas.laplace_scale(e, 0.5) for e in (0.3, 0.5)], "1.429", "0.7707")
    same(formulas.laplace_scale(0.6, 0.5), "0.6082")


def middle_divergence(t):
    """Of Laplace noise of scale 1 around t/2 from the even mixture of noise around 0 and t; by symmetry twice the part beyond t/2."""

    def term(x):  # x beyond the middle; the mixture in units of the noise's own density there
        near, far = -abs(x - t / 2), -(x + t / 2)
        return 0.5 * math.exp(-x) * (-x - np.logaddexp(near, far) + math.log(2.0))

    return 2.0 * (quad(term, 0, t / 2)[0] + quad(term, t / 2, 60)[0])


def test_what_gaussian_noise_tells_about_one_of_two_values():
    exact = {
        0.01: 12.37540062538, 0.05: 2.376730686088, 0.1: 1.127921223253, 0.3: 0.2958550344299, 0.5: 0.1250390360099,
    }  # fmt: skip
    for epsilon, variance in exact.items():
        assert gaussian_capacity(1 / math.sqrt(variance)) == pytest.approx(epsilon, rel=1e-11)
        assert variance < formulas.gaussian_variance_of_sensitivity(epsilon, 1.0)


@each(
    "d, epsilon, laplace, gauss, exact_gauss, exact_laplace",
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
    many = {
        0.001: 0.1632286967656,
        0.005: 0.3178516177712,
        0.01: 0.4175334090321,
        0.05: 0.7414862970836,
        0.1: 0.9068474185373,
    }
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
    refused(lambda: formulas.classical_gaussian_variance(1.5, 0.1, 1), "epsilon at most 1")


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


@each(
    "call",
    lambda: formulas.laplace_scale(0.0, 1.0),
    lambda: formulas.laplace_scale(math.inf, 1.0),
    lambda: formulas.laplace_scale(1.0, -1.0),
    lambda: formulas.gaussian_variance(1.0, 1.0, coordinates=0),
    lambda: formulas.anisotropic_gaussian(1.0, [-1.0]),
    lambda: formulas.largest_classical_epsilon(0.6),
    lambda: formulas.classical_laplace_scale(1.0, 1.0, 1.0),
    lambda: formulas.eta_of_outputs([2.5, 2]),
    lambda: formulas.eta_of_outputs([0, 2]),
    lambda: formulas.eta_of_noise([0.5, 2.0]),
    lambda: formulas.eta_of_noise([2.0, 2.0], noise="heavy"),
)
def test_what_is_no_budget_is_refused(call):
    refused(lambda: call(), "expected")


# Noise on the real line by quadrature: divergences agree with integrals in ball arithmetic.


def gaussian_integral(points, law, k):
    """D of the k-th density from the mixture, by FLINT's own integration."""
    z, w = [arb(x) for x in points], [arb(x) for x in law]

    def ratio(y, _):
        mixture = sum(
            (a * ((x - z[k]) * y - (x * x - z[k] * z[k]) / 2).exp() for a, x in zip(w, z, strict=True)), acb(0)
        )
        return -((-((y - z[k]) ** 2)) / 2).exp() * mixture.log(analytic=True)

    return acb.integral(ratio, points[k] - 14, points[k] + 14).real / (2 * arb.pi()).sqrt()


def laplace_integral(points, law, k):
    """The same, a piece between neighbours at a time; beyond the outermost the densities have one ratio."""
    z, w = [arb(x) for x in points], [arb(x) for x in law]
    whole = arb(0)
    for low, high in pairwise(points):
        right = [x >= high for x in points]

        def density(y, j, right=right):
            return ((y - z[j]) if right[j] else (z[j] - y)).exp() / 2

        def integrand(y, analytic, density=density):
            mixture = sum((a * density(y, j) for j, a in enumerate(w)), acb(0))
            return density(y, k) * (density(y, k) / mixture).log(analytic=analytic)

        whole += acb.integral(integrand, low, high).real
    for end in (points[0], points[-1]):
        density = [(-abs(x - arb(end))).exp() / 2 for x in z]
        mixture = sum((a * x for a, x in zip(w, density, strict=True)), arb(0))
        whole += density[k] * (density[k] / mixture).log()
    return whole


@each("points", [0, 1], [0, 0.125, 3], [0, 20])
@each("rows_of, integral", (gaussian_rows, gaussian_integral), (laplace_rows, laplace_integral))
def test_divergences_are_integrals(points, rows_of, integral):
    rows = rows_of(np.array(points, dtype=float))
    law = np.arange(1, len(points) + 1) / sum(range(1, len(points) + 1))
    assert rows.sum(axis=1) == pytest.approx(1.0, abs=1e-14)
    old, ctx.prec = ctx.prec, 64
    try:
        exact = [float(integral(points, law.tolist(), k)) for k in range(len(points))]
    finally:
        ctx.prec = old
    assert relative_entropy(rows, law @ rows) == pytest.approx(exact, rel=1e-11, abs=1e-14)


def test_up_to_which_distance_two_inputs_at_the_ends_are_the_worst_of_an_interval():
    """Where the divergence of the middle comes up to that of the ends: 1.6659 standard deviations, and 3.139 scales."""
    for rows_of, span in ((gaussian_rows, 2 * 1.6659256412713), (laplace_rows, 3.139356744)):
        for factor, worst in ((0.999, False), (1.001, True)):
            rows = rows_of(np.linspace(0.0, factor * span, 21))
            assert (relative_entropy(rows, (rows[0] + rows[-1]) / 2).argmax() == 10) == worst


def test_small_divergences_keep_their_digits():
    for rows_of, per_square in ((gaussian_rows, 1 / 8), (laplace_rows, 1 / 8)):
        rows = rows_of(np.array([0.0, 1e-4]))
        assert float(relative_entropy(rows[0], rows.mean(axis=0))) == pytest.approx(per_square * 1e-8, rel=1e-4)
