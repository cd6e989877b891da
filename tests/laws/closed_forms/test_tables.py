"""Reference values of the paper on f-divergences and information privacy (Wang, Tay), sections II to III, to their last digits.

Where a chain of rules is better than what the paper prints, or a clip hides it, the paper's rule is asked alone.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import ndtr

import dalenius as dl
from campaigns import each, thinned
from dalenius.conversions import RULES, PrivacyProfile
from dalenius.conversions.gaussian import (
    ListedInputs,
    amplitude_capacity,
    amplitude_of,
    chi_square,
    gaussian_delta,
    saddle_value,
)
from dalenius.conversions.numbers import Epsilon
from dalenius.conversions.rule import Facts, Given
from dalenius.information import measures as m
from dalenius.information import relative_entropy
from dalenius.information.capacity import capacity
from dalenius.information.noise_formulas import classical_gaussian_variance
from digits import same
from figure_3 import FIGURE_3

J1 = np.array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
J2 = np.array([[0.20, 0.05, 0.05], [0.05, 0.25, 0.05], [0.05, 0.05, 0.25]])
THEOREM_1 = {  # section 3.8 of the catalogue. eta, epsilon: total variation as printed, exact; information; chi-square
    ("0.01", "0.5"): "0.02541494083 0.02041494083 0.1492623295 0.08786990532 0.07506766143 0.03917698089",
    ("0.05", "0.5"): "0.1270747041 0.1020747041 0.5769151038 0.4123405226 0.3231489035 0.1958849045",
    ("0.1", "1"): "0.1581976707 0.1081976707 0.3445101431 0.2368039905 0.1626894967 0.09206735942",
    ("0.02", "0.2"): "0.1103331113 0.1003331113 1.001664619 1 0.6637132226 0.4983366614",
    ("0.2", "2"): "0.2313035285 0.1313035285 0.2037660801 0.1663446406 0.0645890101 0.03620308305",
    ("0.001", "0.1"): "0.01050833194 0.01000833194 0.3334454697 0.2003886669 0.1816129714 0.09991670832",
}
ZETAS = {  # zeta(epsilon), zeta(-epsilon)
    ("0.01", "0.5"): ("0.0878699053", "0.06139242421"),
    ("0.05", "0.5"): ("0.3495117828", "0.227403321"),
    ("0.1", "1"): ("0.2365580856", "0.1079520575"),
    ("0.02", "0.2"): ("0.5507767386", "0.4508878809"),
    ("0.2", "2"): ("0.1663446406", "0.03742143954"),
    ("0.001", "0.1"): ("0.1732036949", "0.1602417748"),
}
CHAIN = {  # delta, epsilon: eta; delta' as printed and refined at D = 0.1, 0.5, 1
    (0.1, "0.1"): "0.0004953968774 0.3772304821 0.1979937012 0.04345842242 0.02185324715 0.01275256245 0.006388038178",
    (0.1, "0.5"): "0.01268394691 0.9776387467 0.5595219494 0.3766679977 0.1987674982 0.1675530398 0.0860852825",
    (0.1, "1.2"): "0.08246253285 1.240139539 0.7537939394 0.7547224997 0.4300176835 0.4498771595 0.2467023013",
    (0.05, "0.1"): "0.0003886360974 0.2989861682 0.1553249584 0.03413462793 0.01714375095 0.01000828253 0.005011380452",
    (0.05, "0.5"): "0.009899326762 0.784608303 0.4366850989 0.2973722008 0.1551302942 0.1315365604 0.06718621162",
    (0.05, "1.2"): "0.06266786542 0.9825314608 0.5728499419 0.5901209238 0.326794356 0.3489448561 0.1874828008",
}


def alone(rule, value, *, before=None, after=None, **facts):
    """The number that one rule of the shelf gives, without clips and chains."""
    (found,) = (r for r in RULES if r.name == rule)
    ends = [None if epsilon is None else Epsilon.read(epsilon) for epsilon in (before, after)]
    return float(found.value(Given(arb(str(value)), Facts.of(**facts), *ends)))


@each("at", *THEOREM_1)
def test_theorem_1(at):
    eta, epsilon = at
    to, row = f"information_privacy_delta({epsilon})", THEOREM_1[at].split()
    for source, printed, exact in zip(
        ("total_variation", "mutual_information", "chi_square"), row[::2], row[1::2], strict=True
    ):
        same(alone(f"CONV-9 ({source})", eta, after=epsilon), printed)
        best = dl.convert(source, eta, to=to).value
        if source == "mutual_information":  # a program in the catalogue, too, known to 1e-9
            assert best == pytest.approx(float(exact), abs=2e-10)
        else:
            same(best, exact)
        least = dl.convert(source, eta, to=to, sharp=False).value
        assert best <= least <= min(float(printed) * (1 + 1e-9), 1.0)


@each("at", *ZETAS)
def test_zeta_is_the_largest_probability_that_its_divergence_allows(at):
    """Both sum to the number of Theorem 1(b); each divergence is eta at its zeta, or the zeta is 1."""
    eta, epsilon = map(float, at)
    total = alone("CONV-9 (mutual_information)", at[0], after=at[1])
    assert total == pytest.approx(sum(map(float, ZETAS[at])), abs=1.2e-10)
    for e, digits in zip((epsilon, -epsilon), ZETAS[at], strict=True):
        least, most = (float(digits) + step for step in (-1.2e-10, 1.2e-10))
        tells = [e + (1 - p) * math.log((1 - p) / (math.exp(e) - p)) for p in (least, most)]
        assert tells[0] < eta < tells[1]


def test_a_circulant_comes_near_the_exact_worst_case():
    """Noise on a ring of 2000: 29 shifts with lift e^(1/2), 48 with e^(-1/2), and the others alike."""
    n, up, down, epsilon = 2000, 29, 48, 0.5 * (1 + 1e-9)  # outside of the band
    lifts = [math.exp(epsilon)] * up + [math.exp(-epsilon)] * down
    rest = (n - sum(lifts)) / (n - up - down)
    eta = (sum(d * d for d in lifts) + (n - up - down) * rest**2) / n - 1
    delta = sum(lifts) / n
    same(eta, "0.009817806014")
    same(delta, "0.03846319426")
    bound = dl.convert("chi_square", eta, to="information_privacy_delta(0.5)").value
    same(bound, "0.03846319986")
    assert delta < bound


def test_detection():
    """Lemma 2; of the first joint law the bound is below 0, which `convert` does not say."""
    assert m.information_privacy_delta(*m.split(J2), math.exp(1.0)) == 0.0
    same(
        1.0 - dl.convert("information_privacy_delta(1)", 0, to="guessing_success", p_max="0.35").value, "0.04860136004"
    )
    assert m.information_privacy_delta(*m.split(J1), math.exp(0.75)) == pytest.approx(0.05)
    same(1.0 - alone("CONV-12 (detection)", "0.05", before="0.75", p_max="0.5"), "-0.1085000083")
    clipped = dl.convert("information_privacy_delta(0.75)", "0.05", to="guessing_success", p_max="0.5", sharp=False)
    assert clipped.value == 1.0


def ramps(a, positions, weights):
    """The joint law 1 + a s y, by points in [-1, 1] whose weights are symmetric: both margins are the weights, exactly."""
    return np.outer(weights, weights) * (1.0 + a * np.outer(positions, positions))


@each(
    "a, error, printed, plain, strong, information",
    (0.1, "0.0832407407", "-0.0386419753", "0.0675", "0.075", "0.000555889571375"),
    (0.5, "0.0810185185", "-0.9166666667", "0.0208333333", "0.0416666667", "0.0141088150113"),
    (0.9, "0.0758333333", "-24.99666667", "0.0008333333", "0.0083333333", "0.0476994403487"),
)
def test_a_law_with_a_density(a, error, printed, plain, strong, information):
    """S and Y uniform in [0, 1] with density 1 + a (2s-1)(2y-1): lifts in 1-a .. 1+a. Gauss's points integrate polynomials exactly."""
    positions, weights = np.polynomial.legendre.leggauss(60)
    joint = ramps(a, positions, weights / 2)
    channel, prior = m.split(joint)
    same(m.mutual_information(channel, prior), information)
    assert m.chi_square(channel, prior) == pytest.approx(a * a / 9, rel=1e-11)
    assert m.maximal_correlation(channel, prior) == pytest.approx(a / 3, rel=1e-11)
    middles = np.linspace(-1, 1, 20, endpoint=False) + 0.05
    assert m.total_variation(*m.split(ramps(a, middles, np.full(20, 0.05)))) == pytest.approx(a / 4, rel=1e-12)

    s = (1 + positions) / 2
    guesses = (s @ joint) / joint.sum(axis=0)
    told = float((joint * (s[:, None] - guesses) ** 2).sum())
    same(told, error)
    low = 1 - a  # e^-epsilon, with delta = 0
    same(low**2 / 3 - low**-2 / 4, printed)
    same(low**2 / 12, plain)
    share = dl.convert(
        "strong_information_privacy_delta(log " + f"{1 / (1 - Fraction(str(a)))})", 0, to="estimation_error"
    )
    same(share.value / 12, strong)
    assert max(float(printed), float(plain)) < share.value / 12 < told


