"""Reference values of measures, to the digits that were computed elsewhere: in doubles, and in the intervals of `dalenius.measure`."""

import itertools
import math

import numpy as np

import dalenius as dl
import support
from campaigns import each
from dalenius.information import capacity as capacities
from dalenius.information import measures as m
from digits import inside, same

K1, P1 = [[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]
K2, P2 = [[0.8, 0.2], [0.3, 0.7]], [0.6, 0.4]
K3, P3 = [[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0.4, 0.6], [0.1, 0.1, 0.8]], [0.4, 0.3, 0.2, 0.1]
THIRDS = [1 / 3] * 3
BSC = [[0.9, 0.1], [0.1, 0.9]]
J1 = [[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]]
J2 = [[0.20, 0.05, 0.05], [0.05, 0.25, 0.05], [0.05, 0.05, 0.25]]
ONE = [0.1, 0.3, 0.4, 0.8]  # P(y = 1) for the datasets 00, 01, 10, 11
DB = [[round(1 - p, 1), p] for p in ONE]
DB_PRIOR = np.array([[0.3, 0.2], [0.1, 0.4]])


# ------------------------------------------------------------ pointwise maximal leakage and its kin


def test_min_entropy():
    laws = [P1, P2, P3, [0.2] * 5, [0.99, 0.01]]
    same(
        [m.min_entropy(law) for law in laws],
        "0.6931471806",
        "0.5108256238",
        "0.9162907319",
        "1.609437912",
        "0.01005033585",
    )


CHANNELS = [
    (K1, P1, ["0.4872951264", "0.5679840376", "0.9588503463"], "1.945910149", "0.6418538862"),
    (K1, THIRDS, ["0.7419373447", "0.4924764851", "0.6931471806"], "1.945910149", "0.6418538862"),
    (K2, P2, ["0.2876820725", "0.5596157879"], "1.252762968", None),
    (K3, P3, ["0.5621189182", "0.1278333715", "1.06784063"], "inf", "0.5877866649"),
    (BSC, [0.5, 0.5], ["0.5877866649", "0.5877866649"], "2.197224577", None),
    (np.eye(3), P1, ["0.6931471806", "1.203972804", "1.609437912"], "inf", "1.0986122887"),
]


@each("channel, prior, leakages, capacity, average", *CHANNELS)
def test_pointwise_maximal_leakage(channel, prior, leakages, capacity, average):
    found = m.pointwise_maximal_leakage(channel, prior)
    same(found, *leakages)
    same(m.leakage_capacity(channel), capacity)
    law, ratios = m.output_law(channel, prior), np.exp(found)
    assert np.isclose(law @ ratios, m.exp_maximal_leakage(channel), rtol=1e-13, atol=0.0)
    measured = dl.measure(channel, prior="uniform" if prior is THIRDS else prior, outputs=True)
    for y, digits in enumerate(leakages):
        inside(measured[f"pointwise_maximal_leakage[{y}]"], digits)
    inside(measured["pointwise_maximal_leakage"], max(leakages, key=float))
    inside(measured["leakage_capacity"], capacity)
    if average is not None:
        same(m.maximal_leakage(channel), average)
        inside(measured["maximal_leakage"], average)


def test_every_output_comes_with_its_probability():
    same(m.output_law(K1, P1), "0.43", "0.34", "0.23")
    measured = dl.measure(K1, prior=P1, outputs=True)
    assert [measured[f"output_probability[{y}]"].exact for y in range(3)] == ["0.43", "0.34", "0.23"]


def conditional(record: int, other: int) -> tuple[np.ndarray, np.ndarray]:
    """The channel of a record of DB and its law, the other record being known."""
    groups = m.neighbours([2, 2])[record]
    law = DB_PRIOR.ravel()[groups[other]]
    return np.array(DB)[groups[other]], law / law.sum()


def marginal(record: int) -> tuple[np.ndarray, np.ndarray]:
    """The channel of a record of DB, the other one following its law."""
    groups = m.neighbours([2, 2])[record]
    masses = DB_PRIOR.ravel()[groups]
    law = masses.sum(axis=0)
    return np.array([masses[:, a] @ np.array(DB)[groups[:, a]] / law[a] for a in range(2)]), law


def test_conditional_pointwise_maximal_leakage():
    given = [conditional(record, other) for record in range(2) for other in range(2)]
    found = m.conditional_pointwise_maximal_leakage(*zip(*given, strict=True))
    same(found[:, 0], "0.08701137699", "0.6466271649", "0.09309042307", "0.762140052")
    same(found[:, 1], "0.8266785732", "0.2336148512", "0.5108256238", "0.1053605157")
    alone = [m.pointwise_maximal_leakage(*marginal(record)) for record in range(2)]
    same([x[0] for x in alone], "0.399386062", "0.4054651081")
    same([x[1] for x in alone], "0.4700036292", "0.3417492937")
    same(m.pointwise_maximal_leakage(DB, DB_PRIOR.ravel()), "0.4924764851", "0.5753641449")
    assert found[1, 0] > m.pointwise_maximal_leakage(DB, DB_PRIOR.ravel())[0], "knowing the others may raise it"


SETS = [
    (m.PriorBox([0.4, 0.2, 0.1], [0.6, 0.4, 0.3]), ["0.6375773294", "0.6931471806", "1.203972804"]),
    (m.PriorBall(P1, 0.2), ["0.6375773294", "0.6931471806", "1.203972804"]),
    (m.KLBall(P1, 0.02), ["0.6224399763", "0.6730089422", "1.12999367"]),
    (m.ChiSquareBall(P1, 0.04), ["0.6226690935", "0.676195645", "1.139434283"]),
]


@each("priors, leakages", *SETS)
def test_pointwise_maximal_leakage_over_sets_of_priors(priors, leakages):
    same(m.pointwise_maximal_leakage_over(K1, priors), *leakages)


def test_floors_come_down_to_the_leakage_capacity():
    floors = {0: "1.945910149", 0.05: "1.645805557", 0.1: "1.415281898", 0.2: "1.070441412", 1 / 3: "0.7419373447"}
    for floor, digits in floors.items():
        same(m.pointwise_maximal_leakage_over(K1, m.PriorFloor(floor)).max(), digits)
    same(m.pointwise_maximal_leakage_over(K1, m.AllPriors()).max(), "1.945910149")
    near = m.pointwise_maximal_leakage_over(K1, m.PriorFloor(1e-9)).max()
    assert 0.0 <= m.leakage_capacity(K1) - near <= 1e-7


def products(low: float, records: int = 2) -> list[np.ndarray]:
    """The vertices of the product laws of binary records whose letters have at least this probability."""
    return (
        [np.array([1 - p, p]) for p in (low, 1 - low)]
        if records == 1
        else [np.multiply.outer(a, b).ravel() for a, b in itertools.product(products(low, 1), repeat=2)]
    )


@each(
    "low, entry, whole, known",
    (0.25, "0.7444404749", "1.214444104", "0.8266785732"),
    (0.1, "1.062894206", "1.660731207", "1.123930097"),
    (1e-4, "1.385894461", "2.078941647", "1.385994406"),
)
def test_differential_and_free_lunch_privacy_are_suprema_of_pointwise_maximal_leakage(low, entry, whole, known):
    """Theorems 4.2 and 4.5, at marginals of at least `low`: of one record, of the dataset, and of one record the other being known."""
    rows, both = np.array(DB), m.neighbours([2, 2])
    ends = [np.array([1 - p, p]) for p in (low, 1 - low)]
    found = [
        m.pointwise_maximal_leakage(np.einsum("z,zay->ay", other, rows[groups]), own).max()
        for groups in both
        for own in ends
        for other in ends
    ]
    same(max(found), entry)
    same(m.pointwise_maximal_leakage_over(rows, m.PriorPolytope(products(low))).max(), whole)
    over = [m.pointwise_maximal_leakage_over(rows[g], m.PriorFloor(low)).max() for groups in both for g in groups]
    same(max(over), known)


def test_differential_and_free_lunch_privacy():
    groups = [group for groups in m.neighbours([2, 2]) for group in groups]
    same([m.differential_privacy(DB, groups), m.local_dp(DB)], "1.386294361", "2.079441542")
    problem = support.problem(dl.Records(2, alphabet=2), None, dl.Channel(DB, inputs="dataset"), dl.AnyPrior())
    measured = dl.measure(problem)
    assert (measured["differential_privacy"].exact, measured["free_lunch_privacy"].exact) == ("log 4", "log 8")


def test_an_output_discloses_where_a_column_has_a_zero():
    for channel, prior in ((K1, P1), (K3, P3), (np.eye(3), P1)):
        discloses = bool((np.asarray(channel) == 0).any())
        assert (m.disclosure(channel, prior) > 0) == discloses == (m.leakage_capacity(channel) == math.inf)
    assert m.singling_out(np.eye(3), P1) == 1.0
    assert m.singling_out(K3, P3) == 0.0
    measured = dl.measure(K3, prior=P3)
    assert (measured["disclosure"].exact, measured["singling_out"].exact) == ("0.56", "0")
    assert measured["leakage_capacity"].exact == "infinite"


def test_posterior_min_entropies():
    same(m.posterior_min_entropy(K1, P1), "0.2058520542", "0.6359887667", "0.6505875661")
    least = m.min_entropy(P1) - m.pointwise_maximal_leakage(K1, P1)
    same(least, "0.2058520542", "0.1251631430", "-0.2657031657")
    assert (m.posterior_min_entropy(K1, P1) >= least - 1e-15).all()


# ------------------------------------------------------------ information privacy and divergences


def test_information_privacy():
    same(m.information_privacy(*m.split(J1)), "1.098612289")
    same(m.information_privacy(*m.split(J2)), "0.896088025")


DELTAS = [
    (J1, [0.1, 0.5, 0.75, 1, 1.5], [0.7, 0.4, 0.05, 0.05, 0], [0.7, 0.7, 0.3, 0.3, 0]),
    (J2, [0.5, 0.75, 1], [1, 0.3, 0], [1, 1, 0]),
]


@each("joint, epsilons, plain, strong", *DELTAS)
def test_deltas_of_information_privacy(joint, epsilons, plain, strong):
    channel, prior = m.split(joint)
    measured = dl.measure(np.eye(len(joint[0])), prior=joint, epsilon=epsilons)
    for epsilon, p, s in zip(epsilons, plain, strong, strict=True):
        assert np.isclose(m.information_privacy_delta(channel, prior, math.exp(epsilon)), p, atol=1e-14)
        assert np.isclose(m.strong_information_privacy_delta(channel, prior, math.exp(epsilon)), s, atol=1e-14)
        for name, exact in (("", p), ("strong_", s)):
            assert float(measured[f"{name}information_privacy_delta({epsilon})"].exact) == exact


@each(
    "joint, epsilons, deltas",
    (J1, [0.1, 0.3, 0.5, 0.75, 1], ["0.3778597242", "0.31778812", "0.2281718172", "0.05183109297", "0"]),
    (J2, [0.1, 0.3, 0.5, 0.75], ["0.539799606", "0.4539830285", "0.3259597388", "0.07404441852"]),
)
def test_deltas_of_differential_privacy(joint, epsilons, deltas):
    channel, _ = m.split(joint)
    same([m.local_dp_delta(channel, math.exp(2 * epsilon)) for epsilon in epsilons], *deltas)
    measured = dl.measure(np.eye(len(joint[0])), prior=joint, epsilon=[2 * epsilon for epsilon in epsilons])
    for epsilon, digits in zip(epsilons, deltas, strict=True):
        inside(measured[f"local_dp_delta({2 * epsilon})"], digits)


@each(
    "joint, values, strong",
    (J1, ["0.4", "0.1251006059", "0.2333333333", "0.4830458915"], ["0.4", "0.1673976434", "0.4666666667"]),
    (J2, ["0.73", "0.2783802118", "0.6009070295", "0.5714285714"], ["0.7333333333", "0.2865395513", "0.659"]),
)
def test_divergences(joint, values, strong):
    channel, prior = m.split(joint)
    names = ["total_variation", "mutual_information", "chi_square", "maximal_correlation"]
    stronger = ["strong_total_variation", "strong_kl", "strong_chi_square"]
    measured = dl.measure(np.eye(len(joint[0])), prior=joint)
    for name, digits in zip(names + stronger, values + strong, strict=True):
        same(getattr(m, name)(channel, prior), digits)
        inside(measured[name], digits)


def test_chi_square_is_pearsons():
    counts = np.array([[120, 60, 20], [40, 60, 100]])
    same(m.chi_square(*m.split(counts)), "0.2333333333")
    same(counts.sum() * m.chi_square(*m.split(counts)), "93.33333333")


def test_maximal_correlation_lies_between_shares_of_chi_square():
    channel, prior = m.split(J2)
    chi_square, rho = m.chi_square(channel, prior), m.maximal_correlation(channel, prior)
    same([chi_square / 2, rho**2, chi_square], "0.3004535147", "0.326530612245", "0.600907029478")
    assert np.isclose(m.maximal_correlation(*m.split(J1)) ** 2, m.chi_square(*m.split(J1)), rtol=1e-13)


# ------------------------------------------------------------ mutual information, capacities, hockey sticks

GEOMETRIC = dl.geometric("1/2", range=3)
CELLS = np.array([[sum(x) >= 2 for x in itertools.product((0, 1), repeat=3)]]).ravel()
COUNTS = np.array([sum(x) for x in itertools.product((0, 1), repeat=3)])
UNIFORM = np.full(8, 1 / 8)
BERNOULLI = np.array([0.3**c * 0.7 ** (3 - c) for c in COUNTS])
CORRELATED = np.where((COUNTS == 0) | (COUNTS == 3), 0.4, 0.2 / 6)
MAJORITY = [
    (UNIFORM, ["0.7538459121", "0.2185667968", "0.3191940013", "0.2833935054", "0.2001010139", "0.053521887423"],
     ["0.076304751456", "0.021666060847", "0.030299861981"]),
    (BERNOULLI, ["0.8002709130", "0.2372876885", "0.3284784187", "0.2956072749", "0.2191301368", "0.039439294443"],
     ["0.065706817351", "0.018996780639", "0.025493344064"]),
    (CORRELATED, ["1.2960458095", "0.5729055243", "0.4825997470", "0.4553920172", "0.3920912292", "0.134423244012"],
     ["0.153886578410", "0.119091081660", "0.011553525874"]),
]  # fmt: skip


@each("law, majority, informations", *MAJORITY)
def test_a_secret_behind_the_data(law, majority, informations):
    """Three records, a truncated geometric count; the secret is the majority: epsilon, KL, TV, two deltas and I of it."""
    rows = GEOMETRIC.channel(np.arange(4))[COUNTS]
    channel, prior = m.channel_of_secret(np.array([law * ~CELLS, law * CELLS]), rows)
    found = [
        m.local_dp(channel),
        m.pairwise_divergence(channel),
        m.pairwise_total_variation(channel),
        *(m.local_dp_delta(channel, math.exp(epsilon)) for epsilon in (0.1, 0.3)),
        m.mutual_information(channel, prior),
    ]
    same(found, *majority)
    first = COUNTS.size // 2
    record, own = m.channel_of_secret(
        np.array([np.where(np.arange(8) < first, law, 0), np.where(np.arange(8) >= first, law, 0)]), rows
    )
    pairs = np.arange(8).reshape(2, 4).T
    masses = law[pairs]
    known = m.conditional_mutual_information(
        rows[pairs], masses / masses.sum(axis=1, keepdims=True), masses.sum(axis=1)
    )
    by_count = np.bincount(COUNTS, law)
    same([m.mutual_information(rows[[0, 1, 3, 7]], by_count), m.mutual_information(record, own), known], *informations)


def test_the_secrets_of_independent_records_by_measure():
    problem = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric("1/2"), dl.AnyPrior())
    for law, alone, known in (
        (dl.Uniform(), "0.021666060847", "0.030299861981"),
        (dl.Iid([0.7, 0.3]), "0.018996780639", "0.025493344064"),
    ):
        measured = dl.measure(problem, law=law)
        inside(measured["mutual_information"], alone)
        inside(measured["conditional_mutual_information"], known)
        inside(measured["differential_privacy"], "0.5")
        inside(measured["free_lunch_privacy"], "1.5")


