"""The posterior tree's nodes: bounds as low as the conic optimum, above every prior in the box, and boxes that are always halved."""

from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, thinned
from clocks import Looks
from dalenius.audits.bounds.box_slopes import SlopeProgram
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.information import mutual_information
from dalenius.information.tilt import entropy_of
from dalenius.programs import NodeRelaxation
from dalenius.reduction import RecordChannel, record_channels
from dalenius.search.clock import Clock

BINDING, SLACK = 0.2, 6.0  # nats that the entropy may lack: little, and more than any prior here lacks


def channel_of(rows, log_uniform, max_knowledge):
    """The smallest channel with these numbers."""
    return RecordChannel(0, 1, log_uniform, rows[:, rows.any(axis=0)], max_knowledge)


def random_channel(rng, instances, max_knowledge):
    rows, log_uniform = instances.channel(rng)
    return channel_of(rows, log_uniform, max_knowledge)


def random_priors(rng, channel, size):
    """Masses on the pairs that exist, near the uniform prior or far from it, with enough entropy."""
    exists = np.isfinite(channel.log_uniform)
    p = rng.dirichlet(np.full(exists.sum(), rng.choice([0.2, 1.0])), size=size)
    full = np.zeros((size, *exists.shape))
    full[:, exists] = p
    for _ in range(60):
        poor = entropy_of(full, channel.log_uniform) < -channel.max_knowledge
        full = np.where(poor[:, None, None], 0.8 * full + 0.2 * channel.uniform, full)
    return full


def posterior(p, rows):
    """phi of priors (priors, letters, classes)."""
    u = p @ rows
    return u / np.maximum(u.sum(axis=1, keepdims=True), 1e-300)


def boxes_around(rng, channel, radius, size):
    """Random boxes with a prior in each."""
    relaxation = PosteriorRelaxation(channel)
    phi = posterior(random_priors(rng, channel, size), channel.rows)[:, relaxation.boxed].reshape(size, -1)
    low, high = phi - radius * rng.random(phi.shape), phi + radius * rng.random(phi.shape)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def bounds_of(relaxation, low, high):
    """From the hints that a tree starts with."""
    return relaxation(low, high, np.tile(relaxation.root(0.1)[2], (len(low), 1)))


def conic(channel, relaxation, low, high):
    full = [x[0] for x in relaxation._all_letters(low[None], high[None])]
    box = tuple(np.clip(x, 0.0, 1.0) for x in full)
    return NodeRelaxation(
        channel.rows, channel.log_uniform, -channel.max_knowledge, posterior=box, sides=("posterior",)
    ).solve()


@pytest.mark.parametrize("max_knowledge", [BINDING, 1.0, SLACK])
@pytest.mark.parametrize("radius", thinned([0.3, 0.03, 1e-3], every=2))
def test_a_node_is_as_low_as_the_conic_optimum(instances, max_knowledge, radius):
    """Within a millionth, binding or slack: the multipliers are the best ones."""
    rng = np.random.default_rng([int(1e3 * radius), int(max_knowledge)])
    for _ in range(draws(1, 5)):
        channel = random_channel(rng, instances, max_knowledge)
        relaxation = PosteriorRelaxation(channel)
        low, high = boxes_around(rng, channel, radius, 3)
        bounds = bounds_of(relaxation, low, high).bounds
        for bound, *box in zip(bounds, low, high, strict=True):
            answer = conic(channel, relaxation, *box)
            assert answer.lower - 1e-6 <= bound <= answer.upper + 1e-6


@pytest.mark.parametrize("classes", [40, 90])
def test_many_classes_with_few_outputs(classes):
    """Then Newton's matrix is solved by its small rank, which is less exact."""
    rng = np.random.default_rng(classes)
    for max_knowledge in (BINDING, SLACK):
        shares = np.log(rng.dirichlet(np.ones(2 * classes)).reshape(2, classes))
        channel = channel_of(rng.dirichlet(np.full(3, 0.5), size=classes), shares, max_knowledge)
        relaxation = PosteriorRelaxation(channel)
        low, high = boxes_around(rng, channel, 0.1, 3)
        for bound, *box in zip(bounds_of(relaxation, low, high).bounds, low, high, strict=True):
            answer = conic(channel, relaxation, *box)
            assert answer.lower - 1e-6 <= bound <= answer.upper + 2e-5