@each(
    "a, deltas",
    (0.5, {0.05: "0.6693888617", 0.1: "0.4762146739", 0.2: "0.2257108817", 0.3: "0.08213939789"}),
    (0.1, {0.05: "0.1530051336", 0.1: "0.0005371369717"}),
    (0.9, {0.05: "0.7836178787", 0.1: "0.6432622536", 0.2: "0.4357089678", 0.3: "0.2821793956"}),
)
def test_deltas_of_the_law_with_a_density(a, deltas):
    """w = (2s-1)(2y-1) has the density -log|w| / 2, times 1 + a w; of 400 x 400 cells the delta is within 0.004 of that."""
    middles = (np.arange(400) - 199.5) / 200

    def tail(t, sign):
        """The integral of -log(w)/2 (1 + sign a w) from t to 1."""
        return (1 - t + t * math.log(t)) / 2 + sign * a * ((1 - t * t) / 4 + t * t * math.log(t) / 2) / 2

    channel, prior = m.split(ramps(a, middles, np.full(400, 1 / 400)))
    for epsilon, digits in deltas.items():
        ends = (math.expm1(epsilon) / a, 1), (-math.expm1(-epsilon) / a, -1)
        exact = sum(tail(t, sign) for t, sign in ends if t < 1)
        same(exact, digits)
        assert m.information_privacy_delta(channel, prior, math.exp(epsilon)) == pytest.approx(exact, abs=4e-3)


