"""Hundreds of random two-record models against a brute force that shares no code with the package.

The brute force is an ascent in the prior itself from ten thousand random starts: a few sweeps for all of them, many
for the best. Every prior it ends at is feasible, so what it leaks is a lower bound on the truth, and no proved upper bound may be
below it. Where an exhaustive search is possible (no entropy bound, a bound that does not bind, two bits), it replaces the ascent.
"""

import dataclasses
import importlib
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, thinned
from dalenius.audits import entropy_at_least, record_audit
from dalenius.audits.entropy_at_least import EntropyAudit
from definitions import information

SHAPES = {"2x8x4": (2, 8, 4), "3x6x3": (3, 6, 3), "4x4x3": (4, 4, 3), "2x10x6": (2, 10, 6)}  # letters, classes, outputs
INSTANCES = 100
BLOCK = 10
STARTS = 5_000  # for each of the two records
STRONG = 1e-4  # the brute force comes this close to every witness, or it would not be worth its name


def instance(support, shape: tuple[int, int, int], number: int, bound: str | None = None) -> dl.WorstCaseLeakage:
    """Two records, a random row for every dataset; the entropy bound between 30 and 95 % of the maximum unless given."""
    letters, classes, outputs = shape
    rng = np.random.default_rng([*shape, number])
    share = rng.integers(300, 951)
    counts = support.random_counts(rng, letters * classes, outputs, zeros=0.3 * (number % 3 == 2))
    channel = dl.Channel(support.exact_rows(counts), inputs="dataset")
    return support.problem([letters, classes], None, channel, bound or f"{share}e-3 max")


def brute_force(support, question, number: int) -> float:
    """Five thousand restarts for each of the two records."""
    return support.brute_force(question, np.random.default_rng(number), starts=STARTS)


def assert_not_beaten(result, best: float) -> None:
    """The upper bound is at least what the brute force found, up to the rounding of one mutual information."""
    assert result.lower <= result.upper
    assert best <= result.upper + 1e-12


def assert_attained(support, question, result) -> None:
    """The witness, evaluated in numpy: one dataset for each pair of letter and input, so its masses are a prior."""
    assert result.witness is not None  # else nothing but the trivial interval could be proved
    masses = result.witness.masses
    letters = support.letters_of(question, result.witness.record)
    prior = masses.sum(axis=0)
    assert np.all(masses >= 0.0)
    assert np.array_equal(masses[letters, np.arange(prior.size)], prior)
    assert prior.sum() == pytest.approx(1.0, abs=1e-12)
    assert support.entropy(prior) >= question.entropy_bound - 1e-12
    assert support.leakage(prior, letters, support.full_channel(question)) >= result.lower - 1e-12


