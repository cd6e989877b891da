"""Planted optima that a local search misses: the bounds point at them, so the answer does not depend on the search's luck.

Three plants. A *pair* of rows among many that are worth less: the largest capacity of two rows is all that a binary record can leak,
and it is reached as long as the entropy bound is at most the entropy of those rows' datasets. *Rare counts*: a
bit and two outputs leave few numbers to choose (the bit's law, and how the other bits lean), which can be listed. *Parity*: Mrs.
Gerber's lemma. The search is then replaced by one that is blind or that comes to rest elsewhere.
"""

import itertools
import math

import numpy as np
import pytest

import dalenius as dl
from campaigns import each, thinned
from dalenius.audits import entropy_at_least, record_audit
from dalenius.information import mutual_information
from dalenius.reduction import record_channels

PLANTED, USELESS = (70, 10, 10, 10), (25, 25, 26, 24)


def hundredths(rows) -> list[list[str]]:
    return [[f"{entry}e-2" for entry in row] for row in rows]


def peak(row: tuple[int, ...], output: int) -> tuple[int, ...]:
    """The row with its first entry moved to an output."""
    return row[-output:] + row[:-output] if output else row


def decoys(rng, count: int, output: int) -> list[tuple[int, ...]]:
    """Rows with a peak that is a little lower than the planted ones', most of them different."""
    small = rng.integers(10, 13, size=(count, 3)).tolist()
    return [peak((100 - sum(rest), *rest), output) for rest in small]


def pair_rows(bits: int, copies: int, *, useless: bool) -> list[tuple[int, ...]]:
    """A row for every dataset: for each letter of record 0 `copies` planted ones, and others worth less."""
    rng, others = np.random.default_rng(bits), 2 ** (bits - 1) - copies
    first, second = ([USELESS] * others,) * 2 if useless else (decoys(rng, others, output) for output in (2, 3))
    return [PLANTED] * copies + first + second + [peak(PLANTED, 1)] * copies


def pair(support, bits: int, copies: int, bound: str, *, useless: bool = False) -> dl.WorstCaseLeakage:
    channel = dl.Channel(hundredths(pair_rows(bits, copies, useless=useless)), inputs="dataset")
    return support.problem([2] * bits, None, channel, bound)


RARE = {
    "ten bits": ((90, 60, 60, 35, 40, 40, 65, 60, 70, 70, 10), 47),
    "thirteen bits": ((10, 30, 40, 65, 60, 60, 30, 35, 30, 65, 65, 65, 35, 98), 83),
}


def rare(support, name: str) -> dl.WorstCaseLeakage:
    """The count of n bits through a channel with two outputs."""
    chances, share = RARE[name]
    rows = hundredths([(chance, 100 - chance) for chance in chances])
    return support.problem([2] * (len(chances) - 1), dl.Count(), dl.Channel(rows), f"{share}e-2 max")


def pair_value(support) -> float:
    """The capacity of the planted rows in closed form: only their two peaks tell them apart."""
    high, low = PLANTED[0] / 100, PLANTED[1] / 100
    return (high + low) * math.log(2.0) - (high + low) * support.binary_entropy(high / (high + low))


def binary_entropies(p):
    inside = np.clip(p, 1e-300, 1.0)
    beside = np.clip(1.0 - p, 1e-300, 1.0)
    return -inside * np.log(inside) - beside * np.log(beside)


