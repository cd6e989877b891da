"""Direct maximisation over full joint distributions: nothing feasible beats `upper`, the best found meets `lower`."""

import itertools
import math

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each, thinned
from dalenius.studies.curves import entropy_curve


def matrix(seed: int, inputs: int, outputs: int):
    """Random rows of 3 decimals."""
    cuts = np.sort(np.random.default_rng(seed).integers(0, 1001, size=(inputs, outputs - 1)), axis=1)
    counts = np.diff(cuts, axis=1, prepend=0, append=1000)
    return [[f"{count}e-3" for count in row] for row in counts.tolist()]


CASES = {
    "parity": ([2, 2], dl.Parity(), dl.symmetric(0.1, k=2), "0.8 max"),
    "count": ([2, 2, 2], dl.Count(), dl.geometric(1.0), "0.6 max"),
    "count, much entropy": ([2, 2, 2], dl.Count(), dl.geometric(1.0), "0.95 max"),
    "sum, unequal records": ([2, 3], dl.Sum(), dl.Channel(matrix(1, 4, 3)), "0.5 max"),
    "modular sum": ([3, 3], dl.ModularSum(3), dl.symmetric(0.2, k=3), "0.8 max"),
    "threshold, one idle record": ([2, 1, 2], dl.Threshold(1), dl.laplace_threshold(2.0), "1 bits"),
    "one record": ([3], dl.Identity(), dl.Channel(matrix(2, 3, 3)), "0.5 max"),
    "table": ([2, 2, 2], dl.Table([0, 1, 1, 2, 1, 0, 2, 2]), dl.Channel(matrix(3, 3, 2)), "0.75 max"),
    "all datasets": ([2, 2, 2], None, dl.Channel(matrix(4, 8, 3), inputs="dataset"), "0.7 max"),
    "all datasets, deterministic": (
        [2, 2],
        None,
        dl.Channel([[1, 0], [0, 1], [0, 1], [1, 0]], inputs="dataset"),
        "0.6 max",
    ),
}


@pytest.mark.parametrize("name", thinned(CASES, every=5))
def test_direct_maximisation(support, name):
    question = support.problem(*CASES[name])
    result = support.solve(question)
    best = support.brute_force(question, np.random.default_rng(0))
    assert best <= result.upper + 1e-12
    assert best >= 0.999 * result.lower


@each("name", *thinned(CASES, every=3))
def test_random_feasible_points(support, name):
    question = support.problem(*CASES[name])
    upper = support.solve(question).upper
    for prior in support.random_priors(np.random.default_rng(1), question, 60):
        assert support.entropy(prior) >= question.entropy_bound - 1e-12
        assert support.worst_leakage(prior, question) <= upper + 1e-12


@pytest.mark.parametrize("name", CASES)
def test_witness_is_feasible_and_attains_the_lower_bound(support, name):
    """The witness's masses on (letter, input), spread evenly over datasets, evaluated as a prior on datasets."""
    question = support.problem(*CASES[name])
    result = support.solve(question)
    assert result.witness is not None
    letters = support.letters_of(question, result.witness.record)
    inputs = np.array(support.inputs_of_datasets(question))
    prior = np.zeros(question.records.datasets)
    for (letter, k), mass in np.ndenumerate(result.witness.masses):
        members = (letters == letter) & (inputs == k)
        assert members.any() or mass == 0.0
        prior[members] = mass / max(members.sum(), 1)
    assert prior.sum() == pytest.approx(1.0, abs=1e-12)
    assert support.entropy(prior) >= question.entropy_bound - 1e-12
    assert support.leakage(prior, letters, support.full_channel(question)) >= result.lower - 1e-12


# Discrete Gaussian noise that nothing cuts off, against every adversary: what is hidden by clamping it is paid for.


NOISE, WIDE = dl.discrete_gaussian(scale="1.5"), 60
ADVERSARIES = {
    "anybody": dl.AnyPrior(),
    "listed": dl.PriorSet([[f"{k}/36" for k in range(1, 9)]]),
    "product": dl.ProductPriors(),
    "nothing known": dl.EntropyAtLeast("1 max"),
    "ball": dl.L1BallPriors([0.3, 0.7], 0.1),
    "entropy": dl.EntropyAtLeast("2.5 bits"),
}


