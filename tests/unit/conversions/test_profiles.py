"""Information from points of a profile: closed forms, curves from above, and what a point alone says."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad
from scipy.stats import norm

import dalenius as dl
from campaigns import draws
from dalenius.conversions import PrivacyProfile, largest_power
from dalenius.conversions.gaussian import ListedInputs, gaussian_delta
from dalenius.errors import InputError
from dalenius.information import measures as m
from dalenius.information import relative_entropy
from dalenius.information.capacity import capacity


@pytest.mark.parametrize(
    ("epsilon", "nats"),
    [
        ("0.1", 0.004995837495788),
        ("0.5", 0.1224593312019),
        ("1", 0.46211715726),
        ("2", 1.523188311912),
        ("4", 3.856110320303),
    ],
)
def test_one_point_without_delta_is_randomised_response(epsilon, nats):
    assert PrivacyProfile.of([(epsilon, 0)]).capacity() == pytest.approx(nats, rel=1e-12)


@pytest.mark.parametrize(("span", "nats"), [("0.1", 0.00483741803596), ("1", 0.3678794411714), ("5", 4.006737946999)])
def test_laplace_noise_from_above(span, nats):
    end = Fraction(span)
    grid = [end * k / 60 for k in range(61)]
    found = PrivacyProfile.from_function(lambda e: -((e - arb(span)) / 2).expm1(), [*grid[:-1]])
    assert found.capacity() == math.inf
    points = [*found.points, (end, Fraction(0))]
    assert nats <= PrivacyProfile.of(points).capacity() * (1 + 1e-12) < nats * 1.002


def test_gaussian_noise_from_above():
    """d = 1, Delta = 1, sigma^2 = 10: 0.28853900817779 bits."""
    shift = 2 / arb(10).sqrt()
    profile = PrivacyProfile.from_function(
        lambda e: gaussian_delta(shift, e), [Fraction(k, 40) for k in range(161)], decay=9
    )
    assert 0.2885390081778 <= (profile.capacity() / math.log(2)) < 0.2887


def test_the_integral_of_the_chord_under_information_privacy():
    height, top = math.tanh(0.5), math.e
    area, _ = quad(lambda e: 2 * math.cosh(e) * height * (top - math.exp(e)) / (top - 1), 0, 1)
    assert PrivacyProfile.of([(1, 0)]).prior_information() == pytest.approx(area, rel=1e-10)


def test_points_of_noise_on_listed_inputs_bound_its_largest_divergence():
    """And lie between the sums of the steps below and above the curve."""
    noise = ListedInputs.of([-1, 0, 1], [1, 2, 1], 4)
    grid = [Fraction(k, 8) for k in range(17)]
    found = PrivacyProfile.from_function(noise.delta, grid, decay=2).prior_information()
    assert found > float(noise.largest_divergence())
    areas = [2 * (math.sinh(b) - math.sinh(a)) for a, b in pairwise(grid)]
    with ctx.workprec(90):
        deltas = [float(noise.delta(arb(float(e))).lower()) for e in grid]
    below, above = (sum(d * area for d, area in zip(some, areas, strict=True)) for some in (deltas[1:], deltas[:-1]))
    assert below < found < above


def test_more_points_never_hurt_and_a_delta_that_stays_says_nothing():
    few, more = [(0, "0.3"), (1, 0)], [(0, "0.3"), ("0.5", "0.1"), (1, 0), ("0.7", "0.9")]
    assert PrivacyProfile.of(more).capacity() < PrivacyProfile.of(few).capacity()
    assert PrivacyProfile.of([(1, "1e-9")]).capacity() == math.inf
    assert PrivacyProfile.of([(1, "1e-9")], decay="0.5").prior_information() == math.inf
    for wrong in ([], [(1,)], [(-1, 0)], [(1, 2)]):
        with pytest.raises(InputError):
            PrivacyProfile.of(wrong)


def hockey(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def curves(rows, law, weights, epsilons=None):
    """Both mean curves of rows against a law, as profiles; at every kink, where none are given: between kinks they are straight."""
    ratios = np.log(rows / law).ravel()
    at = [sorted({0.0, *ratios[ratios > 0]}), sorted({0.0, *-ratios[ratios < 0]})] if epsilons is None else epsilons
    mean = [
        [(e, min(weights @ [hockey(*pair, e) for pair in pairs], 1.0)) for e in some]
        for some, pairs in zip(at, ([(row, law) for row in rows], [(law, row) for row in rows]), strict=True)
    ]
    ends = [some[-1][0] for some in mean]
    return [PrivacyProfile.of([*some, (end * (1 + 1e-14) + 1e-14, 0)]) for some, end in zip(mean, ends, strict=True)]


def test_the_two_curves_of_a_pair_make_its_divergence():
    """Lemma 1, eq. (20), by curves that know nothing of logarithms of laws; `capacity` is about both directions."""
    random = np.random.default_rng(20)
    for _ in range(draws(20, 500)):
        p, q = random.dirichlet(np.full(random.integers(2, 6), random.choice([0.5, 2.0])), 2).clip(1e-6)
        p, q = p / p.sum(), q / q.sum()
        there, back = curves(p[None], q, np.ones(1))
        exact = float(relative_entropy(p, q))
        assert there.divergence(back) == pytest.approx(exact, rel=1e-10)
        both = PrivacyProfile.of([(e, max(hockey(p, q, e), hockey(q, p, e))) for e in np.linspace(0, 20, 60)], decay=1)
        assert both.capacity() >= exact


def test_mean_curves_make_the_mutual_information():
    """Theorem 2(b) with the mean over the inputs taken before the integral."""
    random = np.random.default_rng(21)
    for _ in range(draws(10, 300)):
        rows, prior = random.dirichlet(np.ones(4), 3).clip(1e-6), random.dirichlet(np.ones(3))
        rows /= rows.sum(axis=1, keepdims=True)
        there, back = curves(rows, prior @ rows, prior)
        assert there.divergence(back) == pytest.approx(float(m.mutual_information(rows, prior)), rel=1e-9)


def test_any_points_of_both_curves_bound_the_divergence():
    random = np.random.default_rng(22)
    for _ in range(draws(40, 3_000)):
        p, q = random.dirichlet(np.ones(random.integers(2, 5)), 2).clip(1e-4)
        p, q = p / p.sum(), q / q.sum()
        ends = max(0.1, np.log(p / q).max()), max(0.1, np.log(q / p).max())
        some = [[*np.sort(random.uniform(0, end, random.integers(0, 3))).tolist(), end] for end in ends]
        there, back = curves(p[None], q, np.ones(1), some)
        assert float(relative_entropy(p, q)) <= there.divergence(back) * (1 + 1e-12)


@pytest.mark.parametrize(("up", "down"), [("0.5", "0.5"), ("2", "0.1"), ("0.3", "4")])
def test_two_points_without_delta_are_attained_by_laws_of_two_outputs(up, down):
    """P <= e^a Q and Q <= e^b P."""
    g, h = math.exp(float(up)), math.exp(-float(down))
    q = np.array([(1 - h) / (g - h), (g - 1) / (g - h)])
    exact = float(relative_entropy(q * [g, h], q))
    assert PrivacyProfile.of([(up, 0)]).divergence(PrivacyProfile.of([(down, 0)])) == pytest.approx(exact, rel=1e-13)


def test_a_delta_at_0_is_that_of_both_directions():
    """Known of one, it begins the chords of both; 1 says nothing."""
    some, none = PrivacyProfile.of([(0, "0.1"), (1, 0)]), PrivacyProfile.of([(2, 0)])
    exact = 0.1 / math.expm1(1) + 0.1 * (1 - 2 / math.expm1(2))
    assert some.divergence(none) == pytest.approx(exact, rel=1e-14)
    assert none.divergence(some) == pytest.approx(0.3 - exact, rel=1e-14), "both chords have area d L in sum"
    assert PrivacyProfile.of([(0, 1), (2, 0)]).divergence(some) == pytest.approx(0.3 - exact, rel=1e-14)
    assert PrivacyProfile.of([(0, 1), (1, 0)]).capacity() == PrivacyProfile.of([(1, 0)]).capacity()


def test_both_curves_of_noise_on_listed_inputs_come_near_its_largest_divergence():
    """One delta for both directions does not, however many points there are."""
    noise = ListedInputs.of([-1, 0, 1], [1, 2, 1], 4)
    grid = [Fraction(k, 8) for k in range(17)]
    points = [[float(delta.upper()) for delta in noise.deltas(arb(float(e)))] for e in grid]
    rows, law = (PrivacyProfile.of(list(zip(grid, some, strict=True)), decay=2) for some in zip(*points, strict=True))
    exact = float(noise.largest_divergence())
    assert exact < rows.divergence(law) < 1.02 * exact
    one = PrivacyProfile.of([(e, max(a * math.exp(-e), b)) for e, (a, b) in zip(grid, points, strict=True)], decay=2)
    assert one.prior_information() > 1.1 * exact
    assert PrivacyProfile.of([(1, "1e-9")]).divergence(rows) == math.inf


def test_the_moments_of_the_log_ratio_follow_from_the_curve():
    """Eq. (21): for Gaussian laws a shift s apart, E exp(t L) = exp(t (t+1) s^2/2), t (t+1) times an integral of delta, and 1."""
    for shift, t in ((0.5, 1.0), (1.0, 0.5), (1.0, 2.0)):

        def integrand(e, shift=shift, t=t):
            return (math.exp(t * e) + math.exp(-(t + 1) * e)) * float(gaussian_delta(arb(shift), arb(e)))

        area, _ = quad(integrand, 0, 30, limit=300)
        assert 1 + t * (t + 1) * area == pytest.approx(math.exp(t * (t + 1) * shift**2 / 2), rel=1e-9)


# The power of a test that a capacity leaves: the curve of Theorem 1(a), its tangents, and the channels that attain it.


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


def test_a_trade_off_curve_bounds_each_delta_from_above_and_fine_points_come_near():
    """Of normal laws a distance of 1 apart: errors Phi(Phi^-1(1 - level) - 1)."""
    for count, near in ((5, 0.4), (300, 0.02)):
        levels = [k / count for k in range(1, count)]
        points = [(level, norm.cdf(norm.isf(level) - 1)) for level in levels]
        for epsilon, delta in PrivacyProfile.of_tradeoff(points, epsilons=[0, "0.5", 1]).points:
            e = float(epsilon)
            exact = norm.cdf(0.5 - e) - math.exp(e) * norm.cdf(-0.5 - e)
            assert exact <= delta <= exact + near
    told = PrivacyProfile.of_tradeoff(points).guarantees()
    assert dl.convert(told, to="local_dp_delta(0.5)").value < 0.26
    perfect = PrivacyProfile.of_tradeoff([(0.5, 0.5)], epsilons=[0]).points  # known at one level: T(1/2) >= 1/2
    assert 0.5 <= perfect[0][1] < 0.5 + 1e-15


def test_points_of_a_trade_off_curve_are_two_probabilities():
    for bad in ([], [(0.1,)], [(0.1, 2)], [(-0.1, 0.5)]):
        with pytest.raises(dl.errors.InputError):
            PrivacyProfile.of_tradeoff(bad)