@pytest.mark.thorough
@pytest.mark.parametrize("block", thinned(range(INSTANCES // BLOCK), every=10))
@pytest.mark.parametrize("name", thinned(SHAPES, every=4))
def test_no_upper_bound_is_below_ten_thousand_restarts(support, name, block):
    """One hundred instances of each shape, in blocks: an honest interval, a real witness, both records audited. Four of one daily."""
    for number in range(block * BLOCK, block * BLOCK + draws(4, BLOCK)):
        question = instance(support, SHAPES[name], number)
        # A short audit: whatever it proves has to hold
        result = dl.solve(question, gap=5e-2, time_limit=0.25)
        best = brute_force(support, question, number)
        assert_not_beaten(result, best)
        assert_attained(support, question, result)
        assert best >= (1.0 - STRONG) * result.lower
        assert sorted(part.record for part in result.records) == [0, 1]


@pytest.mark.parametrize("name", thinned(SHAPES, every=2))
def test_the_brute_force_finds_a_planted_wrong_upper_bound(support, name):
    """An upper bound one percent below the witness of a long audit is exceeded."""
    for number in range(draws(1, 3)):
        question = instance(support, SHAPES[name], number)
        result = dl.solve(question, gap=1e-2, time_limit=1.0)
        wrong = dataclasses.replace(result, lower=0.0, upper=0.99 * result.lower)
        with pytest.raises(AssertionError):
            assert_not_beaten(wrong, brute_force(support, question, number))


@pytest.mark.thorough
@pytest.mark.parametrize("name", thinned(SHAPES, every=2))
def test_the_brute_force_finds_a_solver_that_lies_while_the_checker_sleeps(support, name, monkeypatch):
    """All the way through `solve`: a blind search, upper bounds ten percent too low, and nobody to check them."""
    honest = EntropyAudit.run

    def lie(self):
        honest(self)
        for record in self.records:
            record.upper *= 0.9

    def blind(channel, **options):
        return entropy_at_least.Candidate(channel.uniform, 0.0, 0.1)

    def no_help(channel, p, best, **options):
        return best

    question = instance(support, SHAPES[name], 0)
    monkeypatch.setattr(EntropyAudit, "run", lie)
    monkeypatch.setattr(entropy_at_least, "search", blind)
    monkeypatch.setattr(record_audit, "polish", no_help)
    asleep = SimpleNamespace(proved=True, status=SimpleNamespace(value="proved"), reason="", allowed="", cause="")
    monkeypatch.setattr(importlib.import_module("dalenius._prove"), "verify", lambda *_, **__: asleep)
    result = dl.solve(question, gap=1e-2, time_limit=1.0)
    with pytest.raises(AssertionError):
        assert_not_beaten(result, brute_force(support, question, 0))


# ---------------------------------------------------------------- exhaustive searches


def best_selection(support, question) -> tuple[float, float, float]:
    """L_0 from both sides, by a list of all selections of one class a letter; and the entropy of the best one's prior."""
    rows = support.full_channel(question)
    low = high = spare = 0.0
    for record in range(len(question.records)):
        letters = support.letters_of(question, record)
        members = [np.flatnonzero(letters == a) for a in range(letters.max() + 1)]
        channels = rows[np.array(list(itertools.product(*members)))]
        lower, upper = support.capacities(channels, 60)
        channels = channels[upper >= lower.max()]
        lower, upper = support.capacities(channels, 1000)
        chosen = channels[np.argmax(lower)]
        law = np.full(len(chosen), 1.0 / len(chosen))
        for _ in range(20_000):
            law = law * np.exp(support.divergences(chosen, law @ chosen))
            law /= law.sum()
        if lower.max() > low:
            spare = support.entropy(law)
        low, high = max(low, lower.max()), max(high, upper.max())
    return float(low), float(high), spare


@pytest.mark.parametrize("number", thinned(range(3), every=3))
@pytest.mark.parametrize("name", thinned(SHAPES, every=4))
def test_exhaustive_search_without_an_entropy_bound_and_with_one_that_does_not_bind(support, name, number):
    """The best selection needs no more entropy than that of its letters, so every bound below this changes nothing."""
    low, high, spare = best_selection(support, instance(support, SHAPES[name], number))
    assert abs(high - low) <= 1e-4
    for bound in ("0 nats", f"{math.floor(900 * spare)}e-3 nats"):
        result = dl.solve(instance(support, SHAPES[name], number, bound), gap=1e-2, time_limit=10.0)
        assert result.lower <= high
        assert low <= result.upper
        assert result.gap <= 1e-2


def entropies(priors):
    return -np.sum(priors * np.log(np.maximum(priors, 1e-300)), axis=1)


def grid(support, question, *, fineness: int = 50, rounds: int = 20) -> float:
    """The largest leakage over a grid of all priors on four datasets, then over ever finer grids around the best of them.

    Priors of too little entropy are mixed with the uniform one until they have enough: so every prior on the bound lies on a ray
    through the grid.
    """
    rows, bound = support.full_channel(question), question.entropy_bound
    steps = np.array([s for s in itertools.product(range(fineness + 1), repeat=3) if sum(s) <= fineness])
    priors = np.column_stack([steps, fineness - steps.sum(axis=1)]) / fineness
    offsets = np.array(list(itertools.product(range(-2, 3), repeat=3)))
    offsets = np.column_stack([offsets, -offsets.sum(axis=1)])
    best = 0.0
    for record in range(2):
        letters, points, width = support.letters_of(question, record), priors, 0.5 / fineness
        for _ in range(rounds):
            low, high = np.zeros(len(points)), np.ones(len(points))
            for _ in range(45):
                middle = 0.5 * (low + high)
                enough = entropies(points + middle[:, None] * (0.25 - points)) >= bound
                low, high = np.where(enough, low, middle), np.where(enough, middle, high)
            feasible = np.where((entropies(points) >= bound)[:, None], points, points + high[:, None] * (0.25 - points))
            joint = np.stack([feasible[:, letters == a] @ rows[letters == a] for a in (0, 1)], axis=1)
            values = information(joint)
            best = max(best, values.max())
            points = (points[np.argsort(-values)[:40], None] + width * offsets).reshape(-1, 4)
            points = points[np.all(points >= 0.0, axis=1)]
            width *= 0.6
    return float(best)


@pytest.mark.parametrize("number", thinned(range(12), every=6))
def test_a_grid_over_all_priors_of_two_bits(support, number):
    """Two records of two letters, two outputs: no prior on the grid is above the interval, and the best is not below it."""
    question = instance(support, (2, 2, 2), number)
    result = dl.solve(question, gap=1e-3, time_limit=2.0)
    best = grid(support, question)
    assert_not_beaten(result, best)
    assert_attained(support, question, result)
    assert (1.0 - STRONG) * result.lower <= best
    assert result.gap <= 1e-3
