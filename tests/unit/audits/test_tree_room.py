"""What trees may take: each is counted by its own leaves and slopes, and a bound that would be written now by what it has."""

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.output_groups import OutputGroups
from dalenius.audits.bounds.row_boxes import RowProblem
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.record_audit import RecordAudit
from dalenius.audits.tree_room import NARROWED, TreeRoom
from dalenius.reduction import record_channels
from dalenius.search import Clock
from dalenius.search.run import Limits, Run
from dalenius.search.tree import Branch, Leaf


class LongRecord(RecordAudit):
    """Of a channel of a thousand classes and outputs, as far as the time of its check goes."""

    @property
    def work(self) -> int:
        return 1_000_000


def row_tree(rounds: int, below: float | None = None) -> RowTree:
    """Of a smooth channel of thirty outputs, grown a little; its leaves have ever fewer slopes for each partition.

    Its target is so much below its root's bound, or out of reach.
    """
    rows = np.exp(-0.1 * np.abs(np.arange(30) - np.linspace(0, 29, 6)[:, None]))
    rows /= rows.sum(axis=1, keepdims=True)
    groups = OutputGroups.of(rows, np.full((1, 6), 1 / 6))
    problem = RowProblem(groups, np.log(np.full(6, 1 / 6)), rows.mean(axis=0), 0.05, decimals=9)
    target = -9.0 if below is None else problem.bounded([problem.root(1.0)])[0].bound - below
    tree = RowTree(problem, target, room=1.0)
    for _ in range(rounds):
        assert tree.branch(4, above=-9.0)
    return tree


def record(leaves: int = 1) -> RecordAudit:
    """With a bound that has so many leaves, each with a hundredth of the slopes that there are outputs."""
    problem = support.problem(dl.Records(2, alphabet=2), dl.Count(), dl.geometric("1"), "0.9 max")
    (channel,) = record_channels(problem)
    return LongRecord(channel, Candidate(channel.uniform, 0.0, 0.1), 0.5, "dual", (), leaves=leaves, grouped=0.01)


def room(seconds: float, *records: RecordAudit) -> TreeRoom:
    clock = Clock(seconds, busy=-1e6)  # a processor that nobody else uses
    return TreeRoom(Run(Limits(), clock, np.random.default_rng(0)), 0.0, list(records))


def test_the_leaves_of_another_bound_are_not_checked_with_the_slopes_of_this_one(work_clock):
    """The last bound of a count of 1000 was refused with half of its time left: a new tree's one leaf is all partition."""
    tree, known = row_tree(0), record(2000)
    trees = room(60.0, known)
    assert trees.checking(known.rung._replace(grouped=tree.grouped)) > 60.0 > 10.0 > trees.checking_now
    assert trees.may_grow(trees.search.clock, known, tree, least=2000)
    assert not trees.late


def test_ranges_that_neighbours_narrow_are_paid_for(work_clock):
    """The best count of 8 had its proof cut off after all its time: a leaf of 9 ranges takes twice what was kept free."""
    known, kept = record(1000), record()
    trees, rung = room(60.0, known), known.rung._replace(ranges=9)
    assert trees.checking(rung) - trees.checking(known.rung) == pytest.approx(9000 * NARROWED, rel=0.01)
    kept.keep(0.4, "posterior", (), rung)
    assert kept.rung.ranges == kept.best_rung.ranges == 9


@pytest.mark.parametrize("own", [True, False])
def test_what_would_be_written_now_must_be_checked_in_time(own, work_clock):
    known = [record(30_000 if own else 1), record(1 if own else 30_000)]
    trees = room(50.0, *known)
    assert trees.checking_now > 51.0
    assert not trees.may_grow(trees.search.clock, known[0], row_tree(0))
    assert trees.late
    assert not trees.full


def test_a_turn_need_not_be_as_long_as_the_check_of_all_records(work_clock):
    known = [record(), record(3000)]
    trees = room(60.0, *known)
    assert trees.checking_now > 5.0
    assert trees.may_grow(trees.search.clock.slice(3.0), known[0], row_tree(0))
    assert not trees.may_grow(trees.search.clock.slice(0.05), known[0], row_tree(0))


def test_the_checks_of_all_records_are_within_the_time_together(work_clock):
    """Each of them fits alone."""
    tree = row_tree(5)
    alone, known = needed([record()], tree), [record(), record(2000)]
    assert needed(known, tree) == pytest.approx(alone + room(60.0, known[1]).checking_now, rel=0.01)


def test_another_bound_of_as_many_leaves_as_there_may_be_leaves_no_room(work_clock):
    trees = room(60.0)
    assert not trees.may_grow(trees.search.clock, record(), row_tree(0), least=trees.search.limits.nodes)
    assert trees.full
    assert not trees.late


def test_several_trees_are_checked_in_the_time_of_all(work_clock):
    """A leaf of the first says nothing about those of the second."""
    small, large = row_tree(0), row_tree(5)
    assert small.grouped > 1.2 * large.grouped
    alone = [needed([record()], tree) for tree in (small, large)]
    assert needed([record()], small, large) == pytest.approx(sum(alone), rel=0.01)


def needed(records: list[RecordAudit], *trees: RowTree) -> float:
    """The least time in which trees of the first record may grow."""
    low, high = 0.0, 600.0
    while high - low > 1e-3 * high:
        middle = 0.5 * (low + high)
        trial = room(middle, *records)
        may = trial.may_grow(trial.search.clock, records[0], *trees)
        low, high = (low, middle) if may else (middle, high)
    return high


def test_told_leaves_stay_as_they_are_written():
    tree = row_tree(8, below=0.2)
    closed = {number for number, node in tree.nodes.items() if isinstance(node, Leaf) and node.bound <= tree.target}
    assert closed == set(tree.untold) != set()
    told = tree.tell()
    assert closed == tree.told.keys() == told.keys()
    branches = {number for number, node in tree.nodes.items() if isinstance(node, Branch)}
    assert {0} <= tree.above(told) <= branches
    assert not tree.untold
    assert tree.upper >= tree.target
    before = dict(tree.told)
    assert tree.branch(4, above=-9.0)
    proof = tree.proof()
    assert before.keys() & proof.keys()
    assert all(proof[number][1] is slopes for number, slopes in before.items() if number in proof)
    assert not set(tree.untold) & before.keys()


def test_leaves_that_are_lent_are_told_where_they_come_back():
    tree = row_tree(8, below=0.2)
    tree.tell()
    numbers = tree.lend(3)
    lent = tree.lent(numbers)
    assert not lent.told
    assert not lent.untold
    lent.branch(3, above=-9.0)
    assert not tree.untold
    tree.graft(numbers, lent.nodes)
    assert len(tree.untold) == sum(leaf.bound <= lent.target for leaf in lent.nodes.values() if isinstance(leaf, Leaf))
