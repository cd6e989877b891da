"""Who is grown next: the best one that may reach the target, and the others as much as is their due."""

import math

import numpy as np
import pytest

from dalenius.search.boxes import BoxTree, Relaxed, halves
from dalenius.search.clock import Clock
from dalenius.search.tree import FAR, HOPELESS, Branch, Leaf, Race, Tree


class Runner:
    """One that does nothing."""

    hopeless = property(lambda self: self.floor > self.target)

    def __init__(self, upper, floor=-math.inf):
        self.upper, self.floor, self.target = upper, floor, 0.0

    def grow(self, clock):
        return True


def shares(race, runners, steps=400, target=1.0):
    """Of the time, a second a step, that each gets."""
    for _ in range(steps):
        race.charge(race.choose(target, lambda runner: True), 1.0)
    return [race._seconds[id(runner)] / steps for runner in runners]


def test_no_turn_takes_more_than_a_tenth_of_what_is_left_at_first():
    race = Race([Runner(2.0)], fair=[0.6])
    assert race.slice(Clock(time_limit=1.0)).time_limit == pytest.approx(0.1, rel=0.02)
    assert race.slice(Clock(time_limit=60.0)).time_limit == pytest.approx(0.5, rel=0.02)
    race.charge(race.runners[0], 20.0)
    assert race.slice(Clock(time_limit=60.0)).time_limit == pytest.approx(4.0, rel=0.02)


def test_the_best_gets_most_and_the_others_their_share():
    runners = [Runner(2.0), Runner(3.0), Runner(4.0)]
    best, second, third = shares(Race(runners, fair=[0.6, 0.5, 0.1]), runners)
    assert second / best == pytest.approx(0.5, abs=0.02)
    assert third / best == pytest.approx(0.1, abs=0.02)


def test_one_that_is_far_behind_gets_less_once_it_is_known():
    runners = [Runner(1.1), Runner(2.0), Runner(1.2)]
    best, far, near = shares(Race(runners, fair=[0.6, 0.5, 0.1]), runners)
    assert far / best == pytest.approx(0.5 * FAR / 10, abs=0.02)
    assert near / best == pytest.approx(0.1, abs=0.02)
    unknown = [Runner(1.1), Runner(math.inf)]
    assert shares(Race(unknown, fair=[0.6, 0.5]), unknown, steps=4)[1] > 0.0


def test_one_that_cannot_reach_the_target_is_not_the_best():
    runners = [Runner(2.0, floor=1.5), Runner(3.0)]
    hopeless, best = shares(Race(runners, fair=[0.6, 0.6]), runners)
    assert hopeless / best == pytest.approx(HOPELESS, abs=0.02)
    assert shares(Race(runners, fair=[0.6, 0.6]), runners, target=1.6)[0] > 0.5


def test_one_that_can_become_no_better_than_another_gets_nothing():
    runners = [Runner(2.5, floor=2.0), Runner(1.9)]
    assert shares(Race(runners, fair=[0.6, 0.6]), runners) == [0.0, 1.0]


def test_one_that_is_stuck_is_left():
    runners = [Runner(2.0), Runner(3.0)]
    runners[0].grow = lambda clock: False
    race = Race(runners, fair=[0.1, 0.1])
    assert race.turn(Clock(), 1.0, lambda runner: True) is runners[0]
    assert {id(race.turn(Clock(), 1.0, lambda runner: True)) for _ in range(5)} == {id(runners[1])}
    runners[1].grow = lambda clock: False
    race.turn(Clock(), 1.0, lambda runner: True)
    assert race.turn(Clock(), 1.0, lambda runner: True) is None


# The branch and bound that every tree shares: bounds hold at any time, leaves cover the region, the order is best first.


CENTRE = np.array([0.3, 0.8])


def concave(x):
    return -np.sum((x - CENTRE) ** 2, axis=-1)


class Nearest:
    """Bounds by the point of the box that is nearest to the centre, loosened by the box's size; cuts the widest side in the middle."""

    def __init__(self, narrowest=0.0):
        self.batches, self.narrowest = [], narrowest

    def __call__(self, low, high, hints):
        self.batches.append(len(low))
        width = high - low
        coordinate = width.argmax(axis=1)
        widest = width.max(axis=1)
        bounds = concave(np.clip(CENTRE, low, high)) + widest
        middle = 0.5 * (low + high)[np.arange(len(low)), coordinate]
        return Relaxed(bounds, hints + 1.0, np.where(widest > self.narrowest, coordinate, -1), middle)


def box_tree(**options):
    return BoxTree(Nearest(**options), np.zeros(2), np.ones(2), np.zeros(1))