def test_sharp_bounds_hold_between_them():
    """epsilon-privacy bounds the divergence of two rows by epsilon tanh(epsilon/2), and I by c - 1 - log c."""
    for epsilon, digits, sharp in ((0.5, "0.1224593312", "0.0311420923"), (1, "0.4621171573", "0.1233015615")):
        same(m.pairwise_divergence(dl.randomized_response(epsilon, k=2).channel(np.arange(2))), digits)
        assert dl.measure(dl.randomized_response(epsilon, k=2))["shannon_capacity"].upper <= float(sharp)


CAPACITIES = {
    "0.1": "0.001248439234268",
    "0.5": "0.03029986198077",
    "1": "0.1109440716717",
    "2": "0.3278133254727",
    "4": "0.6030524127938",
}


@each("epsilon", *CAPACITIES)
def test_randomised_response(epsilon):
    measured = dl.measure(dl.randomized_response(epsilon, k=2), epsilon=["0.3"])
    inside(measured["shannon_capacity"], CAPACITIES[epsilon], width=1e-12)
    top = math.exp(float(epsilon))
    delta = max(top - math.exp(0.3), 0.0) / (top + 1.0)
    found = measured["local_dp_delta(0.3)"]
    assert found.lower - 1e-15 <= delta <= found.upper + 1e-15


