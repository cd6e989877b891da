"""Designs against closed forms, against other searches, and against themselves: inverse, monotone, relabelled, in a larger class."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.model.fields import amount_text

LOG2 = math.log(2.0)
BITS3 = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
BITS2 = {"records": dl.Records(2, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}


def leakage(budget, share="0.7 max", **parts) -> dl.MinLeakage:
    adversary = share if isinstance(share, dl.adversaries.Adversary) else dl.EntropyAtLeast(share, "nats")
    return dl.MinLeakage(max_distortion=budget, adversary=adversary, **parts)


def distortion(budget, share="0.7 max", **parts) -> dl.MinDistortion:
    adversary = share if isinstance(share, dl.adversaries.Adversary) else dl.EntropyAtLeast(share, "nats")
    return dl.MinDistortion(max_leakage=amount_text(budget, "budget"), adversary=adversary, **parts)


def solved(problem, *, gap=5e-2, **options) -> dl.answers.DesignResult:
    """A design whose promises are all checked, and shown with the audit of its mechanism."""
    result = support.solve_design(problem, gap=gap, **options)
    assert (result.audit is None) == (not result.feasible) == (result.mechanism is None)
    return result


# ---------------------------------------------------------------- closed forms


@pytest.mark.parametrize(
    ("n", "budget", "spare"),
    thinned([(4, 0.1, -0.5), (4, 0.1, 0.6), (4, 0.3, 0.2), (1000, 0.3, -0.5), (1000, 0.1, 0.2)], every=3),
)
def test_parity_is_a_symmetric_flip(support, n, budget, spare):
    bound = (n - 1) * LOG2 + spare
    parts = {"records": dl.Records(n, alphabet=2), "query": dl.Parity(), "distortion": dl.Hamming()}
    result = solved(leakage(budget, bound, **parts), gap=1e-6)
    support.assert_contains(result, support.gerber(n, budget, bound))
    assert result.upper - result.lower <= 1e-6
    inverse = solved(distortion(support.gerber(n, budget, bound), bound, **parts), gap=1e-4)
    assert inverse.lower <= budget * (1.0 + 1e-12)
    assert inverse.upper >= budget * (1.0 - 1e-12)
    assert inverse.gap <= 1e-4


@each("size, budget", *itertools.product([2, 3, 5], [0.1, 0.3]), every=3)
def test_one_record_is_rate_and_distortion(support, size, budget):
    exact = math.log(size) - support.binary_entropy(budget) - budget * math.log(size - 1)
    parts = {"records": dl.Records(alphabets=[size]), "query": dl.Identity(), "distortion": dl.Hamming()}
    for adversary in (dl.EntropyAtLeast("1 max"), dl.PriorSet([[Fraction(1, size)] * size])):
        result = solved(leakage(budget, adversary, **parts), gap=1e-6)
        support.assert_contains(result, exact)
        assert result.upper - result.lower <= 1e-6
        inverse = solved(distortion(exact, adversary, **parts), gap=1e-4)
        assert inverse.lower <= budget * (1.0 + 1e-12)
        assert inverse.upper >= budget * (1.0 - 1e-12)


def test_a_skew_prior_of_one_bit(support):
    """The rate-distortion function of a bit with law (0.2, 0.8), which the true data has, too: h(0.2) - h(D)."""
    parts = {"records": dl.Records(1, alphabet=2), "query": dl.Identity(), "distortion": dl.Hamming()}
    problem = leakage(0.05, dl.PriorSet([["0.2", "0.8"]]), law=dl.Iid(["0.2", "0.8"]), **parts)
    result = solved(problem, gap=1e-6)
    support.assert_contains(result, support.binary_entropy(0.2) - support.binary_entropy(0.05), gap=1e-6)


def test_two_priors_lie_between_one_and_all(support):
    parts = {"records": dl.Records(2, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
    uniform, skew = [["1/4"] * 4], [["1/4"] * 4, ["1/2", 0, 0, "1/2"]]
    one, two = (solved(leakage(0.2, dl.PriorSet(priors), **parts)) for priors in (uniform, skew))
    every = solved(leakage(0.2, 0, **parts))
    assert one.lower <= two.upper
    assert two.lower <= every.upper
    assert one.upper < two.lower < every.upper


# ---------------------------------------------------------------- other searches


def softmax(logits, shape):
    z = logits.reshape(shape)
    q = np.exp(z - z.max(axis=1, keepdims=True))
    return q / q.sum(axis=1, keepdims=True)


def test_product_priors_against_a_fine_grid(support):
    """One bit through a 2 x 2 matrix [[1-s, s], [t, 1-t]] with (s+t)/2 <= D, against every known prior: capacity."""
    problem = leakage(
        0.2, dl.ProductPriors(), records=dl.Records(1, alphabet=2), query=dl.Count(), distortion=dl.Hamming()
    )
    result = solved(problem, gap=1e-4)
    grid = np.linspace(0.0, 0.4, 81)
    s, t = (x.reshape(-1) for x in np.meshgrid(grid, grid))
    kept = s + t <= 0.4 + 1e-12
    channels = np.stack([np.stack([1 - s, s], 1), np.stack([t, 1 - t], 1)], 1)[kept]
    assert result.lower <= support.capacities(channels, 300)[1].min() <= result.upper * (1.0 + 1e-3)


def test_product_priors_on_a_count_against_a_fine_grid(support):
    """All mechanisms that are their own mirror images (nothing is lost by that) and spend the budget: u/2 + w + m = 1/4."""
    result = solved(leakage(0.25, dl.ProductPriors(), **BITS2), gap=1e-3)
    u, w = (x.reshape(-1) for x in np.meshgrid(np.linspace(0.0, 0.5, 101), np.linspace(0.0, 0.1, 21)))
    m = 0.25 - 0.5 * u - w
    u, w, m = u[m >= 0.0], w[m >= 0.0], m[m >= 0.0]
    pairs = np.stack([np.stack([1.0 - u - w, u, w], 1), np.stack([m, 1.0 - 2.0 * m, m], 1)], 1)
    assert result.lower <= support.capacities(pairs, 200)[1].min() <= result.upper * 1.02


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "budget"), [(3, 0.5), (4, 0.4)])
def test_nothing_beats_the_lower_bound(support, n, budget):
    """Mechanisms of another kind, and what independent ascents find against them."""
    parts = {"records": dl.Records(n, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
    problem = leakage(budget, "0.8 max", **parts)
    result = solved(problem, gap=5e-2)
    rng = np.random.default_rng(n)
    size = n + 1
    law, cost = problem.input_law, problem.cost
    for attempt in range(4):
        steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        q = np.exp(-rng.uniform(0.3, 4.0) * steps) * (1.0 if attempt < 2 else rng.uniform(0.2, 1.0, size=(size, size)))
        q /= q.sum(axis=1, keepdims=True)
        spent = float(np.sum(law[:, None] * cost * q))
        q = q if spent <= budget else (budget / spent) * q + (1.0 - budget / spent) * np.eye(size)
        question = support.problem([2] * n, dl.Count(), dl.Channel(q.tolist()), "0.8 max")
        assert support.brute_force(question, rng, starts=60, records=[0]) >= result.lower * (1.0 - 1e-6)


@pytest.mark.thorough
def test_the_witness_of_the_lower_bound_is_not_beaten_by_a_crude_alternation(support):
    """Multiplicative steps of the mechanism against the adversary's best answers, averaged."""
    problem = leakage(0.3, "0.7 max", **BITS3)
    result = solved(problem)
    rng, logits = np.random.default_rng(0), 2.0 * np.eye(4)
    law, cost = problem.input_law, problem.cost
    best = math.inf
    for step in range(5):
        q = softmax(logits, (4, 4))
        spent = float(np.sum(law[:, None] * cost * q))
        q = q if spent <= 0.3 else (0.3 / spent) * q + (1.0 - 0.3 / spent) * np.eye(4)
        best = min(
            best,
            support.brute_force(
                support.problem([2] * 3, dl.Count(), dl.Channel(q.tolist()), "0.7 max"), rng, starts=60, records=[0]
            ),
        )
        logits = logits - (0.3 / (1 + step)) * np.where(np.eye(4) > 0, 1.0, -0.3)
    assert best >= result.lower * (1.0 - 1e-6)