def asked(adversary, mechanism=NOISE, people=3, query=None) -> dl.WorstCaseLeakage:
    return support.problem(dl.Records(people, alphabet=2), query or dl.Count(), mechanism, adversary)


@each("name, query", *thinned([(name, query) for name in ADVERSARIES for query in (dl.Count(), dl.Parity())], 3))
def test_it_is_the_limit_of_ever_wider_ranges(name, query):
    endless = asked(ADVERSARIES[name], query=query)
    wide = asked(ADVERSARIES[name], dl.discrete_gaussian(scale="1.5", range=(-WIDE, WIDE)), query=query)
    gap = 0.05 if name == "entropy" else 1e-4
    found, known = dl.solve(endless, gap=gap), dl.solve(wide, gap=gap)
    assert dl.verify(endless, found.certificate).proved
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    assert found.gap <= gap or found.upper < 1e-12


def test_what_is_hidden_is_at_least_what_the_clamped_outputs_tell():
    """2 tau log A, tau at least the exact tail."""
    reach, scale = NOISE.reach, 1.5
    weights = [math.exp(-(k**2) / (2 * scale**2)) for k in range(reach + 400)]
    tail = sum(weights[reach:]) / (2 * sum(weights) - 1)
    assert 2 * tail * math.log(2) <= asked(dl.AnyPrior()).route.slack <= 1e-21


def test_dozens_of_people_against_an_entropy_bound():
    question = asked(dl.EntropyAtLeast("39.9 bits"), dl.discrete_gaussian(scale=4), people=40)
    found = dl.solve(question, gap=0.5, node_limit=50).to("bits")
    assert dl.verify(question, found.certificate).proved
    assert 0.05 < found.lower <= found.upper < 0.15


# The least of all upper bounds is returned, a cut-short search keeps its best, and proofs carry over to larger entropy.


def letters_problem(bound):
    return support.problem([2, 4, 3], dl.Count(letters=[0, 3]), dl.geometric(1.0), bound)


def test_an_upper_bound_for_less_entropy_is_never_beaten_by_the_answer():
    free = dl.solve(letters_problem("0 max"), gap=1e-2, time_limit=5)
    assert dl.solve(letters_problem("0.5 max"), gap=1e-2, time_limit=5).upper <= free.upper + 1e-6


def test_a_known_proof_holds_for_an_adversary_with_more_entropy():
    free = dl.solve(letters_problem("0.3 max"), gap=1e-2, time_limit=5)
    later = dl.solve(letters_problem("0.6 max"), gap=0.9, time_limit=0.01, known=free)
    assert later.upper <= free.upper + 1e-12
    assert dl.verify(letters_problem("0.6 max"), later.certificate).proved


@pytest.mark.thorough
def test_the_upper_ends_of_a_curve_fall():
    problem = letters_problem("0 max")
    uppers = [point.result.upper for point in entropy_curve(problem, [0, 0.25, 0.5, 0.75, 1], gap=1e-2, time_limit=0.5)]
    assert all(right <= left + 1e-12 for left, right in itertools.pairwise(uppers))


def test_a_search_cut_short_keeps_a_leaking_witness():
    problem = letters_problem("0.5 max")
    full = dl.solve(problem, gap=1e-2, time_limit=10)
    for limit in (0.2, 0.5, 1.0)[: draws(1, 3)]:
        assert dl.solve(problem, gap=1e-9, time_limit=limit).lower >= 0.5 * full.lower


def test_no_leakage_is_no_gap():
    problem = support.problem(dl.Records(2, alphabet=2), dl.Count(), dl.randomized_response(0, k=3), "1 bits")
    result = dl.solve(problem)
    assert (result.gap, result.termination) == (0.0, dl.answers.Termination.GAP_REACHED)
    assert result.require(gap=1e-9) is result


# Bands of whole curves against searches and proofs at other entropy bounds that know nothing of them.


SHARES = ["0.15 max", "0.35 max", "0.55 max", "0.82 max", "0.95 max"]
COUNT = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1), dl.AnyPrior())
LETTERS = support.problem(dl.Records(alphabets=[2, 3]), dl.Sum(), dl.geometric(1), dl.AnyPrior())
MODULAR = support.problem(dl.Records(2, alphabet=3), dl.ModularSum(3), dl.symmetric(0.2, k=3), dl.AnyPrior())