def listed_value(question) -> float:
    """The largest leakage about a bit of a count with two outputs, from a grid of all (law of the bit, tilt of the other bits at 0).

    For given chances of output 0 the entropy is largest when the counts of the other bits are tilted exponentially in the channel.
    The leakage is convex in the chance given the bit 1, so this one is as far out, on either side, as the entropy bound allows.
    """
    chance, others = question.channel[:, 0], len(question.records) - 1
    log_counts = np.log([math.comb(others, k) for k in range(others + 1)])

    def tilted(tilts, bit):
        """The chance of output 0 and the entropy of the other bits, for every tilt."""
        weights = log_counts + tilts[:, None] * chance[bit : bit + others + 1]
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
        law = weights / weights.sum(axis=1, keepdims=True)
        spread = np.sum(law * (log_counts - np.log(np.maximum(law, 1e-300))), axis=1)
        return law @ chance[bit : bit + others + 1], spread

    def leakage(pi, tilts, side):
        """With the bit 1 of probability pi, the other bits tilted towards a side if it is 1; -1 where no such prior is feasible."""
        at_zero, spread = tilted(tilts, 0)
        needed = (question.entropy_bound - binary_entropies(pi) - (1.0 - pi) * spread) / pi
        low, high = np.zeros_like(pi), np.full_like(pi, 1e4)
        for _ in range(60):
            middle = 0.5 * (low + high)
            enough = tilted(side * middle, 1)[1] >= needed
            low, high = np.where(enough, middle, low), np.where(enough, high, middle)
        at_one = tilted(side * low, 1)[0]
        within = (1.0 - pi) * binary_entropies(at_zero) + pi * binary_entropies(at_one)
        leak = binary_entropies((1.0 - pi) * at_zero + pi * at_one) - within
        return np.where(needed <= others * math.log(2.0), leak, -1.0)

    pi, scale = np.meshgrid(np.linspace(0.005, 0.995, 100), np.linspace(-7.0, 7.0, 141), indexing="ij")
    points, width = np.column_stack([pi.ravel(), scale.ravel()]), np.array([0.01, 0.1])
    offsets = np.array(list(itertools.product(range(-2, 3), repeat=2)))
    best = 0.0
    for _ in range(25):
        points[:, 0] = np.clip(points[:, 0], 1e-6, 1.0 - 1e-6)
        found = np.maximum(*(leakage(points[:, 0], np.sinh(points[:, 1]), side) for side in (-1.0, 1.0)))
        best = max(best, float(found.max()))
        width = 0.6 * width
        points = (points[np.argsort(-found)[:40], None] + offsets * width).reshape(-1, 2)
    return best


# name -> (problem, planted value, how many of a thousand random ascents may find it)
CASES = {
    "a pair among useless rows": (lambda s: pair(s, 5, 1, "0 bits", useless=True), pair_value, 1000),
    "a pair among decoys": (lambda s: pair(s, 5, 2, "0 bits"), pair_value, 30),
    "a pair of few datasets": (lambda s: pair(s, 5, 2, "1.9 bits"), pair_value, 20),
    "a pair that just fits": (lambda s: pair(s, 6, 2, "2 bits"), pair_value, 10),
    "rare counts, ten bits": (lambda s: rare(s, "ten bits"), lambda s: listed_value(rare(s, "ten bits")), 1000),
    "rare counts, thirteen bits": (
        lambda s: rare(s, "thirteen bits"),
        lambda s: listed_value(rare(s, "thirteen bits")),
        30,
    ),
    "parity": (lambda s: s.parity4("2.5 nats"), lambda s: s.gerber(4, math.exp(-0.5) / 2, 2.5), 1000),
}


def ascents(support, channel, count: int):
    """Random ascents on one record channel: masses on its pairs (starts, pairs), their leakage, their multipliers."""
    exists = np.isfinite(channel.log_uniform)
    letters, classes = np.nonzero(exists)
    shares = channel.log_uniform[exists]
    starts = support.random_starts(np.random.default_rng(0), count, shares.size)
    starts = starts * np.exp(shares) / np.sum(starts * np.exp(shares), axis=1, keepdims=True)
    rows = channel.rows[classes]
    return support.ascend(rows, letters, -channel.max_knowledge, starts, sweeps=100, log_counts=shares, spare=1e-11)