@pytest.mark.parametrize("max_knowledge", [BINDING, SLACK])
def test_no_prior_in_the_box_leaks_more(instances, max_knowledge):
    rng = np.random.default_rng(int(max_knowledge) + 7)
    inside = 0
    for _ in range(draws(10, 20)):
        channel = random_channel(rng, instances, max_knowledge)
        relaxation = PosteriorRelaxation(channel)
        low, high = boxes_around(rng, channel, 0.4, 4)
        bounds = bounds_of(relaxation, low, high).bounds
        priors = random_priors(rng, channel, 200)
        phi = posterior(priors, channel.rows)[:, relaxation.boxed].reshape(200, -1)
        occurs = np.tile((priors @ channel.rows).sum(axis=1) > 0.0, (1, len(relaxation.boxed)))
        for bound, *box in zip(bounds, low, high, strict=True):
            within = np.all(((phi >= box[0]) & (phi <= box[1])) | ~occurs, axis=1)
            inside += within.sum()
            assert all(mutual_information(p @ channel.rows) <= bound + 1e-12 for p in priors[within])
    assert inside > 50


def test_the_points_are_priors_in_the_box(instances):
    """Where the entropy bound matters: where it does not, they are whatever mixes classes that are as good."""
    rng, mattered = np.random.default_rng(3), 0
    for max_knowledge in (BINDING, BINDING, BINDING, SLACK):
        channel = random_channel(rng, instances, max_knowledge)
        relaxation = PosteriorRelaxation(channel)
        low, high = boxes_around(rng, channel, 0.1, 5)
        full = relaxation._all_letters(low, high)
        scores = np.zeros((5, *channel.log_uniform.shape))
        ranges = [x[:, relaxation.boxed].reshape(low.shape) for x in full]
        found = relaxation.program.solve(scores, *ranges, ranges[0], np.full(5, 0.1), target=-np.inf, tolerance=1e-9)
        assert np.allclose(found.p.sum(axis=(1, 2)), 1.0, atol=1e-12)
        assert np.all(found.p[:, ~np.isfinite(channel.log_uniform)] == 0.0)
        assert np.all(entropy_of(found.p, channel.log_uniform) >= -max_knowledge - 1e-6)
        matters = found.mu[:, 0] > 1e-6
        u = found.p[matters] @ channel.rows
        r = u.sum(axis=1, keepdims=True)
        assert np.all(u >= full[0][matters] * r - 1e-6)
        assert np.all(u <= full[1][matters] * r + 1e-6)
        mattered += matters.sum()
    assert mattered > 10


def test_a_box_without_priors_falls_below_any_target():
    """Two classes, nearly equal rows: no prior has posteriors that differ much between the outputs."""
    channel = channel_of(np.array([[0.5, 0.5], [0.49, 0.51]]), np.full((2, 2), -np.log(4.0)), SLACK)
    relaxation = PosteriorRelaxation(channel)
    for target in (0.5, 0.0, -100.0):
        relaxation.target = target
        assert bounds_of(relaxation, np.array([[0.9, 0.1]]), np.array([[0.95, 0.15]])).bounds[0] < target


def test_odd_numbers_cost_no_more_than_a_good_bound(instances):
    """Points as boxes, empty boxes, outputs that hardly occur, huge hints: bounds that hold, and no NaN."""
    rng = np.random.default_rng(5)
    rows = np.array([[0.5, 0.5, 1e-300], [0.2, 0.8 - 1e-12, 1e-12], [1.0, 0.0, 0.0]])
    channel = channel_of(rows, np.log(rng.dirichlet(np.ones(6))).reshape(2, 3), 1.0)
    relaxation = PosteriorRelaxation(channel)
    phi = posterior(random_priors(rng, channel, 1), channel.rows)[0, 1]
    low = np.array([phi, phi, np.zeros(3), np.full(3, 0.7), np.full(3, 1.0)])
    high = np.array([phi, phi + 1e-13, np.ones(3), np.full(3, 0.2), np.full(3, 1.0)])
    for hint in (0.1, 1e-12, 1e12):
        hints = np.tile(relaxation.root(hint)[2], (len(low), 1))
        hints[:, 0] = hint
        relaxed = relaxation(low, high, hints)
        assert not np.isnan(relaxed.bounds).any()
        assert not np.isnan(relaxed.hints).any()
        assert relaxed.bounds[3] == -np.inf
        assert relaxed.bounds[2] <= np.log(2.0) + 1e-6
        assert relaxation.point is not None
        assert np.isfinite(relaxation.point).all()


