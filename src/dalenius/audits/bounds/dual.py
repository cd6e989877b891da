"""Problem 1 from above: the dual bound with a branch and bound per letter (docs/theory.md).

For every output law r > 0 and beta >= 0

    I(X_i; Y) <= U(r, beta) = beta log sum_a exp(phi_a / beta) - beta b,   phi_a = max over w of D(w R_a || r) + beta H(w),

*because* I <= sum_a pi_a D(K_a || r) and beta (H(P) - b) >= 0. At beta = 0 it is the largest D(R(a,k) || r).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.audits.bounds.row_search import RowTree
from dalenius.information.arrays import Floats, Integers
from dalenius.reduction import Chamber, RecordChannel, RecordSymmetries, Source
from dalenius.search.boxes import BoxTree

__all__ = ["DualBound", "RowProblems"]


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
        """What the letters that have letter a for their source have of p (letters, classes), each moved back to a."""
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
    def in_groups(self) -> bool:
        """Whether its row trees are about groups of outputs."""
        return any(isinstance(tree, RowTree) for tree in self.trees)

    @property
    def grouped(self) -> float:
        """How many slopes a row leaf has on average, beside the number of outputs."""
        slopes = sum(tree.leaves * (tree.grouped if isinstance(tree, RowTree) else 1.0) for tree in self.distinct)
        return slopes / sum(tree.leaves for tree in self.distinct) if self.trees else 1.0
