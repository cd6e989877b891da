"""Problem 1 from above: the dual bound, with its output law and multiplier chosen anew on boxes of the conditionals.

On a box of the conditionals K_a the dual bound (docs/theory.md)

    U(r, beta) = beta log sum_a exp(psi_a / beta) - beta b,   psi_a = max over w with K_a in the box of D(wR || r) + beta H(w)

allows a letter to be split into copies with different w; that is all it loses at the best (r, beta). A joint tree halves the box of
the letter that is split most, and so forbids the split. The psi_a are bounded by row trees (`bounds.rows`), which children
inherit. For given row leaves, U is convex in (-log r, beta) and minimised by Newton's method on a smoothed maximum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np

from dalenius.audits.bounds.dual_node import Aim, ConditionalCut, DualNode, NodeWork
from dalenius.audits.bounds.row_search import RowTree, rows_of
from dalenius.information.arrays import Floats, Integers
from dalenius.reduction import Chamber, RecordChannel, RecordSymmetries, Source
from dalenius.search.boxes import BoxTree
from dalenius.search.clock import Clock
from dalenius.search.tree import Branch, Leaf, Nodes, Runner, Tree

# Problem 1 from above: the dual bound with a branch and bound per letter (docs/theory.md).
#
# For every output law r > 0 and beta >= 0
#
#     I(X_i; Y) <= U(r, beta) = beta log sum_a exp(phi_a / beta) - beta b,   phi_a = max over w of D(w R_a || r) + beta H(w),
#
# *because* I <= sum_a pi_a D(K_a || r) and beta (H(P) - b) >= 0. At beta = 0 it is the largest D(R(a,k) || r).


@dataclass(frozen=True)
class RowProblems:
    """A record's row problems: a letter has that of its source, as it is or moved.

    Attributes
    ----------
    low, high : (letters, outputs)
        The ranges of the conditionals.
    symmetries : RecordSymmetries
        They leave the ranges as they are.
    sources : tuple of (letter, move)
    orbit : (outputs,)
        The output law is constant on these.
    """

    low: Floats
    high: Floats
    symmetries: RecordSymmetries
    sources: tuple[Source, ...]
    orbit: Integers

    @classmethod
    def of(cls, channel: RecordChannel, symmetries: RecordSymmetries) -> RowProblems:
        exists = np.isfinite(channel.log_uniform)
        low = np.array([channel.rows[own].min(axis=0) for own in exists])
        high = np.array([channel.rows[own].max(axis=0) for own in exists])
        low, high = symmetries.least(low), -symmetries.least(-high)
        symmetries = symmetries.within(low, high)
        sources = symmetries.sources(low, high)
        return cls(low, high, symmetries, sources, symmetries.outputs(channel.rows.shape[1]))

    def chamber(self, a: int) -> Chamber:
        """Of the moves that leave a letter's ranges and the law alone."""
        return Chamber.of(self.symmetries.rows[a], self.low[a], self.high[a], self.orbit)

    def alike(self, a: int, p: Floats) -> Floats:
        """Entries of p (letters, classes) of the letters that have letter a for their source, each moved back to a."""
        own = [(b, move) for b, (first, move) in enumerate(self.sources) if first == a]
        return np.array([p[b] if move is None else p[b][move.classes] for b, move in own])


@dataclass(frozen=True)
class DualBound:
    """The bound, its output law and multiplier, and one row tree a letter with the chamber that it covers (none at beta = 0).

    Letters share what their sources have. `attainable` is the best value these (r, beta) can give; the rest of the bound is unfinished
    branching.
    """

    upper: float
    attainable: float
    output_law: Floats
    beta: float
    problems: RowProblems
    trees: tuple[BoxTree | RowTree, ...] = ()
    chambers: tuple[Chamber, ...] = ()

    @property
    def distinct(self) -> tuple[BoxTree | RowTree, ...]:
        """Its trees, each once."""
        return tuple({id(tree): tree for tree in self.trees}.values())

    @property
    def leaves(self) -> int:
        return 1 + sum(tree.leaves for tree in self.distinct)

    @property
    def told(self) -> int:
        """Number of leaves that the checker has worked out."""
        return sum(len(tree.told) for tree in self.distinct if isinstance(tree, RowTree))

    @property
    def grouped(self) -> float:
        """Mean number of slopes of a row leaf, as a share of the number of outputs."""
        slopes = sum(tree.leaves * (tree.grouped if isinstance(tree, RowTree) else 1.0) for tree in self.distinct)
        return slopes / sum(tree.leaves for tree in self.distinct) if self.trees else 1.0


FAR = 0.1  # share of the first multiplier: where a node's is less, its row leaves know of no other, and its parts begin with the first
STUCK = 0.9  # share of what its parent's bound is too high that a part's bound is too high, at least, to begin anew

