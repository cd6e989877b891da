"""Histograms against what they are by definition: no product of block laws tells more, and a block of one mind tells as much."""

import itertools
import math
import random
import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each, thinned
from dalenius.audits import audit_of
from dalenius.audits.ascent import search
from dalenius.audits.wide import WideAudit
from dalenius.information.entropies import mutual_information
from dalenius.model.mechanisms import known_others
from dalenius.reduction import record_channels
from dalenius.search import Limits, Run

WIDE = 14  # noise beyond so many steps has a probability below 1e-6 for these epsilons
CASES = {"two cells": ([2, 2], 2, "1"), "two cells, odd blocks": ([1, 3], 2, "1"), "three cells": ([2, 1], 3, "1.5")}


def by_definition(sizes, cells, epsilon):
    """The row of every dataset, nothing merged, and the datasets."""
    n = sum(sizes)
    datasets = np.array(list(itertools.product(range(cells), repeat=n)))
    counts = np.stack([(datasets == c).sum(axis=1) for c in range(cells)], axis=1)
    noise = np.exp(-float(epsilon) * np.abs(np.arange(-WIDE, n + WIDE + 1)[None, :] - np.arange(n + 1)[:, None]))
    noise /= noise.sum(axis=1, keepdims=True)
    rows = noise[counts[:, 0]]
    for c in range(1, cells):
        rows = (rows[:, :, None] * noise[counts[:, c]][:, None, :]).reshape(len(rows), -1)
    return datasets, rows


@each("name", *CASES)
def test_no_product_of_block_laws_tells_more(name):
    sizes, cells, epsilon = CASES[name]
    result = dl.solve(
        support.problem(
            dl.Records(sum(sizes), alphabet=cells),
            dl.Histogram(),
            dl.discrete_laplace(epsilon),
            dl.IndependentBlocks(sizes=sizes),
        )
    )
    datasets, rows = by_definition(sizes, cells, epsilon)
    rng, ends = np.random.default_rng(19), np.cumsum(sizes)
    for draw in range(draws(12, 2000)):
        prior = np.ones(len(datasets))
        for end, size in zip(ends, sizes, strict=True):
            law = rng.dirichlet(np.full(cells**size, (0.1, 0.5, 2.0)[draw % 3]))
            prior = prior * law[datasets[:, end - size : end] @ cells ** np.arange(size)]
        assert support.leakage(prior, datasets[:, draw % sum(sizes)], rows) <= result.upper + 1e-4
    largest = int(np.argmax(sizes))
    own = datasets[:, ends[largest] - sizes[largest] : ends[largest]]
    others = np.delete(datasets, np.s_[ends[largest] - sizes[largest] : ends[largest]], axis=1)
    alike = ((own == own[:, :1]).all(axis=1) & (others == 0).all(axis=1)) / cells
    assert support.leakage(alike, own[:, 0], rows) == pytest.approx(result.lower, abs=1e-4)


# Tables of the same people: every histogram of a household written out, all outputs of all cells.


SHAPES = [([2, 2], 3), ([2, 3], 2), ([3, 2], 1), ([2, 2, 2], 1), ([2, 4], 1)]
NOISES = [
    dl.geometric("1/4"),
    dl.discrete_laplace(1),
    dl.discrete_laplace("5/2"),
    dl.staircase("1/2", sensitivity=2, top=1),
]
MOST = 2**13


def rows_of_households(query, noises, size):
    """The outputs of all tables by the letters of a household, one after the other."""
    letters = list(itertools.product(*map(range, query.attributes)))
    steps = [noise.alone().channel(np.arange(size + 1)) for noise in noises]
    found = {}
    for household in itertools.combinations_with_replacement(range(len(letters)), size):
        row = np.ones(1)
        for table, own in zip(query.tables, steps, strict=True):
            counted = Counter(tuple(letters[a][j] for j in table) for a in household)
            for cell in itertools.product(*(range(query.attributes[j]) for j in table)):
                row = np.multiply.outer(row, own[counted[cell]]).ravel()
        found[household] = row
    return found