# ---------------------------------------------------------------- the same question asked twice


@pytest.mark.thorough
def test_problem_3_inverts_problem_2():
    first = solved(leakage(0.3, **BITS2), gap=1e-1)
    assert solved(distortion(first.upper, **BITS2), gap=1e-1).lower <= 0.3
    assert solved(distortion(first.lower, **BITS2), gap=1e-1).upper >= 0.3


SQUARES = dl.Table([(a * a + b * b) % 4 for a in range(4) for b in range(4)])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("make", "records", "query"),
    thinned(
        [
            (lambda **p: leakage(0.25, "0.8 max", **p), dl.Records(3, alphabet=2), dl.Count()),
            (lambda **p: distortion(0.05, "0.8 max", **p), dl.Records(2, alphabet=4), SQUARES),
        ],
        every=2,
    ),
)
def test_oblivious_loses_nothing_where_symmetry_says_so(support, make, records, query):
    parts = {"records": records, "query": query, "distortion": dl.Hamming()}
    oblivious, full = (solved(make(mechanism=kind, **parts), time_limit=2.0) for kind in ("oblivious", "full"))
    support.assert_overlap(oblivious, full)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "make", thinned([lambda **p: leakage(0.25, "0.6 max", **p), lambda **p: distortion(0.05, "0.6 max", **p)], every=2)
)
def test_additive_loses_nothing_for_modular_sums(support, make):
    parts = {"records": dl.Records(2, alphabet=3), "query": dl.ModularSum(3), "distortion": dl.Hamming()}
    oblivious, additive = (solved(make(mechanism=kind, **parts), time_limit=2.0) for kind in ("oblivious", "additive"))
    support.assert_overlap(oblivious, additive)


