"""Nodes of the dual tree: what an orbit cut covers, which row trees its parts keep, and where copies are parted."""

from itertools import permutations

import numpy as np
import pytest

import dalenius as dl
from dalenius.audits.bounds.dual_node import Aim, ConditionalCut, DualNode, NodeWork, clusters
from dalenius.audits.bounds.dual_tree import RowProblems
from dalenius.audits.bounds.row_search import Row
from dalenius.reduction import RecordSymmetries, record_channels
from dalenius.search import Clock

SIZE = 3


@pytest.fixture(scope="module")
def record():
    question = dl.WorstCaseLeakage(
        records=dl.Records(3, alphabet=SIZE),
        query=dl.ModularSum(SIZE),
        mechanism=dl.symmetric("0.2"),
        adversary=dl.EntropyAtLeast("0.9 max"),
    )
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