@each(
    "joint, variation, chi",
    (J1, ("0.4", "0.4"), ("0.4666666667", "0.28")),
    (J2, ("0.7333333333", "0.7285714286", "0.7285714286"), ("0.605", "0.659", "0.659")),
)
def test_strong_distances_of_each_letter(joint, variation, chi):
    """Section 3.7: of the law of the outputs from each row, in this order."""
    channel, prior = m.split(joint)
    outputs = prior @ channel
    same(np.abs(outputs - channel).sum(axis=1), *variation)
    same((outputs**2 / channel).sum(axis=1) - 1, *chi)
    same(m.strong_total_variation(channel, prior), max(variation))
    same(m.strong_chi_square(channel, prior), max(chi, key=float))
    assert m.strong_kl(channel, prior) == pytest.approx(max(float(relative_entropy(outputs, row)) for row in channel))


def test_e3_5_the_second_inequality_of_lemma_3_s_proof():
    """Eq. (14), S in {1, 2} under the first joint law, M the cells with |log lift| <= 1/2: 0.075 on the left, 0.15 on the right."""
    inside = J1 * (np.abs(np.log(J1 / np.outer(J1.sum(axis=1), J1.sum(axis=0)))) <= 0.5)
    s = np.array([1.0, 2.0])
    mass, mean, square = (s**k @ inside for k in (0, 1, 2))
    same((square - np.divide(mean**2, mass, out=np.zeros(3), where=mass > 0)).sum(), "0.075")
    same(square.sum() - (mean**2 / J1.sum(axis=0)).sum(), "0.15")


