"""Trees that cut off what is closed at the ends of boxes: the leaves cover the box, and there are fewer of them."""

import numpy as np

from campaigns import each
from dalenius.search.boxes import BoxTree, EndsTree, Relaxed
from dalenius.search.tree import Branch, Leaf


class Ridge:
    """Bounds -sum (x - c)^2 plus the coupling (sum (x - c))^2 / 8 on boxes by intervals, a little too high: moved together, wide."""

    def __init__(self, size: int) -> None:
        self.centre = np.linspace(0.3, 0.7, size)

    def value(self, x):
        away = x - self.centre
        return -(away**2).sum(axis=-1) + away.sum(axis=-1) ** 2 / (8.0 * x.shape[-1])

    def __call__(self, low, high, hints):
        nearest = np.clip(self.centre, low, high)
        reach = np.maximum(np.abs((low - self.centre).sum(axis=1)), np.abs((high - self.centre).sum(axis=1)))
        bounds = -((nearest - self.centre) ** 2).sum(axis=1) + reach**2 / (8.0 * low.shape[1])
        bounds = np.where(np.any(low > high, axis=1), -np.inf, bounds)
        widest = np.argmax(high - low, axis=1)
        return Relaxed(bounds, hints, widest, (0.5 * (low + high)[np.arange(len(low)), widest]))

    def losses(self, low, high):
        return np.maximum(high - low, 0.0) ** 2

    def shortened(self, low, high, hints, level):
        return hints


def grown(kind, size, target):
    tree = kind(Ridge(size), np.zeros(size), np.ones(size), np.zeros(1))
    while tree.upper > target and tree.leaves < 20000 and tree.branch(64, above=target):
        pass
    return tree


def leaf_of(tree, x):
    """The leaf where a point is, by the cuts alone; its box must have it."""
    number = 0
    while isinstance(node := tree.nodes[number], Branch):
        coordinate, threshold = node.cut
        number = node.parts[0 if x[coordinate] <= threshold else 1]
    return node


@each("size", 3, 9)
def test_the_cuts_lead_every_point_to_a_leaf_that_has_it(size):
    tree = grown(EndsTree, size, 0.1)
    assert tree.upper <= 0.1
    assert tree.leaves == sum(isinstance(node, Leaf) for node in tree.nodes.values())
    for x in np.random.default_rng(0).random((300, size)):
        leaf = leaf_of(tree, x)
        assert np.all(leaf.content.low <= x)
        assert np.all(x <= leaf.content.high)
        assert Ridge(size).value(x) <= leaf.bound


def test_fewer_leaves_where_coordinates_move_together():
    assert 2 * grown(EndsTree, 9, 0.1).leaves < grown(BoxTree, 9, 0.1).leaves


def test_without_a_level_boxes_are_halved():
    tree = EndsTree(Ridge(9), np.zeros(9), np.ones(9), np.zeros(1))
    assert tree.branch(1, above=-np.inf)
    assert tree.leaves == 2