DualLeaf: TypeAlias = Leaf[DualNode, ConditionalCut]


class DualTree(Runner):
    """Best-first tree; `upper` is valid at any time. At first it is the dual bound itself.

    Parameters
    ----------
    aim : Aim
        Half of the width that matters may be lost to smoothing and unfinished row trees. Where the letter law is given, U is
        sum_a pi_a psi_a + beta (H(pi) - b). *Bound because* it is what the maximum over the letter law,
        beta log sum_a exp(psi_a / beta), is taken of. With a fixed multiplier, that of `start`, the bounds are lines of one slope in
        the entropy bound.
    start : DualBound
        The dual bound of a witness, with its row trees.
    """

    name = "dual tree"
    together = 4  # a leaf has row trees, and takes long

    def __init__(self, aim: Aim, start: DualBound) -> None:
        self.aim, self.target = aim, aim.target
        self.symmetries = start.problems.symmetries
        law = np.maximum(start.output_law, 1e-9)
        trees = rows_of(start.trees, start.chambers)
        beta = start.beta if aim.fixed else max(start.beta, 1e-6)
        self._start = law / law.sum(), beta
        low, high, sources = start.problems.low, start.problems.high, start.problems.sources
        grouped = any(isinstance(tree, RowTree) for tree in start.trees)
        upper = np.inf if grouped else start.upper  # which the roots of trees about groups of outputs do not prove
        node = DualNode(low, high, np.unique([low, high]), trees, *self._start, self.symmetries, sources, upper)
        self.tree: Tree[DualNode, ConditionalCut] = Tree(_leaf(node))
        self._row_leaves = node.row_leaves

    @property
    def leaves(self) -> int:
        """Leaves of the joint tree and of all row trees."""
        return self.tree.leaves + self._row_leaves

    @property
    def common(self) -> list[tuple[object, str]]:
        return [(self, "aim")]

    def leaf_bytes(self) -> int:
        """About how much memory a row leaf takes."""
        return 1200 + 24 * self.aim.channel.rows.shape[1]

    def grow(self, clock: Clock) -> bool:
        """Bound or branch the leaf with the largest bound; False if nothing can be done about it."""
        largest = self.tree.largest
        if largest is not None and largest.content.unfinished:
            before = largest.content.row_leaves
            self.tree.renew(self._bounded(largest.content, clock))
            self._row_leaves -= before
            return True
        return self.tree.grow(lambda leaves: [self._halved(leaf, clock) for leaf in leaves])

    @staticmethod
    def able(leaf: DualLeaf) -> bool:
        """True if it can be branched, or its bound be lowered before."""
        return leaf.cut is not None or leaf.content.unfinished

    def lent(self, numbers: tuple[int, ...]) -> Self:
        other = super().lent(numbers)
        other._row_leaves = _row_leaves(other.tree.nodes.values())
        return other

    def graft(self, numbers: tuple[int, ...], nodes: Nodes, point: Floats | None) -> None:
        self._row_leaves += _row_leaves(nodes.values()) - _row_leaves(self.tree.nodes[number] for number in numbers)
        super().graft(numbers, nodes, point)

    def _halved(self, leaf: DualLeaf, clock: Clock) -> list[DualLeaf]:
        assert leaf.cut is not None
        parts = [self._part(leaf.content, leaf.cut, below, clock) for below in (True, False)]
        self._row_leaves -= leaf.content.row_leaves
        return parts

    def _part(self, node: DualNode, cut: ConditionalCut, below: bool, clock: Clock) -> DualLeaf:
        """One part, bounded from its parent's law and multiplier; where these lead nowhere, perhaps from the first ones."""
        part = self._bounded(node.part(self.aim.channel, self.symmetries, cut, below=below), clock)
        stuck = part.bound - self.target > STUCK * (node.upper - self.target) > 0.0
        if not stuck or part.content.beta >= FAR * self._start[1] or self.aim.fixed:
            return part
        anew = node.part(self.aim.channel, self.symmetries, cut, below=below)
        anew.law, anew.beta = self._start
        other = self._bounded(anew, clock)
        better, worse = (other, part) if other.bound < part.bound else (part, other)
        self._row_leaves -= worse.content.row_leaves
        return better

    def _bounded(self, node: DualNode, clock: Clock) -> DualLeaf:
        work = NodeWork(replace(self.aim, target=self.target), node, clock)
        work.run()
        self.point = work.point()
        self._row_leaves += node.row_leaves
        return _leaf(node)


def _row_leaves(nodes: Iterable[Branch[ConditionalCut] | DualLeaf]) -> int:
    return sum(node.content.row_leaves for node in nodes if isinstance(node, Leaf))


def _leaf(node: DualNode) -> DualLeaf:
    return Leaf(node, node.upper, node.cut)
