"""A row's tree of boxes, and the arrays in preorder that are its multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dalenius.programs.base import Floats, Named
from dalenius.search.boxes import BoxCut, halves
from dalenius.search.tree import Branch, Leaf, Tree

__all__ = ["RowBox", "RowLeaf", "RowTree", "as_multipliers", "leaf_boxes"]


@dataclass(frozen=True, slots=True)
class RowBox:
    """A box, the multiplier and slopes that prove its bound, and for how many generations they were no better than the parent's."""

    low: Floats
    high: Floats
    mu: float
    kappa: Floats
    failures: int = 0


RowLeaf: TypeAlias = Leaf[RowBox, BoxCut]
RowTree: TypeAlias = Tree[RowBox, BoxCut]


def as_multipliers(tree: RowTree, free: float) -> Named:
    """`branch` (nodes, 2), output and threshold or (-1, 0) at a leaf; `mu` (leaves,), 0 where the bound is `free`; `kappa`."""
    nodes = list(tree.preorder())
    leaves = [node for node in nodes if isinstance(node, Leaf)]
    return {
        "branch": np.array([list(node.cut) if isinstance(node, Branch) else [-1, 0.0] for node in nodes], dtype=float),
        "mu": np.array([leaf.content.mu if leaf.bound < free else 0.0 for leaf in leaves]),
        "kappa": np.array([leaf.content.kappa for leaf in leaves]),
    }


def leaf_boxes(branch: Floats, low: Floats, high: Floats) -> list[tuple[Floats, Floats]]:
    """The boxes of the leaves of a tree in preorder, rows (coordinate or -1, threshold); none if it is no tree.

    >>> len(leaf_boxes(np.array([[0, 0.5], [-1, 0], [-1, 0]]), np.zeros(1), np.ones(1)))
    2
    """
    stack, leaves = [(low, high)], []
    for coordinate, threshold in branch:
        if not stack or coordinate >= len(low):
            return []
        ends = stack.pop()
        if coordinate < 0:
            leaves.append(ends)
        else:
            stack += halves(*ends, int(coordinate), float(threshold))[::-1]
    return [] if stack else leaves
