"""What bounds boxes of priors from above: nodes with symmetries, work in time, groups of outputs, letters alone."""

import math
from itertools import permutations

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each, thinned
from clocks import Looks
from dalenius.audits import ascent
from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.dual_node import Aim, ConditionalCut, DualNode, NodeWork, clusters
from dalenius.audits.bounds.dual_tree import RowProblems
from dalenius.audits.bounds.dual_work import DualWork, Goal, Turn
from dalenius.audits.bounds.output_groups import OutputGroups
from dalenius.audits.bounds.row_boxes import RowBox, RowProblem
from dalenius.audits.bounds.row_search import Row, RowTree
from dalenius.audits.bounds.rows import RowSolver
from dalenius.audits.bounds.separate import separate_bound
from dalenius.information import x_log_x
from dalenius.information.deadline import TimeIsOverError
from dalenius.reduction import RecordSymmetries, record_channels
from dalenius.search import Clock
from dalenius.search.tree import Branch

SIZE = 3


@pytest.fixture(scope="module")
def record():
    question = support.problem(dl.Records(3, alphabet=SIZE), dl.ModularSum(SIZE), dl.symmetric("0.2"), "0.9 max")
    channel = record_channels(question)[0]
    return channel, RowProblems.of(channel, RecordSymmetries.of(question, channel))


def root(record) -> DualNode:
    problems = record[1]
    rows = [Row(problems.low[a], problems.high[a], np.zeros(SIZE), problems.chamber(a)) for a in range(SIZE)]
    trees = [rows[first] for first, _ in problems.sources]
    law = np.full(SIZE, 1.0 / SIZE)
    uncut = np.unique([problems.low, problems.high])
    return DualNode(problems.low, problems.high, uncut, trees, law, 0.1, problems.symmetries, problems.sources)


def cut(node, letter, output, threshold, side) -> ConditionalCut:
    return ConditionalCut(letter, output, threshold, side, *node.symmetries.orbit(letter, output, SIZE))


def inside(node, K) -> bool:
    return bool(np.all(node.low <= K) and np.all(node.high >= K))


@pytest.mark.parametrize(("side", "threshold"), [("above", 0.6), ("below", 0.12)])
def test_some_image_of_every_table_is_in_a_part(record, side, threshold):
    channel, problems = record
    node, rng = root(record), np.random.default_rng(4)
    first = cut(node, 0, 0, threshold, side)
    assert first.orbit.all()
    parts = [node.part(channel, problems.symmetries, first, below=below) for below in (True, False)]
    second = cut(parts[0], 1, 1, 0.3, side)
    parts += [parts[0].part(channel, problems.symmetries, second, below=below) for below in (True, False)]
    moved, met = list(permutations(range(SIZE))), list[list[bool]]()
    for _ in range(60):
        K = rng.dirichlet(np.ones(SIZE), size=SIZE) @ channel.rows
        images = [K[np.ix_(a, y)] for a in moved for y in moved]
        met.append([any(inside(part, image) for image in images) for part in parts])
    low, high, low_low, low_high = np.array(met).T
    assert np.all(low | high)
    assert np.array_equal(low, low_low | low_high)
    assert 0 < np.sum(low) < 60 or 0 < np.sum(high) < 60  # neither part would do alone


def test_what_a_part_keeps_of_symmetries_and_row_trees(record):
    channel, problems = record
    node = root(record)
    below = node.part(channel, problems.symmetries, cut(node, 0, 0, 0.4, "above"), below=True)
    assert len(below.symmetries.triples) == len(node.symmetries.triples)
    assert len({id(tree) for tree in below.trees}) == 1
    above = node.part(channel, problems.symmetries, cut(node, 0, 0, 0.4, "above"), below=False)
    assert 0 < len(above.symmetries.triples) < len(node.symmetries.triples)
    assert above.symmetries.outputs(SIZE).tolist() == [0, 1, 1]
    assert len({id(tree) for tree in above.trees}) == 2
    again = cut(above, 1, 1, 0.4, "above")
    assert again.orbit.tolist() == [[False] * 3, [False, True, True], [False, True, True]]
    both = above.part(channel, problems.symmetries, again, below=False)
    assert both.sources[1][0] == 0  # the letters with K_0(0) >= 0.4 and K_1(1) >= 0.4 are images of each other again
    assert both.sources[1][1] is not None
    assert len({id(tree) for tree in both.trees}) == 2


