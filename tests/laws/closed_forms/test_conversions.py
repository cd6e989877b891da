"""Conversions with known numbers: the papers', and independent computations to many digits."""

import math

import numpy as np
import pytest
from scipy import optimize

import dalenius as dl
from campaigns import each
from digits import inside, same

EPSILONS = ("0", "0.01", "0.1", "0.5", "1", "2", "3")
THEOREM_1A = {  # mutual information in bits: delta at each epsilon
    "0.001": "0.037228672142533 0.03272624144837 0.01297229453983 0.003551551539578 "
    "0.002307411403401 0.001899601861887 0.001883057474856",
    "0.01": "0.11760477747649 0.113276290566 0.08179896587933 0.0338657161655 0.02275039304923 0.01888502730124 0.01872988723985",
    "0.1": "0.36796130735278 0.3648157582106 0.3379011239775 0.2512892294287 0.2014832104693 0.1782852115375 0.1775035108507",
    "0.5": "0.77994427112328 0.7788463412767 0.7691945868094 0.7329456294775 0.7064809082652 0.6964898564646 0.6964556290084",
    "0.9": "0.974026275889 0.9738971158867 0.972802268642 0.9696261141694 0.9687168174839 0.968682950633 0.9686829506257",
}
BOUNDARY = {  # mutual information in bits: the largest p0 beside p1 = 0, 0.001, 0.01, 0.1, 0.3
    "0.01": (0.0187298027927, 0.0241327508885, 0.0475518032578, 0.181294340337, 0.412587424734),
    "0.1": (0.177503347184, 0.185429832265, 0.224884956343, 0.416010176587, 0.667747005111),
    "0.5": (0.696455629004, 0.702082236611, 0.733524598622, 0.879612345688, 0.999415871157),
}
THEOREM_2A = {
    "0.001": "0.01861577013243 0.003639090517393 0.001037339955185 0.0007551205134702 0.0006933352326906",
    "0.01": "0.05884781980831 0.02940251514968 0.0102194979981 0.007512386651765 0.006911579172155",
    "0.1": "0.1854443559223 0.1524573652166 0.09028615947096 0.07154127212773 0.06699141837007",
    "0.5": "0.4080501614597 0.3862611246537 0.3274322263848 0.2993702268826 0.2929016973404",
    "1": "0.5647602501009 0.5519302300925 0.5171971693081 0.5020993016102 0.5000001909422",
}
ONE_STEP = [  # notion, value, to, facts, digits
    ("local_dp", "0.1", "pairwise_divergence", {}, "0.004995837495788"),
    ("local_dp", "0.5", "pairwise_divergence", {}, "0.1224593312019"),
    ("local_dp", "2", "pairwise_divergence", {}, "1.523188311912"),
    ("local_dp", "0.1", "mutual_information", {}, "0.00124982642746"),
    ("local_dp", "0.5", "mutual_information", {}, "0.03114209226116"),
    ("local_dp", "1", "mutual_information", {}, "0.1233015614822"),
    ("local_dp", "2", "mutual_information", {}, "0.4744746470705"),
    ("local_dp", "4", "mutual_information", {}, "1.669849633509"),
    ("local_dp", "0.1", "mutual_information", {"sharp": False}, "0.005"),
    ("local_dp", "0.5", "mutual_information", {"sharp": False}, "0.125"),
    ("local_dp", "0.1", "shannon_capacity", {"letters": 2}, "0.001248439234268"),
    ("local_dp", "4", "shannon_capacity", {"letters": 2}, "0.6030524127938"),
    ("local_dp_delta(0)", "0.01", "shannon_capacity", {"letters": 2}, "0.006931471805599"),
    ("local_dp_delta(0.1)", "0.001", "shannon_capacity", {"letters": 2}, "0.001940337975594"),
    ("local_dp_delta(0.5)", "1e-5", "shannon_capacity", {"letters": 2}, "0.03030649045395"),
    ("local_dp_delta(1)", "0.01", "shannon_capacity", {"letters": 2}, "0.1167661027606"),
    ("local_dp_delta(0)", "0.01", "shannon_capacity", {"outputs": 2, "sharp": False}, "0.1258660123209"),
    ("local_dp_delta(0.1)", "0.001", "shannon_capacity", {"outputs": 2, "sharp": False}, "0.4729368176366"),
    ("local_dp_delta(0.1)", "0.001", "shannon_capacity", {"outputs": 10, "sharp": False}, "0.6368046890577"),
    # at most log 4 and log 3, where the formula has 1.792 and 2.396
    ("local_dp_delta(0.5)", "1e-5", "shannon_capacity", {"outputs": 4, "sharp": False}, "1.38629436112"),
    ("local_dp_delta(1)", "1e-5", "shannon_capacity", {"outputs": 3, "sharp": False}, "1.09861228867"),
    ("local_dp_delta(0.1)", "0.001", "local_dp_delta(0)", {}, "0.05090841658292"),
    ("local_dp_delta(0.5)", "1e-5", "local_dp_delta(0)", {}, "0.2449262132171"),
    ("local_dp_delta(1)", "1e-5", "local_dp_delta(0)", {}, "0.4621225360884"),
    ("shannon_capacity", "0.001", "local_dp_delta(0)", {}, "0.04471390437427"),
    ("shannon_capacity", "0.01", "local_dp_delta(0)", {}, "0.141185140547"),
    ("shannon_capacity", "0.05", "local_dp_delta(0)", {}, "0.3135631967299"),
    ("shannon_capacity", "0.1", "local_dp_delta(0)", {}, "0.4395892523228"),
    ("shannon_capacity", "0.3", "local_dp_delta(0)", {}, "0.7328279492935"),
    ("shannon_capacity", "0.5", "local_dp_delta(0)", {}, "0.9036225083128"),
    ("local_dp", "1", "pointwise_maximal_leakage", {"p_min": "0.2"}, "0.7046054709"),
    ("local_dp", "1", "pointwise_maximal_leakage", {"p_min": "0.5"}, "0.379885493"),
    ("local_dp", "2", "pointwise_maximal_leakage", {"p_min": "0.1"}, "1.505971292"),
    ("local_dp", "3", "pointwise_maximal_leakage", {"p_min": "0.01"}, "2.825328153"),
    ("differential_privacy", "1", "pointwise_maximal_leakage", {"p_min": "0.3", "independent": True}, "0.584264778156"),
    ("differential_privacy", "1", "pointwise_maximal_leakage", {"p_min": "0.2", "records": 4}, "1.53873478575"),
    ("differential_privacy", "0.1", "pointwise_maximal_leakage", {"p_min": "0.5", "records": 47}, "0.68409301639"),
    ("differential_privacy", "0.5", "pointwise_maximal_leakage", {"p_min": "0.01", "records": 24}, "4.60456209389"),
    ("differential_privacy", "1", "pointwise_maximal_leakage", {"p_min": "0.1", "records": 10}, "2.30217657708"),
    ("differential_privacy", "5", "pointwise_maximal_leakage", {"p_min": "0.3", "independent": True}, "1.18837323641"),
    ("pointwise_maximal_leakage", "0.05", "information_privacy", {"p_min": "0.1"}, "0.6188561217"),
    ("pointwise_maximal_leakage", "0.1", "information_privacy", {"p_min": "0.2"}, "0.5459066161"),
    ("pointwise_maximal_leakage", "0.2", "information_privacy", {"p_min": "0.2"}, "2.168150644"),
    ("pointwise_maximal_leakage", "0.02", "information_privacy", {"p_min": "0.05"}, "0.4842250123"),
    ("pointwise_maximal_leakage", "0.1115717756571049", "local_dp", {"p_min": "0.2"}, "0.750488294619"),
    ("local_dp", "1", "posterior_min_entropy", {"p_min": "0.2"}, "0.0879832764774"),
    ("local_dp", "2", "posterior_min_entropy", {"p_min": "0.1"}, "0.014925314966"),
    ("local_dp", "0.5", "posterior_min_entropy", {"p_min": "0.5"}, "0.47407698418"),
    ("local_dp", "3", "posterior_min_entropy", {"p_min": "0.01"}, "0.000502773268819"),
    ("local_dp", "log 7", "posterior_min_entropy", {"p_min": "0.2"}, "0.0350913198113"),
    ("local_dp", "0", "posterior_min_entropy", {"p_min": "0.2"}, "0.223143551314"),
    ("local_dp", "1", "posterior_min_entropy", {"attribute_max": "1/2"}, "0.31326168751822"),
    ("pointwise_maximal_leakage", "0.4872951264", "posterior_min_entropy", {"attribute_max": "0.5"}, "0.2058520542"),
    ("information_privacy", "0.1", "total_variation", {}, "0.09991674992"),
    ("information_privacy", "0.5", "total_variation", {}, "0.4898373248"),
    ("information_privacy", "0.5", "mutual_information", {}, "0.1224593312"),
    ("information_privacy", "0.1", "chi_square", {}, "0.01000833611"),
    ("information_privacy", "2", "chi_square", {}, "5.524391382"),
    ("information_privacy_delta(0.5)", "0", "total_variation", {"sharp": False}, "1.297442541"),
    ("total_variation", "0.01", "information_privacy_delta(0.5)", {}, "0.02041494083"),
    ("total_variation", "0.1", "information_privacy_delta(1)", {}, "0.1081976707"),
    ("total_variation", "0.1", "information_privacy_delta(1)", {"sharp": False}, "0.1581976707"),
    ("mutual_information", "0.01", "information_privacy_delta(0.5)", {}, "0.0878699053"),
    ("mutual_information", "0.1", "information_privacy_delta(1)", {}, "0.2368039905"),
    ("mutual_information", "0.2", "information_privacy_delta(2)", {}, "0.1663446406"),
    ("mutual_information", "0.001", "information_privacy_delta(0.1)", {}, "0.200388667"),
    ("chi_square", "0.01", "information_privacy_delta(0.5)", {}, "0.03917698089"),
    ("chi_square", "0.02", "information_privacy_delta(0.2)", {}, "0.4983366614"),
    ("chi_square", "0.2", "information_privacy_delta(2)", {}, "0.03620308305"),
    ("chi_square", "0.2", "information_privacy_delta(2)", {"sharp": False}, "0.0645890101"),
]