def best_of(rows, letters, law, chosen):
    """What is told where each letter has one household, after steps towards the worst."""
    for _ in range(4):
        channel = np.array([rows[chosen[a]] for a in range(letters)])
        for _ in range(10):
            far = np.array([float(row @ np.log(row / (law @ channel))) for row in channel])
            law = law * np.exp(far)
            law /= law.sum()
        told = mutual_information(law[:, None] * channel)
        mixed = np.log(law @ channel)
        chosen = [
            max((g for g in rows if a in g), key=lambda g: float(rows[g] @ (np.log(rows[g]) - mixed)))
            for a in range(letters)
        ]
    return float(told)


def test_no_household_tells_more_of_several_tables():
    rng, told = random.Random(39), 0
    for _ in range(draws(12, 1000)):
        attributes, most = rng.choice(SHAPES)
        margins = [
            s for many in range(1, len(attributes) + 1) for s in itertools.combinations(range(len(attributes)), many)
        ]
        query = dl.queries.Margins(attributes, rng.choices(margins, k=rng.randint(1, 3)))
        noises, size = [rng.choice(NOISES) for _ in query.tables], rng.randint(1, most)
        outputs = [noise.alone().channel(np.arange(size + 1)).shape[1] for noise in noises]
        cells = [math.prod(attributes[j] for j in table) for table in query.tables]
        if math.prod(n**k for n, k in zip(outputs, cells, strict=True)) > MOST:
            continue
        mechanism = dl.several_releases(*noises, on=range(len(noises)))
        letters = math.prod(attributes)
        problem = support.problem(dl.Records(9, alphabet=letters), query, mechanism, dl.IndependentBlocks(size))
        audit = audit_of(problem, Run.of(Limits(time_limit=20.0)))
        audit.run()
        rows = rows_of_households(query, noises, size)
        alike = [(a,) * size for a in range(letters)]
        exact = mutual_information(np.array([rows[g] for g in alike]) / letters)
        assert audit.lower <= exact + 1e-12
        assert exact <= audit.upper + 1e-12
        for start in (alike, [rng.choice([g for g in rows if a in g]) for a in range(letters)]):
            worst = best_of(rows, letters, np.full(letters, 1.0 / letters), start)
            assert worst <= audit.upper + 1e-12
        told += audit.lower > 0.9 * exact
    assert told >= draws(4, 300)


# Randomised letters, then their histogram: proved, against priors of every dataset, and one way of proving against another.


NOISE = dl.randomized_histogram(1)


def solved(count, letters, adversary, mechanism=NOISE, gap=1e-6):
    problem = support.problem(dl.Records(count, alphabet=letters), dl.Histogram(), mechanism, adversary)
    result = dl.solve(problem, gap=gap)
    assert dl.verify(problem, result.certificate).proved
    return result


def rows_of_datasets(count, letters):
    records = dl.Records(count, alphabet=letters)
    problem = dl.WorstCaseLeakage(records=records, query=dl.Histogram(), mechanism=NOISE, adversary=dl.AnyPrior())
    return problem.channel[problem.query.index_of_dataset(records)]


