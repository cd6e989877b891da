"""The catalogue's tables of the paper on local mutual-information privacy, whole; a few rows are daily in `tests/unit/conversions`."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import ndtr

import dalenius as dl
from dalenius.conversions import PrivacyProfile
from dalenius.conversions.gaussian import ListedInputs, amplitude_capacity, amplitude_of, gaussian_delta, saddle_value
from dalenius.information.capacity import capacity
from figure_3 import FIGURE_3

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
        allowed = dl.convert("shannon_capacity", f"{bits} bits", to=f"local_dp_delta({epsilon})").value
        assert found < allowed


@pytest.mark.parametrize(
    ("span", "nats"),
    [(0.1, 0.00483741803596), (0.5, 0.1065306597126), (1, 0.3678794411714), (2, 1.135335283237), (5, 4.006737946999)],
)
def test_the_integral_of_laplace_noise(span, nats):
    """Theorem 1(b) of noise with range t: t - 1 + exp(-t), which points of its profile enclose from above."""
    end = Fraction(str(span))
    grid = [end * k / 200 for k in range(200)]
    points = PrivacyProfile.from_function(lambda e: -((e - arb(str(span))) / 2).expm1(), grid).points
    found = PrivacyProfile.of([*points, (end, Fraction(0))]).capacity()
    assert nats <= found * (1 + 1e-12) < nats * 1.0003
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
