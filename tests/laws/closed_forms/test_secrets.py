"""What is told about secrets, where the values are known: a small reference system, closed forms, and convex programs' optima."""

from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.information import mutual_information
from dalenius.information.noise_formulas import eta_of_outputs
from digits import same

COUNTS = [x.bit_count() for x in range(8)]  # of the datasets of three bits
UNIFORM = [Fraction(1, 8)] * 8
BIASED = [Fraction(3, 10) ** c * Fraction(7, 10) ** (3 - c) for c in COUNTS]
CORRELATED = [Fraction(2, 5) if c in (0, 3) else Fraction(1, 30) for c in COUNTS]
MAJORITY = dl.Secret(dl.Threshold(2))
RECORD = dl.Secret(dl.Letters(0))
GIVEN_OTHERS = dl.Secret(dl.Letters(0), given=dl.Letters(others=0))
STRICT = np.eye(3) * 0.85 + 0.05
BALL = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]


def three_bits(secrets, adversary=None):
    """The reference system: truncated geometric noise on the count of three bits."""
    return dl.SecretLeakage(
        records=dl.Records(3, alphabet=2),
        query=dl.Count(),
        mechanism=dl.geometric(0.5),
        adversary=adversary or dl.AnyPrior(),
        secrets=secrets,
    )


def one_record(rows, secret, adversary=None):
    return dl.SecretLeakage(
        records=dl.Records(1, alphabet=len(rows)),
        mechanism=dl.Channel(rows, inputs="dataset"),
        adversary=adversary or dl.AnyPrior(),
        secrets=secret,
    )


def assert_solved(problem, value, *, digits=11, gap=1e-9):
    result = dl.solve(problem, gap=gap)
    room = 0.6 * 10.0**-digits
    assert result.lower - room <= value <= result.upper + room
    assert result.gap <= gap
    assert not result.refusals
    assert dl.verify(problem, result.certificate).proved
    return result


@each(
    "secret, values",
    (MAJORITY, (0.053521887423, 0.039439294443, 0.134423244012)),
    (dl.Secret(dl.Count()), (0.076304751456, 0.065706817351, 0.153886578410)),
    (RECORD, (0.021666060847, 0.018996780639, 0.119091081660)),
    (GIVEN_OTHERS, (0.030299861981, 0.025493344064, 0.011553525874)),
)
def test_listed_laws_are_evaluated(secret, values):
    listed = (UNIFORM, BIASED, CORRELATED)
    for law, value in zip(listed, values, strict=True):
        assert_solved(three_bits(secret, dl.FixedPrior(law)), value, digits=12)
    result = assert_solved(three_bits(secret, dl.PriorSet(listed)), max(values), digits=12)
    assert result.witness.prior == int(np.argmax(values))


@each(
    "adversary, values",
    (dl.FixedPrior(UNIFORM), (0.7538459121, 0.2185667968, 0.3191940013, 0.2833935054, 0.2001010139)),
    (dl.FixedPrior(BIASED), (0.8002709130, 0.2372876885, 0.3284784187, 0.2956072749, 0.2191301368)),
    (dl.FixedPrior(CORRELATED), (1.2960458095, 0.5729055243, 0.4825997470, 0.4553920172, 0.3920912292)),
    (dl.AnyPrior(), (1.5, 0.7545798900, 0.5420200182)),
)
def test_ratios_divergences_and_what_is_likelier(adversary, values):
    """The table of Pufferfish notions: epsilon, divergence, total variation, delta at epsilon 0.1 and 0.3."""
    found = dl.measure(three_bits(MAJORITY, adversary), epsilon=["0.1", "0.3"])
    names = (
        "pufferfish_privacy",
        "pufferfish_kl",
        "pufferfish_total_variation",
        "pufferfish_delta(0.1)",
        "pufferfish_delta(0.3)",
    )
    for name, value in zip(names, values, strict=False):
        assert found[name].lower - 6e-11 <= value <= found[name].upper + 6e-11, name
    epsilon, divergence = found["pufferfish_privacy"].upper, found["pufferfish_kl"]
    assert divergence.lower <= epsilon * np.tanh(epsilon / 2) + 1e-12
    told = dl.solve(three_bits(MAJORITY, adversary), gap=1e-6)
    assert told.lower <= divergence.upper
    slope = epsilon / -np.expm1(-epsilon)
    assert told.lower <= slope - 1 - np.log(slope) + 1e-12  # the sharp bound by epsilon


@each("secret", MAJORITY, dl.Secret(dl.Count()), RECORD)
def test_under_all_laws_a_selection_of_datasets_tells_most(secret):
    assert_solved(three_bits(secret), 0.173277931127, digits=12)