def test_an_orbit_of_one_cell_is_a_plain_cut(record):
    node, problems = root(record), record[1]
    alone = problems.symmetries.within(node.low + 1e-3 * np.arange(9).reshape(3, 3), node.high)
    orbit, triples = alone.orbit(1, 2, SIZE)
    assert triples == ()
    assert orbit.sum() == 1


def test_a_threshold_is_that_of_another_cut_but_never_an_end_of_the_channel(record):
    """Ends of the whole channel stand for exact numbers; the certificate says thresholds in digits."""
    channel, problems = record
    node = root(record)
    end = float(node.uncut[0])
    part = node.part(channel, problems.symmetries, cut(node, 0, 0, 0.3, "above"), below=True)
    assert {end, 0.3} <= {*part.high.flat, *part.low.flat}
    for box, less, more, wanted in [
        (part, 0.25, 0.36, 0.3),
        (part, 0.2, 0.22, 0.21),
        (node, end - 0.06, end + 0.05, end - 0.005),
        (node, end - 0.05, end + 0.05, np.nextafter(end, 1.0)),
    ]:
        work = NodeWork(Aim(channel, 0.0, 1e-3, 6, np.inf), box, Clock(60.0))
        assert work._threshold(0.0, 0.9, less, more) == pytest.approx(wanted, abs=0.006)
        assert work._threshold(0.0, 0.9, less, more) not in node.uncut


def test_two_clusters():
    values, weights = np.array([0.25, 0.33, 0.26, 0.34]), np.array([0.5, 0.01, 0.48, 0.01])
    less, more = clusters(values, weights)
    assert less == pytest.approx((0.5 * 0.25 + 0.48 * 0.26) / 0.98)
    assert more == pytest.approx(0.335)
    assert clusters(np.array([0.3]), np.array([1.0])) == (pytest.approx(0.3), pytest.approx(0.3))


# The dual bound as work: what all letters need before there is a bound is left at the first look after the time is over.


def test_letters_are_left_where_the_time_is_over():
    wide = support.problem(dl.Records(3, alphabet=7), dl.Sum(), dl.discrete_laplace(scale=5), "0.9 max")
    channel = record_channels(wide)[0]
    goal = Goal(tolerance=0.1, enough=0.1, useless=np.inf, decimals=9)
    candidate, symmetries = Candidate(channel.uniform, 0.0, 0.3), RecordSymmetries.of(wide, channel)

    def bound(until: Looks) -> float:
        work = DualWork(channel, candidate, symmetries, goal, clock=Clock(), until=until)
        work.run(Turn(may_grow=lambda trees, least: False))
        return work.bound.upper

    whole = Looks(10**6)
    upper = bound(whole)
    looks = 10**6 - whole.left
    assert looks > 5 * channel.letters
    for left in range(0, looks, 41):
        until = Looks(left)
        with pytest.raises(TimeIsOverError):
            bound(until)
        assert until.late == 1
    assert bound(Looks(looks)) == upper


@each("seconds", 0.005, 0.02, 0.1)
def test_an_audit_without_a_dual_bound_has_an_interval(support, seconds):
    """Whatever was not begun in time: the letters bound the leakage."""
    households = support.problem(
        dl.Records(100, alphabet=25), dl.Sum(), dl.discrete_laplace(scale=10), dl.IndependentBlocks(2)
    )
    assert support.solve(households, gap=1e-6, time_limit=seconds).upper <= np.log(25) + 1e-12


# Row problems in groups: what merging outputs loses, what cuts close, and bounds against brute force.


ROUNDING = 1e-11