def leaves(tree):
    return [node for node in tree.preorder() if isinstance(node, Leaf)]


def test_bounds_hold_and_fall_and_the_leaves_cover_the_region():
    tree, before = box_tree(), math.inf
    points = np.random.default_rng(0).random((200, 2))
    for _ in range(30):
        assert 0.0 <= tree.upper <= before  # the maximum is 0
        assert tree.upper == max(leaf.bound for leaf in leaves(tree))
        assert tree.leaves == len(leaves(tree)) == 1 + sum(isinstance(node, Branch) for node in tree.nodes.values())
        before = tree.upper
        assert tree.branch(3, above=-math.inf)
    for point in points:
        holders = [leaf for leaf in leaves(tree) if np.all((leaf.content.low <= point) & (point <= leaf.content.high))]
        assert holders
        assert all(leaf.bound >= concave(point) for leaf in holders)
    assert tree.upper < 0.6


def test_it_is_best_first_and_a_batch_is_bounded_at_once():
    tree = box_tree()
    relaxation = tree._relaxation
    tree.branch(1, above=-math.inf)
    tree.branch(2, above=-math.inf)
    assert relaxation.batches == [1, 2, 4]
    largest = sorted(leaf.bound for leaf in leaves(tree))[-2:]
    kept = {id(leaf) for leaf in leaves(tree) if leaf.bound < largest[0]}
    tree.branch(2, above=-math.inf)
    assert kept <= {id(leaf) for leaf in leaves(tree)}  # only the two largest were branched
    assert len(leaves(tree)) == len(kept) + 4


def test_preorder_has_a_branch_before_its_parts_and_these_in_their_order():
    tree = box_tree()
    while tree.leaves < 40:
        tree.branch(4, above=-math.inf)
    nodes, stack = iter(tree.preorder()), [(np.zeros(2), np.ones(2))]
    while stack:
        low, high = stack.pop()
        node = next(nodes)
        if isinstance(node, Branch):
            stack += halves(low, high, *node.cut)[::-1]
        else:
            assert np.array_equal(node.content.low, low)
            assert np.array_equal(node.content.high, high)
    assert next(nodes, None) is None


def test_hints_are_inherited_from_the_parent():
    tree = box_tree()
    tree.branch(1, above=-math.inf)
    tree.branch(1, above=-math.inf)
    assert sorted(leaf.content.hints.item() for leaf in leaves(tree)) == [2.0, 3.0, 3.0]


def test_leaves_below_the_level_are_left_alone():
    tree = box_tree()
    while tree.branch(64, above=0.3):
        pass
    assert tree.upper <= 0.3
    assert tree.closed == -math.inf


def test_a_leaf_that_cannot_be_branched_keeps_its_bound_and_ends_the_search():
    tree = box_tree(narrowest=0.3)
    while tree.branch(1, above=-math.inf):
        pass
    assert tree.upper == tree.closed == max(leaf.bound for leaf in leaves(tree))
    before = tree.leaves
    assert not tree.branch(64, above=-math.inf)  # nothing below it would lower the bound
    assert tree.leaves == before
    assert tree.upper >= 0.0


def test_an_interrupt_leaves_the_tree_as_it_was():
    tree = box_tree()
    for _ in range(3):
        tree.branch(2, above=-math.inf)
    before = tree.upper, tree.leaves, leaves(tree)

    def interrupted(chosen):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tree.grow(interrupted, 3)
    assert (tree.upper, tree.leaves, leaves(tree)) == before
    assert tree.branch(2, above=-math.inf)


def test_a_leaf_may_be_bounded_again():
    tree = Tree(Leaf("loose", 5.0, 1))
    tree.grow(lambda chosen: [[Leaf("a", 4.0, 1), Leaf("b", 3.0, None)]])
    assert tree.largest is not None
    assert tree.largest.content == "a"
    tree.renew(Leaf("a again", 2.0, 1))
    assert [node.content for node in tree.preorder() if isinstance(node, Leaf)] == ["a again", "b"]
    assert (tree.upper, tree.leaves) == (3.0, 2)
    assert not tree.grow(lambda chosen: [[]])
    assert (tree.upper, tree.closed) == (3.0, 3.0)


def test_halves_cover_a_box_whatever_the_threshold():
    low, high = np.array([0.2, 0.0]), np.array([0.6, 1.0])
    for threshold in (-1.0, 0.2, 0.3, 0.6, 2.0):
        parts = halves(low, high, 0, threshold)
        for x in np.linspace(0.2, 0.6, 9):
            assert any(part_low[0] <= x <= part_high[0] for part_low, part_high in parts)