def test_capacities_of_selections():
    rows = GEOMETRIC.channel(np.arange(4))
    pairs = {(0, 2): "0.094463254618", (0, 3): "0.173277931127", (1, 2): "0.030299861981", (1, 3): "0.094463254618"}
    for pair, digits in pairs.items():
        same(capacities.capacity(rows[list(pair)], gap=1e-13).upper, digits)
    mixed = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
    inside(dl.measure(mixed.round(2))["shannon_capacity"], "0.7042145972")
    same(m.local_dp(rows), "1.5")
    same(m.pairwise_divergence(rows[[0, 3]]), "0.7545798900")
    same(m.pairwise_total_variation(rows[[0, 3]]), "0.5420200182")


@each("bound, digits", (0, 0.203980195), (0.9, 0.202310492), (1.05, 0.194351223))
def test_the_largest_information_of_one_record_over_an_entropy_ball(bound, digits):
    """For one record mutual information is concave in the prior: `solve` answers for the whole ball."""
    rows = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    problem = support.problem(dl.Records(1, alphabet=3), dl.Identity(), dl.Channel(rows), bound)
    result = dl.solve(problem, gap=1e-8)
    assert result.lower - 2e-9 <= digits <= result.upper + 2e-9
    if bound == 0:
        inside(dl.measure(rows)["shannon_capacity"], "0.203980195")
        inside(dl.measure(rows)["mutual_information"], "0.203980195")
        inside(dl.measure(rows, prior="uniform")["mutual_information"], "0.175411136242")