@pytest.mark.thorough
def test_a_larger_class_is_never_worse():
    table = dl.Table([0, 2, 1, 1, 0, 2])
    parts = {"records": dl.Records(alphabets=[2, 3]), "query": table, "distortion": dl.Absolute()}
    full, oblivious = (
        solved(leakage(0.2, "0.6 max", mechanism=kind, **parts), time_limit=2.0) for kind in ("full", "oblivious")
    )
    assert full.lower <= oblivious.upper


@pytest.mark.thorough
def test_the_optimum_falls_with_entropy_and_with_either_budget():
    for make, budgets in ((leakage, (0.1, 0.3, 0.6)), (distortion, (0.01, 0.05, 0.3))):
        for share in ("0.3 max", "1 max"):
            results = [solved(make(budget, share, **BITS2), time_limit=1.0) for budget in budgets]
            assert all(b.lower <= a.upper for a, b in itertools.pairwise(results))
        knows = [solved(make(budgets[0], share, **BITS2), time_limit=1.0) for share in ("0", "0.7 max", "1 max")]
        assert all(b.lower <= a.upper for a, b in itertools.pairwise(knows))


@pytest.mark.thorough
def test_names_of_letters_values_and_records_do_not_matter(support):
    table = [0, 1, 2, 2, 1, 0]
    parts = {"distortion": dl.Hamming()}
    first = solved(leakage(0.2, "0.7 max", records=dl.Records(alphabets=[2, 3]), query=dl.Table(table), **parts))
    turned = [table[a * 3 + b] for b in (2, 0, 1) for a in (1, 0)]
    other = solved(leakage(0.2, "0.7 max", records=dl.Records(alphabets=[3, 2]), query=dl.Table(turned), **parts))
    named = dl.Table([{0: 7, 1: -3, 2: 11}[v] for v in table])
    third = solved(leakage(0.2, "0.7 max", records=dl.Records(alphabets=[2, 3]), query=named, **parts))
    support.assert_overlap(first, other)
    support.assert_overlap(first, third)


@pytest.mark.thorough
def test_nats_and_bits_are_the_same_budget(support):
    nats, bits = (solved(distortion(budget, **BITS2), time_limit=2.0) for budget in (0.1 * LOG2, "0.1 bits"))
    support.assert_overlap(nats, bits)


# ---------------------------------------------------------------- certificates


def strengthened(certificate, **claims):
    header, *rest = certificate.text.splitlines()
    return dl.Certificate("\n".join([json.dumps(json.loads(header) | claims), *rest]) + "\n")


@pytest.mark.parametrize("problem", thinned([leakage(0.3, **BITS2), distortion(0.05, **BITS2)], every=2))
def test_a_stronger_claim_is_rejected(problem):
    result = solved(problem)
    above, below = result.upper * 1.01, result.lower * 0.99
    for claims in (
        {"lower": above, "upper": above},
        {"upper": below, "lower": below},
        {"lower": above},
        {"mechanism": None},
    ):
        texts = {key: None if value is None else f"{value:.12f}" for key, value in claims.items()}
        assert not dl.verify(problem, strengthened(result.certificate, **texts)).proved


def test_a_certificate_is_about_its_problem_only():
    result = solved(leakage(0.3, **BITS2))
    for other in (leakage(0.29, **BITS2), leakage(0.3, "0.71 max", **BITS2), distortion(0.3, **BITS2)):
        assert not dl.verify(other, result.certificate).proved