def instance(seed: int, outputs: int = 12):
    """A random row problem of five classes: rows, log masses, an output law, beta, and laws on the classes, good ones among them."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(outputs, rng.choice([0.3, 1.0, 5.0])), size=5)
    if seed % 3 == 0:  # a smooth channel, as counts have
        rows = np.exp(-rng.uniform(0.1, 1.0) * np.abs(np.arange(outputs) - np.linspace(0, outputs - 1, 5)[:, None]))
        rows /= rows.sum(axis=1, keepdims=True)
    log_masses = np.log(rng.dirichlet(np.ones(5)))
    law, beta = rng.dirichlet(np.full(outputs, 5.0)), float(rng.uniform(0.05, 0.8))
    laws = np.vstack([np.eye(5), rng.dirichlet(np.full(5, 0.5), size=200)])
    for _ in range(100):  # convex-concave steps: towards local maxima
        weight = log_masses + (np.log(np.maximum(laws @ rows, 1e-300)) - np.log(law)) @ rows.T / beta
        laws = np.exp(weight - weight.max(axis=1, keepdims=True))
        laws /= laws.sum(axis=1, keepdims=True)
    laws = np.vstack([laws, np.eye(5), rng.dirichlet(np.full(5, 0.5), size=200)])
    return rows, log_masses, law, beta, laws


def attained(rows, log_masses, law, beta, laws):
    """The row problem's values."""
    K = laws @ rows
    return x_log_x(K).sum(axis=1) - K @ np.log(law) + beta * (laws @ log_masses - x_log_x(laws).sum(axis=1))


def problem_of(rows, log_masses, law, beta, laws) -> RowProblem:
    return RowProblem(OutputGroups.of(rows, laws[:1]), log_masses, law, beta, decimals=9)


def covers(problem: RowProblem, box: RowBox, laws) -> np.ndarray:
    """Which laws have every K_g in the box, those of coarser groups included."""
    low, high = box.all_ranges()
    K = laws @ problem.columns(box)
    return np.all((low - ROUNDING <= K) & (high + ROUNDING >= K), axis=1)


@each("seed", *range(6))
def test_groups_are_partitions_and_lose_what_they_say(seed):
    rows, *_, laws = instance(seed)
    groups = OutputGroups.of(rows, laws[:1])
    for partition in (groups.singles, groups.partition(1), groups.partition(5), groups.first_partition(1e-3)):
        assert sorted(y for g in partition for y in groups.outputs(g)) == list(range(12))
        which = np.array(partition)
        assert np.allclose(groups.columns[:, which].sum(axis=1), 1.0)
        for w in laws[:20]:
            merged = x_log_x(w @ groups.columns[:, which]).sum() + w @ groups.corrections[:, which].sum(axis=1)
            loss = merged - x_log_x(w @ rows).sum()
            assert loss >= -ROUNDING
            assert loss == pytest.approx(groups.lost(which, w).sum(), abs=1e-10)


def test_proportional_outputs_are_merged_for_nothing():
    shares = np.repeat(np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]), 4, axis=1) * np.tile([0.1, 0.2, 0.3, 0.4], 3)
    groups = OutputGroups.of(shares[:, np.random.default_rng(0).permutation(12)], np.array([[0.3, 0.7]]))
    assert groups.loss[list(groups.partition(3))].sum() == pytest.approx(0.0, abs=1e-12)


@each("seed", *range(draws(6, 100)))
def test_bounds_of_all_leaves_hold_and_leaves_cover(seed):
    given = instance(seed, outputs=4 + seed % 12)
    values, problem, laws = attained(*given), problem_of(*given), given[-1]
    room = (1e-3, 0.3)[seed % 2]
    tree = RowTree(problem, float(values.max()) + room, room)
    assert tree.upper >= values.max() - ROUNDING
    for _ in range(30):
        before = tree.upper
        if not tree.branch(4, above=tree.target):
            break
        assert values.max() - ROUNDING <= tree.upper <= before
    written = np.zeros(len(laws), dtype=bool)
    for box, _ in tree.proof().values():
        written |= covers(problem, box, laws)
    assert written.all()
    covered = np.zeros(len(laws), dtype=bool)
    for node in tree.preorder():
        if not isinstance(node, Branch):
            inside = covers(problem, node.content, laws)
            assert np.all(values[inside] <= node.bound + ROUNDING)
            covered |= inside
    assert covered.all()


# The dual bound one output at a time: against maxima over laws by many starts, and where it closes what trees cannot.


RNG = np.random.default_rng(256)


def value(law, log_uniform, slope, stay, change, outputs):
    """One letter's part of the dual bound at a law on its outputs, an output law beside it."""
    K = change + (stay - change) * law
    there = law > 0
    entropy = float((law[there] * (log_uniform[there] - np.log(law[there]))).sum())
    return float((K * np.log(K / outputs)).sum()) + slope * entropy