@each("adversary", dl.AnyPrior(), dl.ProductPriors(), dl.EntropyAtLeast("1/2 nats"))
def test_a_record_to_whom_knows_the_others_is_told_what_one_bit_of_randomised_response_tells(adversary):
    """Mutual-information differential privacy: all laws, and products of laws, come to the same."""
    assert_solved(
        three_bits([dl.Secret(dl.Letters(i), given=dl.Letters(others=i)) for i in range(3)], adversary), 0.030299861981
    )


def test_the_capacity_of_all_rows_can_be_far_above():
    assert_solved(one_record(STRICT, dl.Secret(dl.Table([0, 0, 1]))), 0.4626073734, digits=10)
    assert_solved(one_record(STRICT, dl.Secret(dl.Identity())), 0.7042145972, digits=10)


@each(
    "entropy, value",
    (0, 0.203980195),
    ("9/10", 0.202310492),
    (1, 0.198691787),
    ("1.05", 0.194351223),
    ("1 max", 0.175411136),
)
def test_laws_with_some_entropy(entropy, value):
    assert_solved(one_record(BALL, dl.Secret(dl.Identity()), dl.EntropyAtLeast(entropy, "nats")), value, digits=9)


def test_between_the_listed_laws_nothing_more_is_told_than_by_one():
    """The paper's difference of concave functions, bounded by a convex program: .1344232440 <= .1344232451."""
    result = dl.solve(three_bits(MAJORITY, dl.PolytopePriors([UNIFORM, BIASED, CORRELATED])), gap=1e-7)
    assert result.lower <= 0.134423244012 + 1e-12
    assert 0.134423244012 - 1e-12 <= result.upper <= 0.1344232452


@each("given", None, [x >> 2 for x in range(8)])
def test_information_about_a_secret_is_concave_in_weights_of_cells_and_convex_within_them(given):
    """At the middle of 3,000 random pairs each; in the law as a whole it is neither: a third of pairs violate concavity."""
    random, pairs = np.random.default_rng(11), 3_000
    rows = dl.geometric(0.5).channel(np.arange(4))[COUNTS]
    cells = 2 * np.array(given or [0] * 8) + (np.array(COUNTS) >= 2)
    inside = np.eye(cells.max() + 1)[cells]  # which dataset is in which cell

    def told(laws):
        """I(g; M | w) of laws in the first axes, from the joint laws of secret and output for each value of what is given."""
        joint = np.einsum("...x,xc,xy->...cy", laws, inside, rows)
        joint = joint.reshape(*joint.shape[:-2], -1, 2, 4)
        weights = joint.sum(axis=(-2, -1))
        return (weights * mutual_information(joint / weights[..., None, None])).sum(axis=-1)

    def bend(first, second):
        """What the middle has more than the mean of the ends."""
        return told((first + second) / 2) - (told(first) + told(second)) / 2

    laws = random.dirichlet(np.ones(8), size=(2, pairs))
    weights = laws @ inside
    conditionals = laws / (weights @ inside.T)
    other = random.dirichlet(np.ones(inside.shape[1]), size=pairs)
    assert bend(laws[0], conditionals[0] * (other @ inside.T)).min() >= -1e-15
    assert bend(laws[0], conditionals[1] * (weights[0] @ inside.T)).max() <= 1e-15
    curved = bend(*laws)
    if given is None:
        assert 0.3 < np.mean(curved < -1e-12) < 0.4
        assert 0.6 < np.mean(curved > 1e-12) < 0.7
    else:
        assert curved.min() < -1e-6 < 1e-6 < curved.max()


def test_two_releases_that_tell_nothing_tell_everything_together():
    """X = (G, K): M1 = K, M2 = G xor K, the secret G."""
    alone = [[1, 0], [0, 1], [1, 0], [0, 1]], [[1, 0], [0, 1], [0, 1], [1, 0]]
    joint = [[a * b for a in first for b in second] for first, second in zip(*alone, strict=True)]
    for rows, value in [(alone[0], 0.0), (alone[1], 0.0), (joint, np.log(2.0))]:
        problem = dl.SecretLeakage(
            records=dl.Records(2, alphabet=2),
            mechanism=dl.Channel(rows, inputs="dataset"),
            adversary=dl.FixedPrior([0.25] * 4),
            secrets=RECORD,
        )
        assert_solved(problem, value)