BALLS = [
    (m.PriorBox([0.4, 0.2, 0.1], [0.6, 0.4, 0.3]), "1.203972804"),
    (m.PriorBall(P1, 0.2), "1.203972804"),
    (m.KLBall(P1, 0.02), "1.12999367"),
    (m.ChiSquareBall(P1, 0.04), "1.139434283"),
    (m.PriorFloor(0.05), "1.645805557"),
    (m.AllPriors(), "1.945910149"),
]


@each("priors, digits", *BALLS)
def test_intervals_over_a_class_of_priors(priors, digits):
    measured = dl.measure(K1, prior=priors)
    inside(measured["pointwise_maximal_leakage"], digits, width=1e-9)
    assert measured["mutual_information"].upper - measured["mutual_information"].lower <= 1e-9
    assert measured["mutual_information"].lower <= measured["shannon_capacity"].upper


@each("bound, digits", (0.9, 0.202310492), (1.0, 0.198691787), (1.05, 0.194351223), (1.09, 0.185206531), every=2)
def test_an_entropy_ball_is_a_ball_around_the_uniform_law(bound, digits):
    rows = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]
    found = dl.measure(rows, prior=m.KLBall(["1/3"] * 3, math.log(3) - bound))["mutual_information"]
    assert found.lower - 1e-9 <= digits <= found.upper + 1e-9
    assert found.upper - found.lower <= 1e-9