def test_what_information_privacy_leaves_of_distances():
    """Section 3.10: the exact ones, and Lemma 4 as printed, which says nothing from 2 on."""
    table = {
        "0.1": ("0.09991674992", "0.004995837496", "0.01000833611", "0.2103418362"),
        "0.5": ("0.4898373248", "0.1224593312", "0.2552519304", "1.297442541"),
        "1": ("0.9242343145", "0.4621171573", "1.08616127", "3.436563657"),
        "2": ("1.523188312", "1.523188312", "5.524391382", "12.7781122"),
    }
    for epsilon, (*exact, printed) in table.items():
        for to, digits in zip(("total_variation", "mutual_information", "chi_square"), exact, strict=True):
            same(dl.convert("information_privacy", epsilon, to=to).value, digits)
        same(alone("lemma-4", 0, before=epsilon), printed)
        said = dl.convert(f"information_privacy_delta({epsilon})", 0, to="total_variation", sharp=False).value
        assert said == pytest.approx(min(float(printed), 2.0), abs=1e-9)


def strong_eta(delta, epsilon, p0=0.5):
    """max(p0, 1-p0)^2 (e^r - 1), r = epsilon^2 / (2 log(1.25/delta)), as a double above it."""
    shift = arb(epsilon) / (2 * (arb(str(1.25)) / arb(str(delta))).log()).sqrt()
    return shift, float((chi_square(shift) * arb(max(p0, 1 - p0)) ** 2).upper())


@pytest.mark.parametrize("at", thinned([(at,) for at in CHAIN], every=2))
def test_the_chain_of_the_gaussian_mechanism(at):
    """Section III-A: strong chi-square, Corollary 1, Lemma 1; delta' = 2 g / p_min as printed, with the exact worst case refined.

    `convert` is below both: what two inputs of probability 1/2 allow is a coin for each, of probabilities q and p, whose chi-squares
    from their mean's coin to either are at most eta, that is (p - q)^2 <= 4 eta q (1 - q), and with p in place of q; delta' is then
    the most of p - e^e q.
    """
    (delta, epsilon), (digits, *row) = at, CHAIN[at].split()
    shift, eta = strong_eta(delta, epsilon)
    same(eta, digits)
    q, c = np.geomspace(1e-12, 0.999, 40_001), 4 * eta
    middle = q + c / 2
    p = np.minimum(q + np.sqrt(c * q * (1 - q)), (middle + np.sqrt(middle**2 - (1 + c) * q**2)) / (1 + c))
    for offset, printed, refined in zip(("0.1", "0.5", "1"), row[::2], row[1::2], strict=True):
        after = Fraction(epsilon) + Fraction(offset)
        half, to = str(after / 2), f"local_dp_delta({after})"
        same(4 * alone("CONV-9 (chi_square)", eta, after=half), printed)
        same(2 * alone("CONV-10 (strong_chi_square)", eta, after=half, letters=2), refined)
        found = dl.convert("strong_chi_square", eta, to=to, p_min="1/2").value
        assert gaussian_delta(shift, arb(after.numerator) / after.denominator).upper() < found < float(refined)
        assert found == pytest.approx((p - math.exp(after) * q).max(), rel=1e-6)


