"""Black boxes from samples and from counts."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.information import mutual_information
from dalenius.information.capacity import capacity
from dalenius.statistics.counts import CountedChannel, clopper_pearson, least_information, mean_error
from digits import same
from support import refuses

UNIT = {3: "0.3068528194401", 5: "0.1401861527734", 10: "0.05862337103614"}  # without noise, r = 1
SLICED = {  # of X ~ N(0, I_d) and Y = X + sZ, by r = 1 / (1 + s^2); nats
    2: {0.9: "0.4183772881516", 0.5: "0.1583471838204", 0.1: "0.0259932678249"},
    3: {0.9: "0.2344816750831", 0.5: "0.1001231099995", 0.1: "0.01719196291485"},
    10: {0.9: "0.05167622309542", 0.5: "0.02678702364936", 0.1: "0.005064038970804"},
}


def sliced_information(d: int, r: float) -> float:
    """E[-1/2 log(1 - r B)], B = (theta . phi)^2 ~ Beta(1/2, (d-1)/2), with theta . phi = sin t."""
    weight = math.gamma(d / 2) / (math.sqrt(math.pi) * math.gamma((d - 1) / 2))
    inside = lambda t: -0.5 * math.log1p(-r * math.sin(t) ** 2) * math.cos(t) ** (d - 2)  # noqa: E731
    return weight * quad(inside, -math.pi / 2, math.pi / 2, epsabs=1e-14)[0]


def sliced_information_of_a_mean(n: int, k: int, variance: float) -> float:
    """Of one of n records ~ N(0, I_k) with their mean and noise, beside slices of the others: the mean over random slices.

    -1/2 log(1 - (B/n^2) / (1/n + s^2 - (n-1) C/n^2)), B ~ Beta(1/2, (k-1)/2) and C ~ Beta(1/2, ((n-1)k-1)/2), the squares of sines.
    """
    nodes, weights = (math.pi / 2 * part for part in np.polynomial.legendre.leggauss(60))
    squares = np.sin(nodes) ** 2
    b, c = (weights * np.cos(nodes) ** (d - 2) for d in (k, (n - 1) * k))
    told = -0.5 * np.log1p(-(squares[:, None] / n**2) / (1 / n + variance - (n - 1) * squares / n**2))
    return float(b @ told @ c / (b.sum() * c.sum()))


def noisy(random, runs: int, d: int, r: float):
    data = random.normal(size=(runs, 1, d))
    return data, data[:, 0] + math.sqrt(1 / r - 1) * random.normal(size=(runs, d))


@each("d", *SLICED, 5)
def test_sliced_information_has_its_closed_form(d):
    for r, digits in SLICED.get(d, {}).items():
        same(sliced_information(d, r), digits)
    if d in UNIT:
        exact = float(digamma(d / 2) - digamma((d - 1) / 2)) / 2
        same(exact, UNIT[d])
        assert sliced_information(d, 1.0) == pytest.approx(exact, abs=1e-11)  # the logarithm has a pole at an end
    if d == 2:
        assert sliced_information(2, 1.0) == pytest.approx(math.log(2), abs=1e-11)
        same(-math.log((1 + math.sqrt(0.5)) / 2), SLICED[2][0.5])
    if d == 3:
        same(1 - math.log(0.5) / 2 - math.atanh(math.sqrt(0.5)) / math.sqrt(0.5), SLICED[3][0.5])


@each(
    "n, k, variance, drawn, error, told",
    (2, 2, 0.1, 0.18121, 0.00025, "1.252762968495"),
    (3, 2, 0.1, 0.08621, 0.00011, "0.7472144018302"),
    (5, 3, 0.05, 0.02994, 0.00004, "0.8816799973532"),
)
def test_slices_of_a_mean_say_little_about_it(n, k, variance, drawn, error, told):
    """Of a noisy mean: Monte Carlo values lie within three of their errors, and a whole record is told far more."""
    sliced = sliced_information_of_a_mean(n, k, variance)
    assert abs(sliced - drawn) < 3 * error
    whole = 0.5 * k * math.log1p(1 / (n**2 * variance))
    same(whole, told)
    random = np.random.default_rng(n)
    data = random.normal(size=(4_000, n, k))
    released = data.mean(axis=1) + math.sqrt(variance) * random.normal(size=(4_000, k))
    found = dl.audit_samples(data, released, slices=20, average=True, units="nats")
    assert 0.0 <= found.lower < sliced < whole


def test_both_critics_keep_most_of_a_correlation():
    """Of 0.217 nats the paper's test, with weights for which it sees anything, had 0.080 on runs held out, without a confidence."""
    random, runs = np.random.default_rng(0), 20_000
    data = random.normal(size=(runs, 1))
    released = 0.593 * data[:, 0] + math.sqrt(1 - 0.593**2) * random.normal(size=runs)
    for critic in ("bins", "neurons"):
        assert 0.08 < dl.audit_samples(data, released, critic=critic, units="nats").lower < 0.217