def digits_of(text):
    """One and a half units of the last digit that is given."""
    places = len(text.partition("e")[0].partition(".")[2]) - int(text.partition("e")[2] or 0)
    return 1.5 * 10.0**-places


@each("notion, value, to, facts, digits", *ONE_STEP)
def test_a_conversion_with_a_known_number(notion, value, to, facts, digits):
    found = dl.convert(notion, value, to=to, **facts)
    assert found.value == pytest.approx(float(digits), rel=1e-13, abs=digits_of(digits) + 2e-12)


@each("bits, row", *THEOREM_1A.items())
def test_theorem_1a_of_the_paper_on_mutual_information(bits, row):
    """An exponential-cone program in the catalogue, whose values are known to 12 digits: never below them."""
    for epsilon, digits in zip(EPSILONS, row.split(), strict=True):
        found = dl.convert("shannon_capacity", f"{bits} bits", to=f"local_dp_delta({epsilon})").value
        assert -digits_of(digits) <= found - float(digits) <= digits_of(digits) + 2e-12


@each("bits, row", *BOUNDARY.items())
def test_theorem_1a_is_one_curve_of_pairs(bits, row):
    """The pairs (p0, p1) that an information allows are those of a test's errors: no delta is below p0 - e^epsilon p1 of any."""
    pairs = [(p0, p1) for p0, p1 in zip(row, (0.0, 0.001, 0.01, 0.1, 0.3), strict=True)]
    if bits == "0.1":
        pairs.append((0.26043775434, 0.021688165))  # the maximiser at epsilon = 1
    for epsilon in EPSILONS:
        found = dl.convert("shannon_capacity", f"{bits} bits", to=f"local_dp_delta({epsilon})").value
        assert found >= max(p0 - math.exp(float(epsilon)) * p1 for p0, p1 in pairs) - 1e-11
    if bits == "0.1":
        p0, p1 = pairs[-1]
        found = dl.convert("shannon_capacity", "0.1 bits", to="local_dp_delta(1)").value
        assert found == pytest.approx(p0 - math.e * p1, abs=1e-8)


