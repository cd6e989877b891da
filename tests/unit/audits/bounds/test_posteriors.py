"""Boxes of posteriors of groups of outputs: every prior is in the leaf that the cuts lead to, and leaks no more than its bound."""

from dataclasses import replace

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.audits.bounds import posteriors
from dalenius.audits.bounds.box_slopes import SlopeProgram
from dalenius.audits.bounds.posterior_groups import PosteriorGroups
from dalenius.audits.bounds.posteriors import PosteriorBoxes, PosteriorRelaxation, PosteriorTree
from dalenius.information import mutual_information
from dalenius.information.tilt import entropy_of
from dalenius.reduction import RecordChannel, record_channels
from dalenius.search.clock import Clock
from dalenius.search.tree import Branch, Leaf


def random_channel(rng, letters):
    """Twelve outputs, some of them nearly proportional; a letter need not have all classes."""
    rows = np.exp(np.cumsum(0.3 * rng.normal(size=(6, 12)), axis=1))
    log_uniform = np.log(rng.dirichlet(np.ones(6 * letters))).reshape(letters, 6)
    log_uniform[0, 0] = -np.inf
    return RecordChannel(0, 1, log_uniform, rows / rows.sum(axis=1, keepdims=True), 2.0)


def priors(rng, channel, size):
    """Masses near the uniform prior and far from it, with enough entropy."""
    p = rng.gamma(rng.choice([0.2, 1.0, 20.0], size=(size, 1, 1)), size=(size, *channel.log_uniform.shape))
    p = p * channel.uniform / (p * channel.uniform).sum(axis=(1, 2), keepdims=True)
    return p[entropy_of(p, channel.log_uniform) >= -channel.max_knowledge]


def posterior(p, rows):
    u = p @ rows
    return u / u.sum(axis=-2, keepdims=True)


@pytest.mark.parametrize("letters", [2, 3])
def test_groups_lose_no_more_than_they_cost_and_neighbours_narrow_no_prior_away(letters):
    rng = np.random.default_rng(letters)
    narrower = 0
    for _ in range(5):
        channel = random_channel(rng, letters)
        p = priors(rng, channel, 200)
        groups = PosteriorGroups.of(channel, (p[0],), 1e-3, 5)
        assert sorted(y for group in groups.members for y in group) == list(range(12))
        assert (5,) in groups.members
        costs = np.sum(p, axis=1) @ groups.costs
        lost = np.array([mutual_information(x @ channel.rows) - mutual_information(x @ groups.rows) for x in p])
        assert np.all(lost <= costs + 1e-12)
        phi = posterior(p, groups.rows)
        ends = (np.where(rng.random(phi.shape) < 0.5, phi, end) for end in (0.0, 1.0))
        low, high = ends
        least, most = groups.narrowed(low, high)
        assert np.all((least <= phi + 1e-12) & (phi <= most + 1e-12))
        narrower += np.sum(least > low + 0.01) + np.sum(most < high - 0.01)
    assert narrower > 1000


def test_the_cuts_lead_every_prior_to_a_leaf_that_has_it():
    problem = support.problem(dl.Records(10, alphabet=2), dl.Count(), dl.geometric("0.5"), "0.9 max")
    (channel, *_) = record_channels(problem)
    groups = PosteriorGroups.of(channel, (channel.uniform,), 0.0)
    target = 0.26
    tree = PosteriorTree(PosteriorRelaxation(channel, groups=groups, decimals=7), 0.3, target=target)
    first = tree.upper
    while tree.upper > target and tree.grow(Clock(60.0)):
        pass
    assert tree.upper <= target < first
    assert tree.leaves == sum(isinstance(node, Leaf) for node in tree.tree.nodes.values()) < 200
    for p in priors(np.random.default_rng(0), channel, 300):
        phi, number = posterior(p, groups.rows)[1], 0
        while isinstance(node := tree.tree.nodes[number], Branch):
            coordinate, threshold = node.cut
            number = node.parts[0 if phi[coordinate] <= threshold else 1]
        assert np.all((node.content.low <= phi) & (phi <= node.content.high))
        assert mutual_information(p @ channel.rows) <= node.bound + 1e-12


def test_boxes_of_which_few_ends_close_are_halved_at_once(monkeypatch):
    problem = support.problem(dl.Records(9, alphabet=2), dl.Count(), dl.geometric("1", range=9), "0.9 max")
    (channel,) = record_channels(problem)
    monkeypatch.setattr(posteriors, "ASKED", 16)
    monkeypatch.setattr(PosteriorBoxes, "_closed_ends", lambda *_: [])
    relaxation = PosteriorRelaxation(channel)
    boxes = PosteriorBoxes(relaxation, *relaxation.root(0.1))
    while (asked := boxes._asked) < 16:
        boxes.branch(64, above=0.3)
        assert boxes._asked > asked
    leaves = boxes.leaves
    boxes.branch(64, above=0.3)
    assert boxes._asked == asked
    assert boxes.leaves > leaves
    boxes._closed = boxes._asked  # had they closed
    boxes.branch(64, above=0.3)
    assert boxes._asked > asked