def test_the_average_of_many_slices_is_below_sliced_information_and_the_best_above_the_average():
    data, released = noisy(np.random.default_rng(5), 10_000, 2, 0.9)
    average = dl.audit_samples(data, released, slices=20, average=True, units="nats")
    best = dl.audit_samples(data, released, slices=20, units="nats")
    assert 0.05 < average.lower < sliced_information(2, 0.9) < best.lower < -math.log(0.1)


@each("critic", "bins", "neurons")
def test_it_is_below_the_truth_as_often_as_is_promised(critic):
    """Scalars of correlation 0.6, and of none, at a confidence of 60 %; five standard deviations are left for chance."""
    random, repetitions = np.random.default_rng(2), draws(12, 300) if critic == "bins" else draws(3, 60)
    for r in (0.0, 0.36):
        above = 0
        for _ in range(repetitions):
            data = random.normal(size=(160, 1))
            released = math.sqrt(r) * data[:, 0] + math.sqrt(1 - r) * random.normal(size=160)
            found = dl.audit_samples(data, released, confidence=0.6, critic=critic, units="nats")
            above += found.lower > -0.5 * math.log(1 - r)
        assert above <= 0.4 * repetitions + 5 * math.sqrt(0.24 * repetitions)


def test_a_mean_of_two_rows_and_what_others_add():
    """M = (X_1 + X_2)/2 + sZ with s^2 = 0.1: I(X_1; M) and I(X_1; M | X_2) of Gaussians."""
    random = np.random.default_rng(7)
    data = random.normal(size=(30_000, 2))
    released = data.mean(axis=1) + math.sqrt(0.1) * random.normal(size=30_000)
    alone, told = 0.5 * math.log(0.6 / 0.35), 0.5 * math.log(0.35 / 0.1)
    found = dl.audit_samples(data, released, units="nats")
    given = dl.audit_samples(data, released, given_others=True, units="nats")
    assert 0.15 < found.lower < alone < given.lower < told
    assert given.about.endswith("; output | all others)")