@each(
    "law, values, eta",
    (UNIFORM, (0.0535218874, 0.0457005415, 0.0922243626), "0.0007546598"),
    (BIASED, (0.0394392944, 0.0342347495, 0.0687318586), "0.0011180923"),
    (CORRELATED, (0.1344232440, 0.1420672525, 0.2357706021), "0.0006857210"),
)
def test_the_count_and_a_noisy_record_together(law, values, eta):
    """Two queries of one dataset; the sum falls short, or not, by what the two have in common: given the secret, and without it."""
    count = dl.geometric(0.5).channel(np.arange(4))[COUNTS]
    noisy = np.array([[0.8, 0.2], [0.2, 0.8]])[[x >> 2 for x in range(8)]]
    both = (count[:, :, None] * noisy[:, None, :]).reshape(8, -1)
    for rows, value in zip((count, noisy, both), values, strict=True):
        problem = dl.SecretLeakage(
            records=dl.Records(3, alphabet=2),
            mechanism=dl.Channel(rows, inputs="dataset"),
            adversary=dl.FixedPrior(law),
            secrets=MAJORITY,
        )
        assert_solved(problem, value, digits=10)
    by_dataset = np.array(law, dtype=float)[:, None, None] * count[:, :, None] * noisy[:, None, :]
    wins = np.array(COUNTS) >= 2
    joint = np.stack([by_dataset[~wins].sum(axis=0), by_dataset[wins].sum(axis=0)])  # of the secret and both outputs
    given = joint.sum(axis=(1, 2))
    told = float(given @ mutual_information(joint / given[:, None, None]))
    same(told, eta)
    apart = float(mutual_information(joint.sum(axis=0)))
    assert values[2] == pytest.approx(values[0] + values[1] + told - apart, abs=3e-10)
    assert told <= eta_of_outputs([4, 2])


def test_the_most_useful_release_of_a_bit_within_a_budget_erases_it():
    """Nuradha and Goldfeld, proposition 7: f a fair bit, g = f through a symmetric channel of flip 0.2, 0.05 nats about g."""
    kept = 0.05 / 0.1927447570218
    problem = dl.SecretLeakage(
        records=dl.Records(2, alphabet=2),
        query=dl.Sum([[0, 1], [0, 0]]),
        mechanism=dl.Channel([[kept, 0, 1 - kept], [0, kept, 1 - kept]]),
        adversary=dl.FixedPrior([0.4, 0.1, 0.1, 0.4]),
        secrets=dl.Secret(dl.Letters(1)),
    )
    assert_solved(problem, 0.05)
    useful = dl.SecretLeakage(
        records=problem.records,
        query=problem.query,
        mechanism=problem.mechanism,
        adversary=problem.adversary,
        secrets=dl.Secret(dl.Letters(0)),
    )
    assert_solved(useful, 0.1798096070861)


@each("at_most, value", ("0.01", 0.656356409), ("0.1", 0.414468410))
def test_the_best_count_that_tells_little_of_the_majority(at_most, value):
    """Under each of three laws; the reference optima are those of a cone program."""
    joints = [MAJORITY.joint(dl.Records(3, alphabet=2), dl.Count(), law) for law in (UNIFORM, BIASED, CORRELATED)]
    design = dl.MinDistortion(
        records=dl.Records(3, alphabet=2),
        query=dl.Count(),
        distortion=dl.Absolute(),
        law=dl.Uniform(),
        constraints=[dl.constraints.MutualInformation(at_most, secret=joints)],
    )
    result = dl.solve(design, gap=1e-6)
    assert result.lower - 1e-8 <= value <= result.upper + 1e-8
    # its mechanism keeps the limit as an audit of the secret sees it
    audit = three_bits(MAJORITY, dl.PriorSet([UNIFORM, BIASED, CORRELATED]))
    found = dl.solve(
        dl.SecretLeakage(
            records=audit.records,
            query=audit.query,
            mechanism=dl.Channel(result.mechanism.rows),
            adversary=audit.adversary,
            secrets=MAJORITY,
        )
    )
    assert found.lower <= float(at_most) + 1e-12


def test_the_best_count_under_mutual_information_differential_privacy():
    """A record to whom knows the others: independent records at worst; 0.5-DP allows 0.803265330, geometric noise has 0.864745719."""
    weights = [Fraction(2), Fraction(2, 3), Fraction(2, 3), Fraction(2)]  # to equal weights of the four counts
    costs = [[weight * abs(y - c) for y in range(4)] for c, weight in enumerate(weights)]
    design = support.design(
        dl.MinDistortion,
        dl.Records(3, alphabet=2),
        dl.Count(),
        dl.DistortionMatrix(costs),
        "0.030299861981",
        dl.ProductPriors(),
        law=dl.Uniform(),
    )
    result = dl.solve(design, gap=1e-6)
    assert result.lower - 1e-7 <= 0.748546499 <= result.upper + 1e-7
