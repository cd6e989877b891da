"""The conditional block: bounds for all conditional laws at once, letter law given, against listed and random ones."""

import itertools

import numpy as np
import pytest

import dalenius as dl
from campaigns import each, thinned
from dalenius.alternating.leakage_scheme import best_selection, bounded
from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.dual_node import Aim
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.dual_work import DualWork, Goal, Turn
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.information import mutual_information
from dalenius.reduction import RecordSymmetries, record_channels
from dalenius.search import Clock

QUESTIONS = {
    "two letters": {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "mechanism": dl.geometric(1.0, range=3)},
    "three letters": {
        "records": dl.Records(2, alphabet=3),
        "query": dl.Sum(),
        "mechanism": dl.exponential(1.0, range=4),
    },
}


def channel(question, bound="0.7 max"):
    return record_channels(dl.WorstCaseLeakage(**QUESTIONS[question], adversary=dl.EntropyAtLeast(bound, "nats")))[0]


def informed(record, p):
    return float(mutual_information(p @ record.rows))


def priors(record, pi, rng, entropies, count=400):
    """Random ones with this letter law and enough entropy."""
    uniform = record.uniform / record.uniform.sum(axis=1, keepdims=True)
    for _ in range(count):
        w = np.array([rng.dirichlet(row * rng.choice([0.5, 3.0, 30.0]) + 1e-12) for row in uniform])
        p = pi[:, None] * (w * (uniform > 0.0)) / (w * (uniform > 0.0)).sum(axis=1, keepdims=True)
        if np.sum(entropies(p, record.log_uniform)) >= -record.max_knowledge:
            yield p


@each("question", *QUESTIONS)
def test_the_best_selection_is_the_best_of_a_list(question):
    record, rng = channel(question), np.random.default_rng(1)
    classes = [np.flatnonzero(np.isfinite(row)) for row in record.log_uniform]
    for _ in range(5):
        pi = rng.dirichlet(np.ones(record.letters))
        p, upper = best_selection(record, pi)
        listed = [informed_by_rows(pi, record.rows[list(chosen)]) for chosen in itertools.product(*classes)]
        assert upper == pytest.approx(max(listed), abs=1e-14)
        assert informed(record, p) == pytest.approx(upper, abs=1e-14)
        assert p.sum(axis=1) == pytest.approx(pi, abs=1e-15)


def informed_by_rows(pi, rows):
    return float(mutual_information(pi[:, None] * rows))


@pytest.mark.parametrize("question", thinned(QUESTIONS, every=2))
def test_trees_for_a_given_letter_law_bound_every_prior_that_has_it(question, instances):
    """And are below the bounds of the same trees where the adversary chooses the letter law, too; a prior attains the first."""
    record, rng = channel(question), np.random.default_rng(2)
    pi = rng.dirichlet(np.full(record.letters, 3.0))
    tried = [informed(record, p) for p in priors(record, pi, rng, instances.entropies)]
    assert len(tried) > 50
    clock = Clock()
    goal = Goal(tolerance=0.0, enough=np.inf, useless=-np.inf, decimals=9)
    work = DualWork(record, Candidate(record.uniform, 0.0, 0.3), RecordSymmetries.none(record), goal, clock=clock)
    work.run(Turn(may_grow=lambda trees, least: False))
    for given in (pi, None):
        dual = DualTree(Aim(record, 0.0, wanted=1e-3, decimals=9, most=150, pi=given), work.bound)
        posterior = PosteriorTree(PosteriorRelaxation(record, pi=given), 0.3, target=0.0)
        while dual.leaves < 100:
            dual.grow(clock)
        while posterior.leaves < 300:
            posterior.grow(clock)
        uppers = [dual.upper, posterior.upper]
        assert min(uppers) >= max(tried)
        if given is not None:
            mine = uppers
    assert mine[0] < dual.upper
    assert mine[1] < posterior.upper


def test_an_interval_of_the_block(instances):
    """It closes, its lower end has the letter law and enough entropy, and no random choice passes its upper end."""
    record, rng = channel("two letters"), np.random.default_rng(3)
    pi = np.array([0.3, 0.7])
    start = next(priors(record, pi, rng, instances.entropies))
    found = bounded(record, start, 0.1, lambda p: p, gap=0.2, enough=np.inf, leaves=500, clock=Clock())
    assert found.p.sum(axis=1) == pytest.approx(pi)
    assert found.value == informed(record, found.p) >= informed(record, start)
    assert all(informed(record, p) <= found.upper for p in priors(record, pi, rng, instances.entropies))
    assert bounded(record, start, 0.1, lambda p: p, gap=0.2, enough=0.0, leaves=500, clock=Clock()).upper < np.inf