# ---------------------------------------------------------------- odd instances


@each("budget", 100, "1e300", "0.5")
def test_whoever_may_distort_that_much_tells_nothing(budget):
    result = solved(leakage(budget, **BITS2))
    assert (result.lower, result.upper, result.rounds) == (0.0, 0.0, 0)
    assert result.leakage == (0.0, 0.0)
    assert result.termination is dl.answers.Termination.GAP_REACHED


@each("budget", 100, "1e300", "0.7")
def test_whoever_may_tell_that_much_distorts_nothing(budget):
    result = solved(distortion(budget, **BITS2))
    assert (result.lower, result.upper) == (0.0, 0.0)


@pytest.mark.parametrize("budget", ["1 bits", "0.6931471805"])
def test_nearly_everything_may_be_told(budget):
    assert solved(distortion(budget, **BITS2), gap=1e-3).upper <= 1e-4


@each("make", leakage, distortion)
@each("budget", -1, "-1e-30")
def test_infeasible(make, budget):
    result = solved(make(budget, **BITS2))
    assert not result.feasible
    assert (result.mechanism, result.audit, result.distortion, result.leakage) == (None, None, None, None)
    assert result.termination is dl.answers.Termination.INFEASIBLE
    assert result.gap == 0.0
    assert str(result) == "no mechanism meets the budget (proved)"
    assert result.lower == result.upper == math.inf


def test_infeasible_for_want_of_outputs():
    matrix = dl.DistortionMatrix([[1, 2], [2, "3/2"], [1, 1]])
    parts = {"records": dl.Records(2, alphabet=2), "query": dl.Count(), "distortion": matrix}
    assert not solved(leakage("1.2", **parts)).feasible
    assert solved(leakage("1.25", **parts)).feasible


def test_a_budget_of_exactly_the_least_distortion(support):
    identity = solved(leakage(0, "0.3 max", **BITS2))
    assert identity.distortion == 0
    support.assert_contains(identity, LOG2)


@pytest.mark.thorough
def test_the_least_distortion_with_a_choice_leaves_a_choice():
    """Every value has two outputs that cost nothing; the mechanism may and should mix them."""
    cyclic = dl.DistortionMatrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    result = solved(leakage(0, "0.6 max", records=dl.Records(2, alphabet=2), query=dl.Count(), distortion=cyclic))
    assert result.distortion == 0
    assert result.upper < 0.31
    assert result.gap <= 5e-2


@pytest.mark.parametrize(("budget", "exact"), [(0, 0.5), ("1e-20 bits", 0.5), ("1e-12", 0.5)])
def test_hardly_anything_may_be_told(budget, exact):
    """The constant mechanism is within the gap at once: there were 84 rounds in search of one that rounding leaves no doubt about."""
    result = solved(distortion(budget, **BITS2))
    assert result.gap <= 1e-4
    assert abs(result.upper - exact) <= 1e-4
    assert sum(progress.stage == "exchange" for progress in result.trace) <= 1


def test_parity_is_no_secret_from_those_who_know_nothing():
    parts = {"records": dl.Records(4, alphabet=2), "query": dl.Parity(), "distortion": dl.Hamming()}
    for kind in ("oblivious", "additive"):
        assert solved(distortion(0, "1 max", mechanism=kind, **parts)).upper == 0.0
        assert solved(leakage(0, "1 max", mechanism=kind, **parts)).upper <= 1e-11


@each("make", leakage, distortion)
@each("adversary", dl.EntropyAtLeast("1 max"), dl.EntropyAtLeast(0), dl.ProductPriors(), dl.PriorSet([[1]]))
@each("kind", "oblivious", "full")
def test_one_letter_has_no_secret(make, adversary, kind):
    parts = {"records": dl.Records(3, alphabet=1), "query": dl.Sum(), "mechanism": kind}
    for matrix, least in ([[0]], 0.0), ([["1/3", 1]], 1 / 3):
        result = solved(make(1 if make is leakage else 0, adversary, distortion=dl.DistortionMatrix(matrix), **parts))
        assert result.lower <= (0.0 if make is leakage else least) <= result.upper
        assert result.upper - result.lower <= 1e-9