def test_words_stand_where_a_secret_has_few_values():
    """A bit that is told with probability 3/4: bins are its values."""
    random = np.random.default_rng(8)
    bits = random.integers(0, 2, size=(20_000, 1))
    told = np.where(random.random(20_000) < 0.75, bits[:, 0], 1 - bits[:, 0])
    found = dl.audit_samples(bits, told, confidence=0.99)
    assert 0.12 < found.lower < (1 + 0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert found.confidence == 0.99
    assert dl.audit_samples(np.zeros((50, 1)), np.arange(50.0)).lower == 0


test_what_cannot_be_used_is_one_clear_error = refuses(
    (np.zeros(50), np.zeros(50), {}, "got shapes"),
    (np.zeros((50, 1)), np.zeros(49), {}, "as many outputs as datasets"),
    (np.zeros((30, 1)), np.zeros(30), {}, "from 40 runs or more"),
    (np.full((50, 1), np.nan), np.zeros(50), {}, "finite numbers"),
    ([["a"]] * 50, np.zeros(50), {}, "count with audit_counts"),
    (np.zeros((50, 1)), np.zeros(50), {"critic": "deep"}, "critic: expected one of bins, neurons"),
    (np.zeros((50, 1)), np.zeros(50), {"slices": 0}, "slices"),
    (np.zeros((50, 1)), np.zeros(50), {"confidence": 0}, "confidence"),
    by=lambda records, outputs, more: dl.audit_samples(records, outputs, **more),
)


def test_the_command_reads_a_table(command_line, tmp_path):
    random = np.random.default_rng(9)
    data = random.normal(size=(2000, 2))
    released = data.sum(axis=1) + random.normal(size=2000)
    lines = [
        f"{a!r},{b!r},{y!r},{'big' if a > 0 else 'small'},{'up' if y > 0 else 'down'}"
        for (a, b), y in zip(data.tolist(), released.tolist(), strict=True)
    ]
    (tmp_path / "runs.csv").write_text("\n".join(["a,b,y,size,side", *lines]))
    done = command_line("audit-samples", "runs.csv", "--records", "a,b", "--outputs", "y", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["label"] == "statistical, never a proof"
    assert answer["runs"] == 2000
    wanted = dl.audit_samples(data, released)
    assert (answer["record"], answer["about"]) == (wanted.record, f"I({'ab'[wanted.record]}; output)")
    assert answer["lower"] == pytest.approx(wanted.lower)
    done = command_line("audit-samples", "runs.csv", "--records", "size", "--outputs", "side", "--words")
    assert "statistical, never a proof" in done.stdout
    assert "epsilon >= " in done.stdout
    bits = "\n".join(["given,came", *["0,low", "1,high"] * 40, "1,low"])
    (tmp_path / "bits.csv").write_text(bits)
    about = ["audit-samples", "bits.csv", "--records", "given", "--outputs", "came", "--words"]
    one = ["--people", "1", "--outcomes", "low,high,odd"]
    counts = [[40, 0, 0], [1, 40, 0]]
    wanted = dl.audit_counts(counts, records=dl.Records(1, alphabet=2), query="count")
    told = command_line(*about, *one).stdout
    assert told.splitlines()[0] == str(wanted)
    assert "between these inputs, which may be up to 1 person apart: epsilon >= " in told
    assert wanted.upper is not None
    for budget, status in (("1.1 bits", 0), ("0.5 bits", 6)):
        done = command_line(*about, *one, "--at-most", budget, "--json")
        assert (done.returncode, json.loads(done.stdout)["at_most_met"]) == (status, wanted.upper <= float(budget[:3]))
    assert "is what these samples say with a confidence of 95 %" in done.stderr
    done = command_line("audit-samples", "runs.csv", "--records", "a", "--outputs", "y", "--at-most", "1 bits")
    assert (done.returncode, "--at-most: expected with --words" in done.stderr) == (2, True)
    done = command_line("audit-samples", "runs.csv", "--records", "size", "--outputs", "y")
    assert done.returncode == 2
    assert "--words counts words" in done.stderr
    done = command_line("audit-samples", "runs.csv", "--records", "a", "--outputs", "y", "--words")
    assert done.returncode == 2
    assert "got 2000 inputs and 2000 outputs" in done.stderr
    (tmp_path / "real.csv").write_text("given,came\n" + "\n".join(f"{j % 2},{j + 0.5}" for j in range(40)))
    done = command_line("audit-samples", "real.csv", "--records", "given", "--outputs", "came", "--words")
    assert (done.returncode, "40 of 40 outputs differ" in done.stderr, "round the outputs" in done.stderr) == (
        0,
        True,
        True,
    )
    for more, text in (
        (["--people", "2"], "input 2 was never given"),
        (["--people", "1", "--query", "treshold 2"], "--query"),
        (["--outcomes", "low,odd"], "--outcomes: 40 of 81 entries in the column came are none of low, odd"),
        (
            ["--people", "1", "--query", "table [2, 3]"],
            "--people, --alphabet, --query: 81 of 81 entries in the column given are none of the query's values 2, 3",
        ),
        (["--blocks", "2"], "--blocks: expected with --people"),
        (["--people", "2", "--blocks", "2", "--adversary", "product_priors"], "expected one of them"),
    ):
        done = command_line(*about, *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert text in done.stderr
    for more, text in (
        (("--records", "a", "--people", "2"), "--people: expected with --words"),
        (("--records", "a,b,a"), "--records: expected each column once, got 'a' more than once"),
        (("--records", "size", "--words", "--given-others", "--seed", "3"), "--given-others, --seed: counting words"),
    ):
        done = command_line("audit-samples", "runs.csv", "--outputs", "y", *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert text in done.stderr
    for entry in ("nan", "1e400", "inf"):
        (tmp_path / "odd.csv").write_text(f"a,y\n1,2\n{entry},3\n")
        done = command_line("audit-samples", "odd.csv", "--records", "a", "--outputs", "y")
        assert "expected finite numbers that doubles can hold" in done.stderr
        assert entry not in done.stderr
    done = command_line("audit-samples", "runs.csv", "--records", "a", "--outputs", "y", "--seed", "-1")
    assert done.returncode == 2
    assert "seed: expected an integer of at least 0" in done.stderr


# Counts of a black box: the bound is below the truth as often as is promised, below nothing it should be above, and labelled.


CHANNELS = [
    [[0.9, 0.1], [0.3, 0.7]],
    [[0.5, 0.5], [0.5, 0.5]],
    [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]],
    [[1.0, 0.0], [0.98, 0.02]],
]


def failures(channel, confidence, runs, repetitions, seed):
    """How often the capacity is outside the interval."""
    random, truth = np.random.default_rng(seed), capacity(np.array(channel), gap=1e-9).upper
    found = (
        dl.audit_counts([random.multinomial(runs, row) for row in channel], confidence=confidence, units="nats")
        for _ in range(repetitions)
    )
    return sum(not one.lower - 1e-9 <= truth <= one.upper + 1e-9 for one in found)


@each("channel", *CHANNELS)
def test_the_truth_is_between_as_often_as_is_promised(channel):
    """Of so many experiments at 70 %; five standard deviations are left for chance."""
    repetitions = draws(8, 400)
    most = 0.3 * repetitions + 5 * math.sqrt(0.21 * repetitions)
    assert failures(channel, 0.7, 60, repetitions, seed=1) <= min(most, repetitions - 1)


def test_more_runs_show_more_and_a_known_channel_everything():
    few, many, most = (dl.audit_counts([[9 * k, k], [2 * k, 8 * k]]) for k in (10, 100, 100_000))
    truth = float(np.log2(math.e) * capacity(np.array([[0.9, 0.1], [0.2, 0.8]]), gap=1e-9).upper)
    assert 0 <= few.lower < many.lower < most.lower < truth < most.lower + 0.01
    assert most.upper - 0.02 < truth < most.upper < many.upper < few.upper <= 1
    assert few.epsilon < many.epsilon < most.epsilon < math.log(8) < most.epsilon + 0.03
    assert dl.audit_counts([[9, 1], [9, 1]]).lower == dl.audit_counts([[9, 1], [9, 1]]).epsilon == 0


def test_no_channel_of_the_box_tells_less():
    random = np.random.default_rng(3)
    for _ in range(draws(3, 50)):
        counts = np.array([random.multinomial(80, random.dirichlet(np.ones(3))) for _ in range(3)])
        low, high = clopper_pearson(counts, counts.sum(axis=1, keepdims=True), 0.1)
        prior = random.dirichlet(np.ones(3))
        bound = least_information(prior, low, high, counts / 80)
        for _ in range(200):
            channel = random.uniform(low, high)
            channel /= channel.sum(axis=1, keepdims=True)
            if ((low <= channel) & (channel <= high)).all():
                mean = prior @ channel
                assert bound <= np.sum(prior[:, None] * channel * np.log(np.maximum(channel, 1e-300) / mean)) + 1e-12


def test_every_channel_of_the_box_is_a_processing_of_the_dominating_one():
    """And reveals between the two ends about a letter, whatever its law with the input."""
    random = np.random.default_rng(4)
    for _ in range(draws(5, 100)):
        counts = np.array([random.multinomial(60, random.dirichlet(np.ones(3))) for _ in range(4)])
        counted = CountedChannel.of(counts, 0.9)
        above = counted.dominating.channel(np.arange(4))
        masses = random.dirichlet(np.ones(8)).reshape(2, 4)
        least, most = counted.least(masses), mutual_information(masses @ above)
        for channel in random.dirichlet(np.ones(3), size=(200, 4)) * 0.3 + 0.7 * counted.guess:
            if ((counted.low <= channel) & (channel <= counted.high)).all():
                left = (channel - above[:, :3]) / (1 - above[:, :3].sum(axis=1, keepdims=True))
                assert (left >= 0).all()
                np.testing.assert_allclose(above @ np.vstack([np.eye(3), left]), channel, atol=1e-12)
                assert least <= mutual_information(masses @ channel) + 1e-12 <= most + 2e-12


TELLING = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.2, 0.8], [0.0, 1.0]]  # where others are many, more is said


@each(
    "adversary",
    dl.IndependentBlocks(2),
    dl.IndependentBlocks(2, entropy_at_least="0.5 max"),
    dl.ProductPriors(),
    dl.MarkovChain("0.5", "0.5"),
    every=2,
)
def test_a_table_of_samples_is_audited_like_its_mechanism(adversary):
    asked = support.problem(dl.Records(4, alphabet=2), dl.Count(), dl.Channel(TELLING), adversary)
    truth = dl.solve(asked, gap=1e-3).to("bits")
    random = np.random.default_rng(6)
    table = [random.multinomial(100_000, row) for row in TELLING]
    found = dl.audit_counts(table, records=asked.records, query=asked.query, adversary=adversary)
    assert found.lower < truth.lower <= truth.upper < found.upper < found.lower + 0.02
    assert str(found).startswith("leakage about one record within ")


def test_a_prior_may_be_one_of_a_letter_and_the_input():
    counts, masses = [[900, 100], [500, 500], [100, 900]], np.array([[0.3, 0.2, 0.0], [0.0, 0.1, 0.4], [0, 0, 0]])
    found = dl.audit_counts(counts, prior=masses, units="nats")
    truth = mutual_information(masses[:2] @ (np.array(counts) / 1000))
    assert 0.5 * truth < found.lower < truth < found.upper < 2 * truth
    same = dl.audit_counts(counts, prior=np.diag([0.2, 0.3, 0.5]))
    assert same.lower == pytest.approx(dl.audit_counts(counts, prior=np.array([2, 3, 5])).lower, abs=1e-9)


def test_intervals_hold_together():
    """All outcomes of 12 runs, weighed: the exact probability that an interval misses is at most what was asked for."""
    for p in (0.0, 0.03, 0.5, 0.9):
        missed = 0.0
        for k in range(13):
            low, high = clopper_pearson(np.array([k]), np.array([12]), 0.1)
            missed += (not low[0] <= p <= high[0]) * math.comb(12, k) * p**k * (1 - p) ** (12 - k)
        assert missed <= 0.1


def test_means_of_bounded_numbers():
    """All samples of 9 coins: as above."""
    for p in (0.1, 0.5):
        missed = 0.0
        for coins in itertools.product((0.0, 1.0), repeat=9):
            sample = np.array(coins)
            missed += (p > sample.mean() + mean_error(sample, 1.0, 0.2)) * math.prod(p if c else 1 - p for c in coins)
        assert missed <= 0.2
    values = np.tile([0.0, 1.0], 5000)
    assert mean_error(values, 1.0, 0.05) < 0.02 < mean_error(values[:100], 1.0, 0.05)


def test_it_says_that_it_is_no_proof():
    found = dl.audit_counts([[90, 10], [20, 80]])
    assert found.statistical
    assert "bits of 1 bit possible with a confidence of 95 %" in str(found)
    assert " >= " in str(dl.audit_samples(np.zeros((50, 1)), np.arange(50.0)))
    assert "statistical, never a proof" in str(found)
    assert "statistical, never a proof" in found._repr_html_()
    assert not hasattr(found, "certificate")
    named = dl.audit_counts([[90, 10], [20, 80]], prior=np.array([1, 3]))
    assert named.about == "I(input; output) under this prior"
    assert named.lower <= found.lower + 0.01


test_counts_that_cannot_be_used_are_one_clear_error = refuses(
    ([[1, 2]], {}, "a row for each of two inputs"),
    ([[1, 2], [3]], {}, "as many outputs in every row"),
    ([[1, 2], [0, 0]], {}, "input 1 was never given"),
    ([[1, 2], [0.5, 1]], {}, "whole numbers"),
    ([[1, 2], [-1, 1]], {}, "whole numbers"),
    ([[1, 2], [3, 4]], {"confidence": 1.0}, "confidence: expected a number between 0 and 1"),
    ([[1, 2], [3, 4]], {"units": "bans"}, "units must be one of"),
    ([[1, 2], [3, 4]], {"prior": [1, 2, 3]}, "prior: expected 2 numbers"),
    ([[1, 2], [3, 4]], {"prior": [[0, 0], [0, 0]]}, "such a row for each letter"),
    ([[1, 2], [3, 4]], {"query": "count"}, "expected with records"),
    ([[1, 2], [3, 4]], {"prior": [1, 2], "records": dl.Records(1, alphabet=2)}, "leave one of them out"),
    (
        [[1, 2], [3, 4]],
        {"query": "count", "records": dl.Records(3, alphabet=2)},
        "expected one row for each of the 4 query values, got 2",
    ),
    by=lambda counts, more: dl.audit_counts(counts, **more),
)
