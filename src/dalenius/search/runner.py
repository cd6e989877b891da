"""A tree as somebody's work: it is grown step by step, here or by many."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from dalenius.information.arrays import Floats
from dalenius.search.clock import Clock
from dalenius.search.tree import Branch, Leaf, Tree

__all__ = ["Nodes", "Runner"]

Nodes = Mapping[int, Branch[Any] | Leaf[Any, Any]]


class Runner(ABC):
    """A tree whose `upper` is valid at any time, and is wanted to be at most `target`.

    Attributes
    ----------
    name : str
    together : int
        How many leaves are lent at once, at most.
    tree : Tree
    target : float
    floor : float
        What `upper` is at least, however long it grows, as far as that is known.
    point : array or None
        Where its bound is largest, a good start for a search from below.
    """

    name: ClassVar[str]
    together: ClassVar[int] = 64
    tree: Tree[Any, Any]
    target: float
    floor: float = -math.inf
    point: Floats | None = None

    @property
    def upper(self) -> float:
        """The largest bound of a leaf."""
        return self.tree.upper

    @property
    def leaves(self) -> int:
        """The pieces that a proof has by it."""
        return self.tree.leaves

    @property
    def hopeless(self) -> bool:
        """Whether it cannot reach its target."""
        return self.floor > self.target

    @abstractmethod
    def leaf_bytes(self) -> int:
        """About how much memory one of them takes."""

    @abstractmethod
    def grow(self, clock: Clock) -> bool:
        """A step; False if nothing more can be done."""

    # ------------------------------------------------------------ for many

    @property
    def waits(self) -> bool:
        """Whether there is a leaf above the target that nobody is at work on."""
        return self.tree.waiting(self.target) > 0

    def lend(self, share: float) -> tuple[int, ...]:
        """Numbers of leaves for somebody else: a share of those that wait, the largest bounds first."""
        count = min(int(self.tree.waiting(self.target) * share) + 1, self.together)
        return self.tree.lend(count, above=self.target, able=self.able)

    @staticmethod
    def able(leaf: Leaf[Any, Any]) -> bool:
        """Whether anything can be done about a leaf."""
        return leaf.cut is not None

    def lent(self, numbers: tuple[int, ...]) -> Self:
        """A runner of the same kind for these leaves alone."""
        other = copy.copy(self)
        other.tree = self.tree.lent(numbers)
        return other

    def graft(self, numbers: tuple[int, ...], nodes: Nodes, point: Floats | None) -> None:
        """Put what has become of such leaves in their place."""
        self.tree.graft(numbers, nodes)
        self.point = point if point is not None else self.point

    def take_back(self, numbers: tuple[int, ...]) -> None:
        """Nothing has become of them."""
        self.tree.take_back(numbers)