def test_groups_are_too_coarse_where_a_prior_leaves_no_room_for_what_they_lose():
    """However little the bound is above the target: smaller boxes have other points."""
    problem = support.problem(dl.Records(10, alphabet=2), dl.Count(), dl.geometric("0.5"), "0.9 max")
    channel = record_channels(problem)[0]
    groups = PosteriorGroups.of(channel, (channel.uniform,), 1e-2)
    tree = PosteriorTree(PosteriorRelaxation(channel, groups=groups), 0.3, target=0.26)
    p = priors(np.random.default_rng(0), channel, 300)[0]
    tree.point, lost, leakage = p, groups.lost(p), mutual_information(p @ channel.rows)
    assert lost > 1e-4
    tree.target = leakage + lost
    assert tree.coarse
    tree.target = leakage + 2.0 * lost
    assert tree.upper > tree.target
    assert not tree.coarse
    tree.target = tree.upper - 0.1 * lost
    assert not tree.coarse


@pytest.mark.parametrize("fixed", [None, 0.3])
def test_boxes_that_stay_open_are_solved_to_a_share_of_what_they_are_above_the_target(fixed):
    """Boxes that close do so whatever the target is; a multiplier that is fixed at a box's best one gives the best bound."""
    problem = support.problem(dl.Records(16, alphabet=2), dl.Count(), dl.geometric("0.3"), "0.95 max")
    channel = record_channels(problem)[0]
    groups = PosteriorGroups.of(channel, (channel.uniform,), 1e-3)
    rng = np.random.default_rng(0)
    phi = posterior(priors(rng, channel, 40), groups.rows)[:, 1]
    low, high = (np.clip(phi + side * rng.random(phi.shape) * 0.3, 0.0, 1.0) for side in (-1.0, 1.0))

    def relaxed(target, fixed, some=slice(None)):
        relaxation = PosteriorRelaxation(channel, groups=groups, multiplier=fixed)
        relaxation.target = target
        return relaxation(low[some], high[some], np.tile(relaxation.root(0.3)[2], (len(low[some]), 1)))

    roughly, best = relaxed(0.1, fixed).bounds, relaxed(-np.inf, fixed)
    above = best.bounds > 0.1
    assert np.array_equal(roughly > 0.1, above)
    assert np.sum(above) > 5
    assert np.all(np.abs(roughly - best.bounds)[above] <= 0.08 * (best.bounds - 0.1)[above] + 1e-6)
    assert np.any(roughly[above] > best.bounds[above] + 1e-6)
    for j in np.flatnonzero(above)[:5] if fixed is None else ():
        (bound,) = relaxed(-np.inf, float(best.hints[j, -1]), slice(j, j + 1)).bounds
        assert bound == pytest.approx(best.bounds[j], abs=1e-6)


def test_boxes_that_are_halved_take_few_steps(monkeypatch):
    """Ten a leaf, from where the parents' lines are: an interior-point method took 21."""
    problem = support.problem(dl.Records(6, alphabet=2), dl.Count(), dl.geometric("0.5", range=6), "0.9 max")
    (channel,) = record_channels(problem)
    steps, step = list[int](), SlopeProgram.step
    monkeypatch.setattr(SlopeProgram, "step", lambda self, boxes, *a: steps.append(len(a[1])) or step(self, boxes, *a))
    tree = PosteriorTree(PosteriorRelaxation(channel, decimals=6), 0.2, target=0.14366)
    while tree.upper > tree.target:
        assert tree.grow(Clock(60.0))
    assert 700 <= tree.leaves <= 900
    assert tree.leaves <= sum(steps) <= 12 * tree.leaves


@pytest.mark.parametrize(("people", "target", "most"), [(4, 0.09, 0.975), (10, 0.2, 1.05)])
def test_boxes_are_taken_over_by_a_mixture_with_a_constant(people, target, most):
    """A twentieth is constant. Every prior is in a leaf that bounds it; groups of ten people's outputs narrow each other less then."""
    counts = dl.Records(people, alphabet=2), dl.Count()
    (channel,) = record_channels(support.problem(*counts, dl.geometric("0.5", range=people), "0.9 max"))
    groups = PosteriorGroups.of(channel, (channel.uniform,), 1e-3)
    tree = PosteriorTree(PosteriorRelaxation(channel, groups=groups, decimals=7), 0.3, target=target)
    while tree.leaves < 300 and tree.grow(Clock(60.0)):
        pass
    share, constant = 0.05, np.eye(people + 1)[people // 2]
    mixed = replace(channel, rows=(1.0 - share) * channel.rows + share * constant)
    taken = tree.of_channel(mixed, mixed.uniform, None, tree.upper, Clock(60.0))
    assert taken.leaves == tree.leaves
    assert taken.upper <= most * tree.upper
    rows = mixed.rows if groups is None else taken.relaxation.groups.rows
    for p in priors(np.random.default_rng(0), mixed, 300):
        phi, number = posterior(p, rows)[1], 0
        while isinstance(node := taken.tree.nodes[number], Branch):
            coordinate, threshold = node.cut
            number = node.parts[0 if phi[coordinate] <= threshold else 1]
        assert mutual_information(p @ mixed.rows) <= node.bound + 1e-12