@each("count, letters, size", (3, 3, 1), (4, 2, 2))
def test_no_prior_of_blocks_tells_more(count, letters, size):
    rng = np.random.default_rng(41)
    told = solved(count, letters, dl.IndependentBlocks(size))
    rows, worst = rows_of_datasets(count, letters), 0.0
    for draw in range(draws(200, 20000)):
        prior = np.ones(1)
        for _ in range(count // size):
            prior = np.multiply.outer(prior, rng.dirichlet(np.full(letters**size, (0.03, 0.3, 2.0)[draw % 3]))).ravel()
        joint = (prior[:, None] * rows).reshape(letters, -1, rows.shape[1]).sum(axis=1)
        worst = max(worst, float(mutual_information(joint)))
    assert 0.1 * told.lower < worst <= told.upper + 1e-12


def test_households_of_one_are_independent_records():
    one, records = solved(4, 3, dl.IndependentBlocks(1)), solved(4, 3, dl.ProductPriors())
    assert one.lower <= records.upper
    assert records.lower <= one.upper
    assert one.lower == pytest.approx(0.0408392583010, abs=1e-9)


def test_a_household_of_everybody_is_any_prior():
    all_of_them, anybody = solved(3, 2, dl.IndependentBlocks(3)), solved(3, 2, dl.AnyPrior())
    assert all_of_them.lower == pytest.approx(anybody.lower, rel=1e-6)


def test_two_letters_are_a_randomized_count():
    count = support.problem(dl.Records(5, alphabet=2), dl.Count(), dl.randomized_count(1), dl.ProductPriors())
    assert solved(5, 2, dl.ProductPriors()).lower == pytest.approx(dl.solve(count, gap=1e-6).lower, rel=1e-6)


@pytest.mark.parametrize("steps", [200, 40, 3])
def test_fewer_others_bound_from_above(monkeypatch, steps):
    """With less room the same household has a larger upper end, and still a proof; with enough of it the interval closes."""
    exact = solved(7, 2, dl.IndependentBlocks(1))
    monkeypatch.setattr(known_others, "MOST_STEPS", steps)
    bound = solved(7, 2, dl.IndependentBlocks(1))
    assert exact.gap <= 1e-6
    assert exact.lower <= bound.upper
    assert bound.lower <= exact.upper
    assert (bound.upper > exact.upper) == (steps < 200)


def test_a_million_people_are_bounded_by_the_household_alone():
    told, alone = solved(1_000_000, 3, dl.IndependentBlocks(2)), solved(2, 3, dl.AnyPrior())
    assert told.lower == 0.0
    assert told.upper == pytest.approx(alone.upper, rel=1e-5)


# Records are counted and merged where nothing can be listed.


def distinct_rows(inputs: int) -> dl.Channel:
    """A channel with two outputs and a row of its own for every input."""
    return dl.Channel([[f"{v + 1}/{inputs + 2}", f"{inputs + 1 - v}/{inputs + 2}"] for v in range(inputs)])


# ---------------------------------------------------------------- at scale


def at_scale(support, records, query):
    """The record channels, and the peak of memory in MiB while they were counted."""
    question = support.problem(records, query, distinct_rows(query.values(records).size), "0.999 max")
    tracemalloc.start()
    try:
        channels = record_channels(question)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    return channels, peak


def test_parity_of_100_000_bits(support):
    channels, peak = at_scale(support, dl.Records(100_000, alphabet=2), dl.Parity())
    assert [(c.times, c.log_uniform.shape) for c in channels] == [(100_000, (2, 2))]
    assert channels[0].log_uniform == pytest.approx(np.full((2, 2), math.log(0.25)), abs=1e-9)
    assert channels[0].max_knowledge == pytest.approx(0.001 * 100_000 * math.log(2.0), rel=1e-12)
    assert peak < 32


def test_modular_sum_of_100_000_records(support):
    channels, peak = at_scale(support, dl.Records(100_000, alphabet=3), dl.ModularSum(7))
    assert [(c.times, c.log_uniform.shape) for c in channels] == [(100_000, (3, 7))]
    assert channels[0].log_uniform == pytest.approx(np.full((3, 7), math.log(1 / 21)), abs=1e-9)
    assert peak < 32


def test_count_over_2000_records(support):
    channels, peak = at_scale(support, dl.Records(2000, alphabet=2), dl.Count())
    assert [(c.times, c.log_uniform.shape) for c in channels] == [(2000, (2, 2001))]
    shares = channels[0].completions.log_uniform
    exact = [math.log(math.comb(1999, v)) - 2000 * math.log(2.0) for v in range(2000)]
    assert shares[0, :2000] == pytest.approx(np.array(exact), rel=1e-11)
    assert shares[1, 1:] == pytest.approx(np.array(exact), rel=1e-11)
    assert shares[0, 2000] == shares[1, 0] == -np.inf
    assert channels[0].uniform.sum() == pytest.approx(1.0, abs=1e-10)
    assert peak < 64


def test_mixed_records_at_scale(support):
    """Two kinds of records, many of each."""
    channels, peak = at_scale(support, dl.Records(alphabets=[2] * 30_000 + [5] * 20_000), dl.ModularSum(5))
    assert [(c.record, c.times, c.letters) for c in channels] == [(0, 30_000, 2), (30_000, 20_000, 5)]
    for channel in channels:
        exact = np.full((channel.letters, 5), -math.log(5 * channel.letters))
        assert channel.log_uniform == pytest.approx(exact, abs=1e-9)
    assert peak < 32


# Counts whose matrix is never written out: proved, against what is written out of as many people, and against what must hold.


ALONE = 0.04371346  # bits about one of independent people, epsilon 1/2


def asked(records, adversary, mechanism=None) -> dl.WorstCaseLeakage:
    return support.problem(records, dl.Count(), mechanism or dl.geometric(0.5), adversary)


def solved_count(question, gap=1e-6):
    """The interval in bits, once it is proved again."""
    found = dl.solve(question, gap=gap)
    assert dl.verify(question, found.certificate).proved
    return found.to("bits")


@pytest.mark.parametrize(
    ("people", "mechanism"),
    thinned(
        [
            (10_000, dl.geometric(0.5, range=(-5, 20_000))),
            (1_000_000, dl.geometric(0.5)),
            (1_000_000, dl.discrete_laplace(scale=2)),
        ],
        3,
    ),
)
def test_independent_people_are_households_of_one(people, mechanism):
    found = solved_count(asked(dl.Records(people, alphabet=2), dl.ProductPriors(), mechanism))
    assert found.lower <= ALONE + 1e-8 <= found.upper + 2e-8
    assert found.gap <= 1e-6


@pytest.mark.parametrize(
    ("people", "bound", "low", "high"),
    thinned(
        [
            (5_000, "4999.9 bits", 0.1067, 0.1394),
            (1_000_000, "999999.9 bits", 0.1005, 0.1394),
            (1_000_000, "999999.5 bits", 0.5009, 0.5219),
            (1_000_000, "0.9 max", 1 - 1e-9, 1 + 1e-9),
            (1_000_000, "0 nats", 1 - 1e-9, 1 + 1e-9),
        ],
        5,
    ),
)
def test_who_knows_little_of_many_is_told_little_more_than_they_know(people, bound, low, high):
    found = solved_count(asked(dl.Records(people, alphabet=2), dl.EntropyAtLeast(bound, "nats")))
    assert low <= found.lower <= found.upper <= high


def test_any_prior_at_all_is_told_what_the_farthest_counts_tell():
    """With weak noise less than a bit; the window has every count of 5,000 people."""
    found = solved_count(asked(dl.Records(5_000, alphabet=2), dl.AnyPrior(), dl.geometric("1/1000")))
    assert found.gap <= 1e-6
    rows = dl.geometric("1/1000").channel(np.array([0, 5_000]))
    mean = rows.mean(axis=0)
    assert found.lower <= float(np.sum(rows[0] * np.log2(rows[0] / mean))) + 1e-12
    assert float(np.sum(rows[0] * np.log2(rows[0] / mean))) <= found.upper + 1e-12


def test_three_letters_are_told_apart_by_far_counts():
    found = solved_count(asked(dl.Records(100_000, alphabet=3), dl.EntropyAtLeast("0.9 max")))
    assert math.log2(3) - 1e-9 <= found.lower <= found.upper <= math.log2(3) + 1e-9


@pytest.mark.parametrize("bound", thinned(["29 bits", "29.9 bits", "10 bits", "0 nats"], 4))
def test_a_count_of_thirty_as_if_it_were_wide(monkeypatch, bound):
    """The window has every count, so that the search finds what the whole channel tells; and no bound is below it."""
    question = asked(dl.Records(30, alphabet=2), dl.EntropyAtLeast(bound, "nats"))
    run = Run.of(Limits(gap=0.2, time_limit=60))
    written = search(record_channels(question)[0], rng=np.random.default_rng(1), clock=run.clock, starts=6)
    monkeypatch.setattr("dalenius.model.problems.large.MAX_ENTRIES", 100)
    audit = audit_of(replace(question), run)
    audit.run()
    assert isinstance(audit, WideAudit)
    assert 0.9999 * written.leakage <= audit.lower <= audit.upper + 1e-12
    assert written.leakage <= audit.upper + 1e-9