@pytest.mark.parametrize("flip", thinned(["0.1", "0.5", "0.97"], every=2))
def test_no_law_is_above_a_letters_bound(flip):
    size, letters = 12, 3
    stay, change = 1 - float(flip), float(flip) / (size - 1)
    log_uniform = np.log(RNG.dirichlet(np.full(size, 3.0), size=letters) / letters)
    log_uniform[0, 3] = -np.inf
    outputs = RNG.dirichlet(np.full(size, 3.0))
    bound = separate_bound(log_uniform, 0.6, stay, change, outputs, Clock(60.0))
    assert bound is not None
    best = np.full(letters, -np.inf)
    for a in range(letters):
        there = np.isfinite(log_uniform[a])
        for draw in range(draws(100, 300)):
            law = np.where(there, RNG.dirichlet(np.full(size, (0.05, 0.3, 2.0)[draw % 3])), 0.0) + 1e-12 * there
            best[a] = max(best[a], value(law / law.sum(), log_uniform[a], bound.slope, stay, change, outputs))
    assert (bound.slope * (np.log(np.exp(best / bound.slope).sum()) + 0.6)) <= bound.upper + 1e-9


@pytest.mark.parametrize(("modulus", "upper"), [(16, 1.14834093), (256, 2.40799700)])
def test_secure_sums(modulus, upper):
    """Half a letter's entropy is known: from above, and by a prior that the audit finds, within 1e-4 and 3e-4."""
    alike = np.full((modulus, modulus), -2.0 * math.log(modulus))
    bound = separate_bound(alike, 0.5 * math.log(modulus), 0.9, 0.1 / (modulus - 1), np.ones(modulus), Clock(60.0))
    assert bound is not None
    assert bound.upper == pytest.approx(upper, abs=1e-6)


def test_a_secure_sum_of_bits_is_told_by_the_law_of_its_worst_prior():
    """The uniform output law is above log 2; that of what nobody knows anything of leaves a tenth."""
    sums = dl.ModularSum(64)
    problem = support.problem(dl.Records(40, alphabet=2), sums, dl.symmetric(0.1, k=64), "0.99 max")
    channel = record_channels(problem)[0]
    witness = ascent.search(channel, rng=np.random.default_rng(0), clock=Clock(), starts=1)
    laws = [channel.uniform.sum(axis=0) @ channel.rows, witness.p.sum(axis=0) @ channel.rows]
    bounds = [
        separate_bound(channel.completions.log_uniform, channel.max_knowledge, 0.9, 0.1 / 63, law, Clock())
        for law in (np.ones(64), *laws)
    ]
    flat, plain, best = (bound.upper for bound in bounds if bound is not None)
    assert witness.leakage <= best + 1e-9
    assert best <= 1.0001 * witness.leakage < plain <= 1.1 * witness.leakage
    assert flat > math.log(2)


def test_an_output_that_is_never_wrong_has_no_such_bound():
    assert separate_bound(np.zeros((2, 2)), 0.1, 1.0, 0.0, np.ones(2), Clock(60.0)) is None


def test_boxes_that_a_clock_leaves_no_time_for_have_no_multipliers():
    """They had minutes between two looks at the clock, of sums modulo 256."""

    class Late:
        remaining = 0.0
        expired = True

    size = 64
    rows, low = np.full((size, size), 0.1 / (size - 1)), np.zeros((2000, size))
    np.fill_diagonal(rows, 0.9)
    asked = []

    def solve(rows, log_masses, base, low, high, beta, enough=None):
        asked.append(len(base))
        return np.ones_like(base)

    nu = RowSolver(solve=solve, clock=Late())(rows, np.zeros(size), low, low, low + 0.5, 1.0)
    assert asked == [nu[:, 0].sum()]
    assert 0 < asked[0] < 2000


def test_the_secure_sum_of_the_tracker_closes():
    question = support.problem(dl.Records(100, alphabet=16), dl.ModularSum(16), dl.symmetric("0.1"), "0.995 max")
    result = dl.solve(question, gap=1e-4)
    assert result.gap <= 1e-4
    assert [proof.method for proof in result.records] == ["separate"]
    assert dl.verify(question, result.certificate).proved