def band(question, points, gap=2e-2):
    curve = list(dl.entropy_curve(question, points, gap=gap, time_limit=None))
    return dl.answers.LeakageCurve.of(*((point.problem, point.result) for point in curve)), curve


@pytest.mark.parametrize(
    ("question", "points"), thinned([(MODULAR, ["0.8"]), (COUNT, ["0.6", "0.9"]), (LETTERS, ["0.7"])], 3)
)
def test_the_band_contains_what_is_solved_by_itself(curves, support, question, points):
    found, curve = band(question, points)
    for point in curve:
        assert curves.proved_apart(point.problem, point.result.certificate, SHARES)
    for share in SHARES:
        alone = dl.solve(support.with_bound(question, dl.EntropyAtLeast(share, "nats")), gap=2e-2, time_limit=None)
        lower, upper = found.at(share)
        assert lower <= alone.upper
        assert alone.lower <= upper
    ends = [found.at(f"{j}/40 max") for j in range(41)]
    assert all(later <= earlier for one in zip(*ends, strict=True) for earlier, later in itertools.pairwise(one))


@pytest.mark.campaign(minutes=4)
def test_no_prior_is_told_more_than_the_band_says(curves, support):
    """A thousand random small audits: one proof each, and priors of every kind at entropy bounds of all sizes."""
    rng = np.random.default_rng(16)
    for seed in range(draws(4, 250, 1000)):
        counts = support.random_counts(rng, 4, int(rng.integers(2, 4)), total=100)
        channel = dl.Channel(support.exact_rows(counts, 100), inputs="dataset")
        question = support.problem([2, 2], None, channel, f"{rng.integers(2, 95)}/100 max")
        result = dl.solve(question, gap=3e-2, time_limit=None, node_limit=3000, curve=["1/4", "3/4"], seed=seed)
        found = dl.answers.LeakageCurve.of((question, result))
        assert curves.proved_apart(question, result.certificate, ["0 max", f"{rng.integers(1, 99)}/100 max", "1 max"])
        for share in ("1/10 max", "5/10 max", "9/10 max"):
            there = support.with_bound(question, dl.EntropyAtLeast(share, "nats"))
            told = [support.worst_leakage(prior, there) for prior in support.random_priors(rng, there, 6)]
            assert max(told) <= found.upper(share) + 1e-12
        best = support.brute_force(
            support.with_bound(question, dl.EntropyAtLeast("3/4 max")), rng, starts=draws(20, 5000)
        )
        assert best <= found.upper("3/4 max") + 1e-9
        assert best >= found.lower("3/4 max") * (1.0 - 0.05) - 1e-9


# One mechanism written in two ways: the intervals overlap.


FLIPPED = dl.symmetric("0.2")
SKEWED = dl.Channel([["0.7", "0.2", "0.1"], ["0.1", "0.6", "0.3"], ["0.25", "0.25", "0.5"]])
TWO = dl.Channel([["0.9", "0.1"], ["0.3", "0.7"]])

QUERIES = {
    "parity": ([2, 2, 2], dl.Parity(), TWO),
    "count": ([2, 2], dl.Count(), SKEWED),
    "count of two letters": ([3, 3], dl.Count([0, 2]), SKEWED),
    "sum": ([3, 1], dl.Sum(), SKEWED),
    "sum, weights per record": ([2, 2], dl.Sum([[0, 1], [1, 0]]), SKEWED),
    "threshold": ([2, 3], dl.Threshold(2), TWO),
    "modular sum": ([3, 2], dl.ModularSum(3), SKEWED),
    "identity": ([2, 2], dl.Identity(), FLIPPED),
}


def test_query_is_ignored_where_rows_are_datasets(support):
    """Up to rounding: equal work on arrays at other addresses may differ in the last bit of a product."""
    rows = [["0.9", "0.1"], ["0.5", "0.5"], ["0.4", "0.6"], ["0.2", "0.8"]]
    mechanism = dl.Channel(rows, inputs="dataset")
    answers = [support.solve(support.problem([2, 2], q, mechanism, "1 bits")) for q in (None, dl.Parity(), dl.Count())]
    for answer in answers[1:]:
        assert abs(answer.lower - answers[0].lower) <= 1e-8
        assert abs(answer.upper - answers[0].upper) <= 1e-4
        support.assert_overlap(answer, answers[0])