def test_figure_2c():
    """delta = 0.1, D = 1, by the probability of the first input."""
    table = {
        "0.1": ("0.2057445621", "0.08138301381", "0.04158496272", "0.02293605102", "0.01275256245"),
        "0.5": ("2.565310316", "1.030369416", "0.5338768179", "0.2981312062", "0.1675530398"),
    }
    for epsilon, row in table.items():
        half = str((Fraction(epsilon) + 1) / 2)
        for share, digits in zip((0.1, 0.2, 0.3, 0.4, 0.5), row, strict=True):
            _, eta = strong_eta(0.1, epsilon, share)
            same(2 * alone("CONV-9 (chi_square)", eta, after=half) / share, digits)


def test_classical_calibration():
    """Section III-A and E3-13: its scales, its own delta at 0.6, and the epsilon from which on it is no longer private enough."""
    for epsilon, delta, sigma in ((0.1, 0.1, "22.475447245"), (0.5, 0.1, "4.49508944899"), (1, 1e-5, "4.84480526261")):
        same(math.sqrt(classical_gaussian_variance(epsilon, delta, 1)), sigma)
    same(math.sqrt(classical_gaussian_variance(1, 0.05, 1)) / 1.2, "2.1143937353")  # beyond 1, where nothing is proved
    shift, _ = strong_eta(0.1, "0.5")
    same(float(gaussian_delta(shift, arb("0.6"))), "0.0003197481682")
    for delta, first in ((0.1, "5.742594921"), (0.05, "6.109540377"), (1e-5, "8.419771302")):
        for step, enough in ((-1e-9, True), (1e-9, False)):
            epsilon = repr(float(first) + step)
            own = gaussian_delta(strong_eta(delta, epsilon)[0], arb(epsilon))
            assert (own < arb(str(delta))) is enough
            assert (own > arb(str(delta))) is not enough


# The catalogue's tables of the paper on local mutual-information privacy, whole; a few rows are daily in
# `tests/unit/conversions`.