def test_parts_of_a_batch_change_nothing(instances, monkeypatch):
    rng = np.random.default_rng(6)
    channel = random_channel(rng, instances, BINDING)
    relaxation = PosteriorRelaxation(channel)
    low, high = boxes_around(rng, channel, 0.1, 9)
    together = bounds_of(relaxation, low, high).bounds
    monkeypatch.setattr("dalenius.audits.bounds.box_slopes.MOST_NUMBERS", 1)
    assert np.allclose(bounds_of(relaxation, low, high).bounds, together, atol=1e-8)


def test_points_that_there_is_no_time_for_are_bounds_all_the_same(instances, monkeypatch):
    """A look after every step of each part, as of large ones; bounds that are cut off are no worse than the parents', none too low."""
    monkeypatch.setattr("dalenius.audits.bounds.box_slopes.AT_ONCE", 0)
    rng = np.random.default_rng(6)
    channel = random_channel(rng, instances, BINDING)
    low, high = boxes_around(rng, channel, 0.1, 9)
    whole = Looks(10**6)
    best = bounds_of(PosteriorRelaxation(channel, clock=whole), low, high).bounds
    looks, relaxation = 10**6 - whole.left, PosteriorRelaxation(channel)
    relaxation.target = np.inf
    parents = bounds_of(relaxation, low, high).bounds
    assert looks > 5
    for left in range(0, looks, draws(3, 1)):
        until = Looks(left)
        found = bounds_of(PosteriorRelaxation(channel, clock=until), low, high).bounds
        assert until.late == 1
        assert np.all(found >= best - 1e-7)
        assert np.all(found <= parents)


def small_count() -> RecordChannel:
    """Three bits and their count; an adversary so strong that the entropy bound is slack in most boxes."""
    rows = [[5, 3, 1, 1], [1, 7, 2, 0], [0, 2, 7, 1], [1, 1, 3, 5]]
    question = support.problem(
        dl.Records(3, alphabet=2), dl.Count(), dl.Channel([[Fraction(x, 10) for x in row] for row in rows]), "0.3 max"
    )
    return record_channels(question)[0]


def test_the_tree_moves_where_the_entropy_bound_is_slack():
    """The capacity of the first and last row, 0.306699, is what the vertices find; the tree alone must come down to it."""
    target = 0.306699 * 1.001
    tree = PosteriorTree(PosteriorRelaxation(small_count(), decimals=6), 0.05, target=target)
    uppers = []
    while tree.leaves < 1000 and tree.grow(Clock(60.0)):
        uppers.append(tree.upper)
    assert 0.306698 <= tree.upper <= target
    assert tree.leaves < 300
    assert uppers == sorted(uppers, reverse=True)


@pytest.mark.parametrize("found", [None, 0], ids=["nothing", "one class"])
def test_boxes_above_the_target_are_branched_whatever_the_points_are(monkeypatch, found):
    """Points that are no numbers, or say that no secant errs: the largest bound still falls."""
    solve = SlopeProgram.solve

    def spoilt(self, *arguments, **options):
        points = solve(self, *arguments, **options)
        p = np.full_like(points.p, np.nan)
        if found is not None:
            p = np.zeros_like(p)
            p[:, 0, 0] = 1.0
        return type(points)(points.nu, points.mu, p)

    monkeypatch.setattr(SlopeProgram, "solve", spoilt)
    tree = PosteriorTree(PosteriorRelaxation(small_count(), decimals=6), 0.05, target=0.307)
    first = tree.upper
    while tree.leaves < 2000 and tree.grow(Clock(60.0)):
        pass
    assert tree.tree.closed == -np.inf
    assert tree.upper < first - 0.1