def exact_rows(mechanism, question):
    """The rows as exact numbers: a matrix's own, or those of the symmetric channel."""
    if isinstance(mechanism, dl.Channel):
        return mechanism.rows
    size = len(question.channel)
    stay, change = 1 - mechanism.flip, mechanism.flip / (size - 1)
    return [[stay if y == v else change for y in range(size)] for v in range(size)]


ROWS = {  # the same channel in other words, by its first spelling
    "outputs that never occur": (
        [["0.5", "0.5", 0], ["0.2", "0.8", 0]],
        [[0, "0.5", 0, "0.5"], [0, "0.2", 0, "0.8"]],
        [["0.5", "0.5"], ["0.2", "0.8"]],
    ),
    "names of outputs": ([[1, 0], [0, 1]], [[0, 0, 1], [1, 0, 0]]),
    "rows that do not sum to one exactly": (
        [["0.3333333333", "0.6666666666"], ["0.2000000001", "0.8"]],
        [["1/3", "2/3"], ["2000000001/10000000001", "8000000000/10000000001"]],
    ),
}
EQUAL = [  # exponential with epsilon 2 and the geometric mechanism with epsilon 1 on a bit are randomised response with 1
    (dl.symmetric("1/4", k=2), dl.Channel([["3/4", "1/4"], ["1/4", "3/4"]]), dl.Parity()),
    (dl.laplace_threshold(0), dl.Channel([["1/2", "1/2"]] * 2), dl.Parity()),
    (dl.exponential(2, range=1), dl.randomized_response(1, k=2), dl.Parity()),
    (dl.geometric(1, range=1), dl.randomized_response(1, k=2), dl.Threshold(1)),
    (dl.exponential(0, range=(0, 2)), dl.symmetric("2/3", k=3), dl.Count()),
]


def spellings():
    """One question in two ways: of queries and matrices, at every bound."""
    for bound in ("0.6 max", "0 max", "0.9 max", "1 max"):
        for sizes, query, mechanism in QUERIES.values():
            short = support.problem(sizes, query, mechanism, bound)
            rows = exact_rows(mechanism, short)
            whole = dl.Channel([rows[k] for k in support.inputs_of_datasets(short)], inputs="dataset")
            yield short, support.problem(sizes, None, whole, bound)
            table = dl.Table(support.listed_values(query, short.records))
            yield short, support.problem(sizes, table, mechanism, bound)
        for matrices in ROWS.values():
            yield from itertools.pairwise(
                support.problem([2, 2], dl.Parity(), dl.Channel(rows), bound) for rows in matrices
            )
        for tiny in (
            "1e-17",
            "1e-100",
            "1e-300",
            "1e-320",
            "1e-390",
        ):  # far below a double's resolution, where a law must not be 0
            rows = [[tiny, "0.999999999999", "1e-12"], [tiny, "0.2", "0.8"], [tiny, "1e-12", "0.999999999999"]]
            without = [row[1:] for row in rows]
            yield tuple(support.problem([2, 2], dl.Count(), dl.Channel(each), bound) for each in (rows, without))
        for first, second, query in EQUAL:
            yield tuple(support.problem([2, 2], query, mechanism, bound) for mechanism in (first, second))
        a, b = ["0.9", "0.1"], ["0.2", "0.8"]  # a count whose values 0, 1 and 2, 3 cannot be told apart is a threshold
        count = support.problem([2] * 3, dl.Count(), dl.Channel([a, a, b, b]), bound)
        yield count, support.problem([2] * 3, dl.Threshold(2), dl.Channel([a, b]), bound)
        # only the order of the labels says which row is whose
        yield tuple(
            support.problem([2, 2], dl.Table(labels), SKEWED, bound) for labels in ([0, 1, 1, 2], [-7, 40, 40, 10**9])
        )


def test_two_spellings_of_one_question():
    for first, second in itertools.islice(spellings(), None, None, draws(12, 1)):
        support.assert_overlap(support.solve(first), support.solve(second))