ODD = {
    "unequal alphabets": {"records": dl.Records(alphabets=[2, 3, 1]), "query": dl.Sum(), "distortion": dl.Absolute()},
    "more values than sums": {
        "records": dl.Records(2, alphabet=2),
        "query": dl.ModularSum(7),
        "distortion": dl.Hamming(),
    },
    "a letter that never is": {**BITS3, "law": dl.Iid([1, 0])},
    "a middle letter that never is": {
        "records": dl.Records(2, alphabet=3),
        "query": dl.Sum(),
        "distortion": dl.Absolute(),
        "law": dl.Iid(["1/2", 0, "1/2"]),
    },
    "more outputs": {**BITS2, "distortion": dl.DistortionMatrix([[0, 1, 2, "1/3"], [1, 0, 1, "1/3"], [2, 1, 0, 1]])},
    "fewer outputs": {**BITS2, "distortion": dl.DistortionMatrix([[0, 1], [1, 0], [2, "1/2"]])},
    "one output": {**BITS2, "distortion": dl.DistortionMatrix([[0], [1], ["1/2"]])},
    "no distortion": {**BITS2, "distortion": dl.DistortionMatrix([[0, 0], [0, 0], [0, 0]])},
    "never right": {**BITS2, "distortion": dl.DistortionMatrix([[1, 2], [2, 1], [1, 1]])},
    "huge numbers": {**BITS2, "distortion": dl.DistortionMatrix([[0, "1e201"], ["1e200", 0], ["1e201", "1e199"]])},
    "tiny numbers": {**BITS2, "distortion": dl.DistortionMatrix([[0, "1e-4"], ["1e-5", 0], ["1e-4", "1e-6"]])},
}

QUICK = (
    "more values than sums",
    "a letter that never is",
    "one output",
    "no distortion",
)  # one of a kind, for every day


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.thorough) for name in ODD]
)
@pytest.mark.parametrize("make", [leakage, distortion])
def test_odd_instances(name, make):
    parts = ODD[name]
    scale = {"huge numbers": "1e200", "tiny numbers": "2e-6", "never right": "1.1", "one output": "0.7"}.get(
        name, "0.2"
    )
    result = solved(make(scale if make is leakage else 0.05, "0.6 max", **parts), gap=2e-2)
    assert result.feasible
    assert result.gap <= 2e-2
    if name == "tiny numbers" and make is distortion:
        assert 0.98 * result.upper <= result.lower <= result.upper > 0.0


@pytest.mark.thorough
def test_a_modular_sum_of_few_records_with_additive_noise():
    parts = ODD["more values than sums"]
    oblivious, additive = (
        solved(leakage(0.3, "0.6 max", mechanism=kind, **parts), gap=5e-2) for kind in ("oblivious", "additive")
    )
    assert oblivious.lower <= additive.upper


@each("size", "1e305", "1e-7")
def test_distortions_beyond_doubles_are_refused(size):
    matrix = dl.DistortionMatrix([[0, size], [size, 0], [size, size]])
    with pytest.raises(dl.errors.DaleniusError, match="in another unit"):
        dl.solve(distortion(0.1, records=dl.Records(2, alphabet=2), query=dl.Count(), distortion=matrix))


@pytest.mark.thorough
def test_additive_noise_that_tells_nothing_is_uniform():
    parts = {"records": dl.Records(2, alphabet=3), "query": dl.ModularSum(3), "distortion": dl.Hamming()}
    result = solved(distortion(0, "0.5 max", mechanism="additive", **parts))
    assert result.distortion == Fraction(2, 3)
    assert result.leakage == (0.0, 0.0)
    assert result.gap <= 1e-4


# ---------------------------------------------------------------- what a result says


def test_words_and_traces():
    seen = list[dl.answers.Progress]()
    result = dl.solve(leakage(0.3, "0.7 max", **BITS2), gap=1e-1, time_limit=60.0, progress=seen.append)
    assert result.require(gap=1e-1) is result
    with pytest.raises(dl.errors.GapNotReachedError, match=r"asked for 1e-09"):
        result.require(gap=1e-9)
    assert str(result).endswith("nats possible (gap_reached)")
    assert "least leakage" in str(result)
    assert "mirror" in result.explain()
    assert result.rounds == sum(moment.stage == "exchange" for moment in seen) > 0
    assert all(moment.lower <= result.upper + 1e-9 for moment in result.trace)
    full = dl.solve(leakage(0.3, "0.7 max", mechanism="full", **BITS2), gap=0.5, time_limit=60.0)
    assert "3 orbits" in full.explain()
    table = dl.Table([0, 1, 1, 2, 1, 0])
    plain = support.design(dl.MinLeakage, dl.Records(alphabets=[2, 3]), table, dl.Absolute(), 0.5, 0)
    assert dl.solve(plain, gap=0.5).explain().startswith("no symmetry")