pytestmark = pytest.mark.thorough
BITS = math.log(2.0)
EPSILONS = ("0", "0.1", "0.5", "1", "2", "4")
ASYMMETRIC = [  # flips of a binary channel, and its capacity in bits (P1-1)
    (0.1, 0.1, 0.53100440641072),
    (0.0, 0.5, 0.32192809488736),
    (0.1, 0.3, 0.2966718028805),
    (0.05, 0.6, 0.14225967055823),
    (0.25, 0.25, 0.18872187554087),
    (0.4, 0.5, 0.0072992403940471),
    (0.2, 0.79, 0.00011066297508016),
]
LIMITS = {  # bits: what Theorem 1(a) leaves at any epsilon (P1-2)
    "0.001": 0.0018830476555474,
    "0.01": 0.018729802792679,
    "0.05": 0.09144216322618,
    "0.1": 0.17750334718395,
    "0.2": 0.33435036805883,
    "0.5": 0.69645562900359,
    "0.9": 0.96868295062567,
}
PROFILES = {  # half of the shift: delta at epsilon 0, 0.1, 0.5, 1, 2 (P1-4)
    "0.05": "0.03987761167674 0.00875176814581 6.856582455839e-9 1.230835983643e-25 3.719450726805e-91",
    "0.1": "0.07965567455406 0.04148168846072 0.0005125360831583 1.754633331896e-8 4.043703566765e-25",
    "0.5": "0.382924922548 0.3523251716814 0.2384217081349 0.1269367375066 0.02092363582111",
    "1": "0.6826894921371 0.6666395155288 0.5991856185339 0.5098616600547 0.3318979987768",
}
AMPLITUDES = [  # variance: capacity in nats in one dimension, and in ten (P1-5)
    (0.5, 0.50007213606684, 5.4227033609482),
    (1, 0.33683082034683, 3.4480712253336),
    (2, 0.20134547158481, 2.0243540484582),
    (5, 0.09109068696311, 0.91144039819362),
    (10, 0.047649233896716, 0.47653648402214),
    (20, 0.024394649969056, 0.24394974560546),
    (50, 0.0099013013114711, 0.099013105665771),
    (100, 0.0049751646254505, 0.049751652263457),
    (200, 0.0024937707044598, 0.024937707427553),
]
BIT_COLUMNS = {  # variance: in one dimension capacity and Theorem 3, in ten both, in bits (P1-5)
    0.5: (0.72145159079039, 0.792481250361, 7.8233072470519, 7.92481250361),
    1: (0.48594415413294, 0.5, 4.9745152574207, 5),
    2: (0.29048011336085, 0.292481250361, 2.9205255467142, 2.92481250361),
    5: (0.13141608235285, 0.131517202917, 1.3149305425398, 1.31517202917),
    10: (0.068743313444951, 0.068751761875, 0.68749682230141, 0.68751761875),
    20: (0.035194040534579, 0.0351946639457, 0.35194508821112, 0.351946639457),
    50: (0.014284558300407, 0.0142845760984, 0.14284571652702, 0.142845760984),
    100: (0.0071776453327436, 0.00717764648854, 0.071776461996522, 0.0717764648854),
    200: (0.0035977506284384, 0.0035977507021, 0.035977506836871, 0.035977507021),
}
CALIBRATED = [  # dimension, bits, variance (P1-5)
    (10, 0.01, 720.8476358892),
    (10, 0.1, 71.63589949479),
    (10, 0.5, 13.93255055842),
    (1, 0.01, 71.63587610758),
    (1, 0.1, 6.722453844828),
    (1, 0.5, 0.9578421895573),
]
FIGURE_1 = {  # bits: delta in ten dimensions, epsilon as above (P1-6)
    0.01: "0.0937594651665 0.0548162588652 0.00182770049095 9.0494828181e-7 7.52069e-19 5.78e-66",
    0.1: "0.291315844428 0.256663092149 0.138917185018 0.0492296518853 0.00219178592737 3.92716992316e-8",
    0.5: "0.603114975643 0.583108942216 0.50072365717 0.396716155233 0.212098884618 0.0285746842315",
}
LEAST = "0.011194726943501"  # the probability of an end of the 21 inputs


def digits(text: str) -> float:
    """Half of the last digit that a text shows, relative to its number, and rounding besides."""
    return 10.0 ** (1 - len(text.split("e")[0].replace(".", "").lstrip("0"))) + 1e-12


@pytest.mark.parametrize(("e0", "e1", "bits"), ASYMMETRIC)
def test_capacities_of_binary_channels(e0, e1, bits):
    found = capacity(np.array([[1 - e0, e0], [e1, 1 - e1]]), gap=1e-15)
    assert found.lower / BITS == pytest.approx(bits, rel=1e-10)


@pytest.mark.parametrize("bits", LIMITS)
def test_what_an_information_leaves_at_any_epsilon(bits):
    found = dl.convert("shannon_capacity", f"{bits} bits", to="local_dp_delta(6)").value
    assert found == pytest.approx(LIMITS[bits], rel=1e-9)


@pytest.mark.parametrize("half", PROFILES)
def test_profiles_of_two_gaussian_laws(half):
    for epsilon, text in zip(EPSILONS, PROFILES[half].split(), strict=False):
        with ctx.workprec(400):
            found = float(gaussian_delta(2 * arb(half), arb(epsilon)))
        assert found == pytest.approx(float(text), rel=digits(text), abs=0.0)