@each("bits, row", *THEOREM_2A.items())
def test_theorem_2a_as_printed_of_the_notion_that_it_holds_for(bits, row):
    for epsilon, digits in zip(("0", "0.1", "0.5", "1", "2"), row.split(), strict=True):
        found = dl.convert("largest_divergence", f"{bits} bits", to=f"local_information_privacy_delta({epsilon})").value
        assert -digits_of(digits) <= found - float(digits) <= digits_of(digits) + 2e-12


@each(
    "bits, epsilon, digits",
    ("0.01", "0.1", 0.51888473),
    ("0.01", "0.5", 0.47956514),
    ("0.01", "1", 0.46182028),
    ("0.01", "2", 0.45902020),
    ("0.1", "1", 0.98880527),
)
def test_theorem_2a_corrected_for_the_prior_of_figure_3(bits, epsilon, digits):
    """Above what an interior-point solver found by 2e-7 at most (it is 1e-7 on the wrong side); 1 - p_min where all may be told."""
    found = dl.convert(
        "mutual_information",
        f"{bits} bits",
        to=f"local_information_privacy_delta({epsilon})",
        p_min="0.011194726943501",
    )
    assert found.value == pytest.approx(digits, abs=1e-8)


def test_several_releases_of_randomised_response():
    """10 answers with epsilon 0.1: the exact delta at epsilon 0.5, by the binomial law."""
    high = math.exp(0.1) / (1 + math.exp(0.1))
    laws = [[math.comb(10, k) * p**k * (1 - p) ** (10 - k) for k in range(11)] for p in (high, 1 - high)]
    exact = sum(max(a - math.exp(0.5) * b, 0.0) for a, b in zip(*laws, strict=True))
    found = dl.convert("local_dp", "0.1", to="local_dp_delta(0.5)", releases=10)
    assert found.value == pytest.approx(exact, rel=1e-12)


