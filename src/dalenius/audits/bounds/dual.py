"""Problem 1 from above: the dual bound with a branch and bound per letter (docs/theory.md).

For every output law r > 0 and beta >= 0

    I(X_i; Y) <= U(r, beta) = beta log sum_a exp(phi_a / beta) - beta b,   phi_a = max over w of D(w R_a || r) + beta H(w),

*because* I <= sum_a pi_a D(K_a || r) and beta (H(P) - b) >= 0. At beta = 0 it is the largest D(R(a,k) || r).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.row_solver import Multipliers
from dalenius.audits.bounds.rows import RowRelaxation, row_maximum
from dalenius.information import log_sum_exp, relative_entropy
from dalenius.information.arrays import Floats, Integers
from dalenius.reduction import Chamber, RecordChannel, RecordSymmetries, Source, even
from dalenius.search.boxes import BoxTree
from dalenius.search.clock import Clock
from dalenius.search.decimals import short
from dalenius.search.runner import Runner

__all__ = ["DualBound", "RowTree", "Together", "dual_bound", "nobody"]

BATCH = 64  # row leaves branched at once


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
    trees: tuple[BoxTree, ...] = ()
    chambers: tuple[Chamber, ...] = ()

    @property
    def leaves(self) -> int:
        return 1 + sum(tree.leaves for tree in {id(tree): tree for tree in self.trees}.values())


class RowTree(Runner):
    """The tree of one row problem, whose bound is wanted to be at most a target."""

    name = "dual"
    tree: BoxTree

    def __init__(self, tree: BoxTree, target: float) -> None:
        self.tree, self.target = tree, target

    def leaf_bytes(self) -> int:
        return self.tree.leaf_bytes()

    def grow(self, clock: Clock) -> bool:
        return self.tree.branch(BATCH, above=self.target)


Together: TypeAlias = Callable[[Sequence[Runner], Callable[[], float], float], bool]


def nobody(runners: Sequence[Runner], upper: Callable[[], float], goal: float) -> bool:
    """Nobody else is at work."""
    return False


def dual_bound(
    channel: RecordChannel,
    candidate: Candidate,
    symmetries: RecordSymmetries,
    *,
    tolerance: float,
    enough: float,
    useless: float,
    decimals: int,
    multipliers: Multipliers = row_multipliers,
    clock: Clock,
    may_grow: Callable[[BoxTree, int], bool],
    tell: Callable[[float, int], None] = lambda upper, nodes: None,
    together: Together = nobody,
) -> DualBound:
    """The dual bound at a witness's own output law and multiplier.

    Parameters
    ----------
    symmetries : RecordSymmetries
        The output law is made symmetric, which costs the best bound nothing, and letters are bounded in a chamber.
    tolerance : float
        Stop when the bound is within this (nats) of what these (r, beta) can attain.
    enough : float
        Stop when the bound is at most this (nats).
    useless : float
        Do not branch at all if these (r, beta) can attain no better than this (nats).
    decimals : int
        How many decimals the hints get.
    multipliers : callable
        Who finds those of the row problems.
    may_grow : callable
        Asked with a tree and the number of all leaves before every round of branching.
    together : callable, optional
        Has others grow trees until a bound is at most a goal, as far as they can, and says whether they did anything.
    """
    law = candidate.p.sum(axis=0) @ channel.rows
    law = short(0.999999999 * law + 1e-9 / law.size, 15) if np.any(law < 1e-12) else short(law, 16)
    problems = RowProblems.of(channel, symmetries)
    law = even(law / law.sum(), problems.orbit)
    beta = float(short(candidate.mu, 12))
    if beta == 0.0:
        used = np.isfinite(channel.log_uniform).any(axis=0)
        upper = float(np.max(relative_entropy(channel.rows[used], law)))
        return DualBound(upper, upper, law, 0.0, problems)
    trees, chambers, floors = _row_problems(channel, problems, candidate, law, beta, decimals, multipliers, clock)
    distinct = list({id(tree): tree for tree in trees}.values())

    def total(values: Sequence[float]) -> float:
        return beta * float(log_sum_exp(np.array(values) / beta)) + beta * channel.max_knowledge

    attainable = total(floors)
    if attainable > enough:  # it cannot close, so it need not be exact
        tolerance = max(tolerance, 0.02 * (attainable - enough))
    goal = max(enough, attainable + tolerance)
    runners = {id(tree): RowTree(tree, floor + goal - attainable) for tree, floor in zip(trees, floors, strict=True)}
    while True:
        uppers = [tree.upper for tree in trees]
        upper = total(uppers)
        nodes = sum(tree.leaves for tree in distinct)
        tell(upper, nodes)
        if upper <= goal or attainable >= useless or not may_grow(trees[0], nodes):
            break
        if together(list(runners.values()), lambda: total([tree.upper for tree in trees]), goal):
            continue
        loosest = int(np.argmax(np.exp(np.array(uppers) / beta - max(uppers) / beta) * (np.array(uppers) - floors)))
        if not trees[loosest].branch(BATCH, above=floors[loosest]):
            break
    return DualBound(upper, attainable, law, beta, problems, trees, chambers)


def _row_problems(
    channel: RecordChannel,
    problems: RowProblems,
    candidate: Candidate,
    law: Floats,
    beta: float,
    decimals: int,
    multipliers: Multipliers,
    clock: Clock,
) -> tuple[tuple[BoxTree, ...], tuple[Chamber, ...], tuple[float, ...]]:
    """A tree a letter that bounds its row problem from above, its chamber, and a value that its rows attain."""
    exists = np.isfinite(channel.log_uniform)
    known: dict[int, tuple[BoxTree, Chamber, float]] = {}
    for a in sorted({first for first, _ in problems.sources}):
        rows, log_masses = channel.rows[exists[a]], channel.log_uniform[a][exists[a]]
        relaxation = RowRelaxation(rows, log_masses, law, beta, decimals=decimals, multipliers=multipliers)
        chamber = problems.chamber(a)
        tree = BoxTree(relaxation, problems.low[a], problems.high[a], np.zeros(law.size), chamber.close)
        starts = _row_starts(problems.alike(a, candidate.p)[:, exists[a]], rows, log_masses)
        known[a] = tree, chamber, row_maximum(rows, log_masses, law, beta, starts, clock)
    trees, chambers, floors = zip(*(known[first] for first, _ in problems.sources), strict=True)
    return trees, chambers, floors


def _row_starts(p: Floats, rows: Floats, log_uniform: Floats) -> Floats:
    """The witness's own conditionals (letters, classes), every vertex (on small channels), and the uniform law."""
    count = rows.shape[0]
    vertices = 0.999 * np.eye(count) + 0.001 / count if count <= 64 else np.empty((0, count))
    uniform = np.exp(log_uniform - log_sum_exp(log_uniform))
    used = p[p.sum(axis=1) > 0]
    return np.vstack([used / used.sum(axis=1, keepdims=True), uniform, vertices])