@pytest.mark.parametrize(("variance", "line", "ten"), AMPLITUDES)
def test_capacities_of_bounded_amplitude(variance, line, ten):
    for dimension, nats in ((1, line), (10, ten)):
        found = amplitude_capacity(math.sqrt(dimension / variance), dimension)
        assert found.optimal
        assert found.lower == pytest.approx(nats, rel=2e-13)
        assert found.lower / BITS == pytest.approx(
            dict(zip((1, 10), BIT_COLUMNS[variance][::2], strict=True))[dimension], rel=2e-13
        )
        saddle = saddle_value(arb(1), arb(variance), dimension)
        theorem_3 = dict(zip((1, 10), BIT_COLUMNS[variance][1::2], strict=True))[dimension]
        assert float(saddle) / BITS == pytest.approx(theorem_3, rel=2e-11)
        assert found.upper <= saddle


@pytest.mark.parametrize(("dimension", "bits", "variance"), CALIBRATED)
def test_the_variance_with_a_capacity(dimension, bits, variance):
    assert dimension / amplitude_of(bits * BITS, dimension) ** 2 == pytest.approx(variance, rel=1e-11)


@pytest.mark.parametrize("bits", FIGURE_1)
def test_figure_1(bits):
    shift = 2.0 * amplitude_of(bits * BITS, 10)
    for epsilon, text in zip(EPSILONS, FIGURE_1[bits].split(), strict=True):
        with ctx.workprec(400):
            found = float(gaussian_delta(arb(shift), arb(epsilon)))
        assert found == pytest.approx(float(text), rel=max(digits(text), 1e-10), abs=0.0)
        assert found < dl.convert("shannon_capacity", f"{bits} bits", to=f"local_dp_delta({epsilon})").value


@pytest.mark.parametrize(
    ("span", "nats"),
    [(0.1, 0.00483741803596), (0.5, 0.1065306597126), (1, 0.3678794411714), (2, 1.135335283237), (5, 4.006737946999)],
)
def test_the_integral_of_laplace_noise(span, nats):
    """Theorem 1(b) of noise with range t: t - 1 + exp(-t), which points of its profile enclose from above."""
    end = Fraction(str(span))
    grid = [end * k / 200 for k in range(200)]
    points = PrivacyProfile.from_function(lambda e: -((e - arb(str(span))) / 2).expm1(), grid).points
    assert nats <= PrivacyProfile.of([*points, (end, Fraction(0))]).capacity() * (1 + 1e-12) < nats * 1.0003
    assert span - 1 + math.exp(-span) == pytest.approx(nats, rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "corrected", "simple"),
    [
        ("0.1", 0.51888491, 0.52188827),
        ("0.5", 0.47956523, 0.48241695),
        ("1", 0.46182043, 0.46447750),
        ("2", 0.45902034, 0.46161096),
    ],
)
def test_theorem_2a_corrected(epsilon, corrected, simple):
    """P1-8 at 0.01 bits; the first column is a solver's, up to 1e-7. The second is the printed theorem at mu/pi."""
    asked = f"local_information_privacy_delta({epsilon})"
    found = dl.convert("mutual_information", "0.01 bits", to=asked, p_min=LEAST).value
    assert found == pytest.approx(corrected, abs=3e-7)
    spread = dl.convert("largest_divergence", f"{0.01 / float(LEAST):.15f} bits", to=asked).value
    assert spread == pytest.approx(simple, abs=1e-8)
    assert found < spread


@pytest.mark.parametrize(
    ("bits", "limit"),
    [
        ("0.001", 0.00069290700954748),
        ("0.01", 0.0069075045629641),
        ("0.1", 0.066967008463193),
        ("0.5", 0.29289321881345),
        ("1", 0.5),
    ],
)
def test_theorem_2a_at_large_epsilon(bits, limit):
    found = dl.convert("largest_divergence", f"{bits} bits", to="local_information_privacy_delta(9)").value
    assert found == pytest.approx(limit, rel=1e-8)