def test_the_chain_of_the_gaussian_mechanism_of_the_f_divergence_paper():
    """Section III-A at delta = 0.1, epsilon = 0.5, D = 0.5: strong chi-square, Corollary 1, Lemma 1; as printed, and exactly.

    A fair bit of which one output has the likelihoods 1 + t and 1 - t attains what ours says, and no t says more.
    """
    eta = 0.25 * math.expm1(0.25 / (2 * math.log(12.5)))
    assert eta == pytest.approx(0.01268394691, rel=1e-9)
    refined = dl.convert("strong_chi_square", eta, to="local_dp_delta(1)", p_min="0.5")

    def kept(t, p):
        """The strong chi-square of the bit beyond eta, p the probability of that output."""
        return p / (1 - t) + (1 - p) / (1 + p * t / (1 - p)) - 1 - eta

    def apart(t):
        return optimize.brentq(lambda p: kept(t, p), 1e-9, 0.4999) * (1 + t - math.e * (1 - t))

    assert refined.value == pytest.approx(max(map(apart, np.linspace(0.6, 0.66, 601))), rel=1e-6)
    assert all(apart(t) <= refined.value for t in np.linspace(0.47, 0.9, 44))
    paper = sum(f * eta / ((f - 1) ** 2 + eta) for f in (math.exp(0.5), math.exp(-0.5))) * 2 / 0.5
    assert paper == pytest.approx(0.3766679977, rel=1e-9)


def test_what_is_left_of_an_attribute_after_each_output():
    """Theorems 3.5 and 3.7 of the paper on inferential privacy: what they promise, and what is left in truth."""
    channel, prior = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]
    told = dl.measure(channel, prior=prior, outputs=True)
    never = dl.convert("local_dp", "log 7", to="posterior_min_entropy", p_min="0.2").value
    outputs = (  # H(X | y), H(X) - leakage of y, H(1{X = 2} | y)
        ("0.2058520542", "0.2058520542", "0.04762804899"),
        ("0.6359887667", "0.1251631430", "0.1941560144"),
        ("0.6505875661", "-0.2657031657", "0.6505875661"),
    )
    for y, digits in enumerate(outputs):
        joint = [p * row[y] for p, row in zip(prior, channel, strict=True)]
        rest = joint[2] / sum(joint)
        left, last = -math.log(max(joint) / sum(joint)), -math.log(max(rest, 1 - rest))
        leakage = told[f"pointwise_maximal_leakage[{y}]"].upper
        same([left, math.log(2) - leakage, last], *digits)
        promised = dl.convert(
            "pointwise_maximal_leakage", leakage, to="posterior_min_entropy", attribute_max="0.5"
        ).value
        same(promised, digits[1] if digits[1][0] != "-" else "0")
        assert promised <= left + 1e-15
        assert never <= min(left, last)


@each(
    "letters, epsilon, law, digits",
    (3, "1", ["0.5", "0.3", "0.2"], "0.7046054709"),
    (4, "0.5", ["0.4", "0.3", "0.2", "0.1"], "0.4371452765"),
    (5, "2", ["0.2"] * 5, "1.176785009"),
)
def test_what_randomised_response_tells_pointwise(letters, epsilon, law, digits):
    """Section 4.1 of the same: of k letters, -log(p_min + (1 - p_min) e^-epsilon), and CONV-2 is exact for it."""
    found = dl.measure(dl.randomized_response(epsilon, k=letters), prior=law)["pointwise_maximal_leakage"]
    inside(found, digits)
    at_most = dl.convert("local_dp", epsilon, to="pointwise_maximal_leakage", p_min=min(law)).value
    assert found.lower <= at_most == pytest.approx(found.upper, rel=1e-14)