def cripple(support, monkeypatch, how: str, planted: float) -> None:
    """Replace the search: `blind` returns the uniform prior, `misled` the best of a few ascents that miss the plant."""

    def blind(channel, **options):
        uniform = channel.uniform
        return entropy_at_least.Candidate(uniform, float(mutual_information(uniform @ channel.rows)), 0.1)

    def misled(channel, **options):
        p, values, mu = ascents(support, channel, 40)
        values = np.where(values < 0.99 * planted, values, -1.0)
        best = int(np.argmax(values))
        if values[best] < 0.0:
            return blind(channel)
        masses = np.zeros_like(channel.log_uniform)
        masses[np.isfinite(channel.log_uniform)] = p[best]
        return entropy_at_least.Candidate(masses, float(values[best]), float(mu[best]))

    monkeypatch.setattr(entropy_at_least, "search", {"blind": blind, "misled": misled}[how])


@pytest.mark.parametrize("name", thinned(CASES, every=8))
def test_the_planted_value(support, name):
    """The whole solver, uncrippled; and random ascents are as unlucky as the case says."""
    make, value, lucky = CASES[name]
    question, exact = make(support), value(support)
    result = dl.solve(question, gap=1e-3, time_limit=90.0)
    support.assert_contains(result, exact, gap=1e-3)
    found = ascents(support, record_channels(question)[0], 200)[1]
    assert found.max() <= result.upper
    assert np.mean(found >= 0.999 * exact) <= lucky / 1000


@pytest.mark.parametrize("how", thinned(["misled", "blind"], every=2))
@pytest.mark.parametrize("name", thinned(CASES, every=8))
def test_a_crippled_search_does_not_hide_the_plant(support, monkeypatch, name, how):
    """The first witness misses by a percent or more, yet the gap closes: the bounds' own points lead to the plant."""
    make, value, _ = CASES[name]
    question, exact = make(support), value(support)
    cripple(support, monkeypatch, how, exact)
    result = dl.solve(question, gap=1e-3, time_limit=90.0)
    assert result.trace[0].lower <= 0.99 * exact
    support.assert_contains(result, exact, gap=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("limit", thinned([0.2, 0.02, 1.0], every=3))
@pytest.mark.parametrize("how", thinned(["misled", "blind"], every=2))
@pytest.mark.parametrize("name", thinned(CASES, every=8))
def test_a_crippled_search_never_lowers_the_upper_bound(support, monkeypatch, name, how, limit):
    """Nobody looks for witnesses after the search either: the interval is wide, and the plant is inside."""
    make, value, _ = CASES[name]
    question, exact = make(support), value(support)
    cripple(support, monkeypatch, how, exact)
    monkeypatch.setattr(record_audit, "polish", lambda channel, p, best, **options: best)
    result = dl.solve(question, gap=1e-3, time_limit=limit)
    support.assert_contains(result, exact)
    assert result.lower <= 0.99 * exact
    assert dl.verify(question, result.certificate).proved


@pytest.mark.thorough
@pytest.mark.parametrize("name", thinned(RARE, every=4))
def test_the_list_of_all_laws_is_a_list_of_adversaries(support, name):
    """The listed value is what the best of many ascents finds: neither misses anything the other one sees."""
    question = rare(support, name)
    found = ascents(support, record_channels(question)[0], 400)[1].max()
    assert listed_value(question) == pytest.approx(found, rel=1e-5)


@each("bits, copies, useless", (5, 1, True), (5, 2, False), (6, 2, False))
def test_no_two_rows_leak_more_than_the_planted_ones(support, bits, copies, useless):
    """Without an entropy bound a binary record leaks at most the capacity of two rows; the planted ones' is the largest."""
    rows = np.unique(pair_rows(bits, copies, useless=useless), axis=0) / 100
    upper = support.capacities(np.array(list(itertools.combinations(rows, 2))), 200)[1]
    assert upper.max() == pytest.approx(pair_value(support), rel=1e-9)