@pytest.mark.parametrize("variance", FIGURE_3)
def test_figure_3(variance):
    inputs = [Fraction(i, 10) - 1 for i in range(21)]
    noise = ListedInputs.of(inputs, [math.exp(-2.0 * float(x) ** 2) for x in inputs], variance)
    for epsilon, delta in FIGURE_3[variance].items():
        assert float(noise.delta(arb(epsilon))) == pytest.approx(delta, rel=1e-9)
    largest = {"1.3599906965": 0.46835272, "14.4872661913": 0.04917533}[variance]
    assert float(noise.largest_divergence()) / BITS == pytest.approx(largest, abs=1e-8)
    told = {"1.3599906965": 0.1, "14.4872661913": 0.01}[variance]
    assert float(noise.mutual_information()) / BITS == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize(
    ("bits", "variance", "crossing", "violated"),
    [
        ("0.1", "1.3599906965", 1.21545970, ("0", "0.1", "0.2", "0.5", "1")),
        ("0.01", "14.4872661913", 0.37824192, ("0", "0.1", "0.2", "0.3")),
    ],
)
def test_e1_1_up_to_where_the_printed_theorem_2a_is_false_in_its_own_figure(bits, variance, crossing, violated):
    """Noise with this information has a larger delta than eq. (13) allows, for every epsilon below the crossing; never more than the
    corrected program does."""
    inputs = [Fraction(i, 10) - 1 for i in range(21)]
    noise = ListedInputs.of(inputs, [math.exp(-2.0 * float(x) ** 2) for x in inputs], variance)

    def both(epsilon: str) -> tuple[arb, float, float]:
        asked = f"local_information_privacy_delta({epsilon})"
        printed = dl.convert("largest_divergence", f"{bits} bits", to=asked).value
        corrected = dl.convert("mutual_information", f"{float(bits) + 1e-9} bits", to=asked, p_min="0.0111947").value
        return noise.delta(arb(epsilon)), printed, corrected

    for epsilon in (*violated, f"{crossing - 2e-8:.8f}"):
        own, printed, corrected = both(epsilon)
        assert printed < own < corrected
    for epsilon in (f"{crossing + 2e-8:.8f}", "2", "3"):
        own, printed, corrected = both(epsilon)
        assert own < printed < corrected


def test_the_21_inputs():
    """Their law as it is read here, a Gaussian density on the grid, and as masses of bins, which another variance makes 0.1 bits."""
    inputs = [Fraction(i, 10) - 1 for i in range(21)]
    x = np.array([float(point) for point in inputs])
    law = np.exp(-2.0 * x**2)
    law /= law.sum()
    assert law @ x**2 == pytest.approx(0.20223470713, abs=6e-12)
    assert law[10] == pytest.approx(0.0827184654, abs=6e-11)
    assert law[0] == law[20] == pytest.approx(float(LEAST), abs=6e-16)
    bins = ndtr((x + 0.05) / 0.5) - ndtr((x - 0.05) / 0.5)
    told = ListedInputs.of(inputs, bins.tolist(), "1.3625825").mutual_information()
    assert float(told) / BITS == pytest.approx(0.1, abs=2e-9)


def test_five_amplitudes_at_five_standard_deviations():
    """-5, 5, the origin and +-2.265325 (P1-5)."""
    found = amplitude_capacity(5)
    assert found.lower == pytest.approx(1.218831188403, abs=6e-13)
    assert found.lower < found.upper < found.lower + 1e-12
    assert [float(r) for r in found.radii] == pytest.approx([0, 2.265325, 5], abs=2e-6)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("squared", "low", "high", "count", "gap"),
    [(50, 8.710609, 8.710923, 2, 2e-10), (100, 11.525900, 11.526231, 3, 1e-12)],
)
def test_several_spheres_in_ten_dimensions(squared, low, high, count, gap):
    """Where one is not the best any more, variances 0.2 and 0.1: inside of a solver's intervals."""
    found = amplitude_capacity(math.sqrt(squared), 10)
    assert not found.optimal
    assert len(found.radii) == count
    assert low - 1e-6 < found.lower < found.upper < high
    assert found.upper < found.lower + gap
