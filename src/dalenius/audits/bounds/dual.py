"""Problem 1 from above: the dual bound with a branch and bound per letter (docs/theory.md).

For every output law r > 0 and beta >= 0

    I(X_i; Y) <= U(r, beta) = beta log sum_a exp(phi_a / beta) - beta b,   phi_a = max over w of D(w R_a || r) + beta H(w),

*because* I <= sum_a pi_a D(K_a || r) and beta (H(P) - b) >= 0. At beta = 0 it is the largest D(R(a,k) || r).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.dual_point import best_point
from dalenius.audits.bounds.output_groups import FEW, OutputGroups
from dalenius.audits.bounds.row_boxes import RowProblem
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.bounds.row_solver import Multipliers
from dalenius.audits.bounds.rows import RowRelaxation, row_maximum
from dalenius.information import log_sum_exp, relative_entropy
from dalenius.information.arrays import Floats, Integers
from dalenius.reduction import Chamber, RecordChannel, RecordSymmetries, Source, even
from dalenius.search.boxes import BoxTree
from dalenius.search.clock import Clock
from dalenius.search.decimals import short
from dalenius.search.runner import Runner

__all__ = ["DualBound", "RowWork", "Together", "dual_bound", "nobody"]

BATCH = 64  # row leaves branched at once
LOOSER = (
    30.0,
    8.0,
    3.0,
    1.0,
)  # times the room: where there are many outputs bounds that are not so good are proved first
SORTED = 4  # outputs up to which chambers are branched without cuts: these pay where there are more
SLACK = 0.3  # of the room up to what is enough: a witness's own law that attains no more is as good as another


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


class RowWork(Runner):
    """The tree of one row problem, whose bound is wanted to be at most a target."""

    name = "dual"
    tree: BoxTree | RowTree

    def __init__(self, tree: BoxTree | RowTree, target: float) -> None:
        self.tree, self.target = tree, target

    def leaf_bytes(self) -> int:
        return self.tree.leaf_bytes()

    def grow(self, clock: Clock) -> bool:
        return self.tree.branch(BATCH, above=self.target)


Together: TypeAlias = Callable[[Sequence[RowWork], int, Callable[[], None], Callable[[], bool]], bool]


def nobody(rows: Sequence[RowWork], least: int, told: Callable[[], None], finished: Callable[[], bool]) -> bool:
    """Nobody else is at work."""
    return False


def dual_bound(
    channel: RecordChannel,
    candidate: Candidate,
    symmetries: RecordSymmetries,
    *,
    one_slope: bool = False,
    tolerance: float,
    enough: float,
    useless: float,
    decimals: int,
    multipliers: Multipliers = row_multipliers,
    clock: Clock,
    may_grow: Callable[[Sequence[BoxTree | RowTree], int], bool],
    tell: Callable[[float, int], None] = lambda upper, nodes: None,
    together: Together = nobody,
    begun: Callable[[Floats, float, Sequence[BoxTree | RowTree]], None] = lambda law, beta, trees: None,
    keep: Callable[[DualBound], None] = lambda bound: None,
) -> DualBound:
    """The dual bound at a witness's own output law and multiplier, or at the best ones if these cannot attain enough.

    Parameters
    ----------
    symmetries : RecordSymmetries
        The output law is made symmetric, which costs the best bound nothing, and letters are bounded in a chamber.
    one_slope : bool
        Keep the candidate's multiplier.
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
        Asked before every round of branching, with the trees of the bound and how many leaves there must be room for in any case.
    together : callable, optional
        Has others grow trees until they are finished, as far as they can, and says whether they did anything. There must be room
        for a least number of leaves, and it has told what has been done whenever something was.
    begun : callable, optional
        Told the output law, the multiplier and the trees, a letter each, before these are grown; it may put what had become of them.
    keep : callable, optional
        Gets every bound on the way.
    """
    problems = RowProblems.of(channel, symmetries)
    law, beta = _rounded(candidate.p.sum(axis=0) @ channel.rows, problems), float(short(candidate.mu, 12))
    if beta == 0.0:
        used = np.isfinite(channel.log_uniform).any(axis=0)
        upper = float(np.max(relative_entropy(channel.rows[used], law)))
        whole = DualBound(upper, upper, law, 0.0, problems)
        keep(whole)
        return whole
    rows = _Rows(channel, problems, candidate.p, multipliers, clock)
    floors = rows.floors(law, beta)
    attainable = _total(channel, floors, beta)
    if rows.many and not one_slope and attainable - candidate.leakage > SLACK * (enough - candidate.leakage):
        point = best_point(channel, candidate.p, beta, tolerance=0.1 * tolerance, clock=clock)
        other_law, other_beta = _rounded(np.exp(-point.lam), problems), float(short(point.beta, 12))
        rows.add_starts(point.maxima)
        others = rows.floors(other_law, other_beta)
        if _total(channel, others, other_beta) < attainable:
            law, beta, floors, attainable = other_law, other_beta, others, _total(channel, others, other_beta)
    if attainable > enough:  # it cannot close, so it need not be exact
        tolerance = max(tolerance, 0.02 * (attainable - enough))
    room = max(enough - attainable, tolerance) if attainable < useless else np.inf
    best: DualBound | None = None
    for looser in LOOSER if rows.grouped and np.isfinite(room) else (1.0,):
        trees = rows.trees(law, beta, floors, looser * 0.999 * room, decimals)
        begun(law, beta, trees)
        bound = DualBound(np.inf, attainable, law, beta, problems, trees, rows.chambers)
        stop = np.inf if attainable >= useless else max(enough, attainable + looser * tolerance)
        bound = _grown(channel, bound, floors, stop, best, may_grow, tell, together)
        if best is None or bound.upper < best.upper:
            best = bound
            keep(bound)
        if best.upper <= enough or attainable >= useless or not may_grow(bound.distinct, 0):
            break
    assert best is not None
    return best


def _grown(
    channel: RecordChannel,
    bound: DualBound,
    floors: Sequence[float],
    enough: float,
    other: DualBound | None,
    may_grow: Callable[[Sequence[BoxTree | RowTree], int], bool],
    tell: Callable[[float, int], None],
    together: Together,
) -> DualBound:
    """Branch until the bound is enough, or no tree can be; there must be room for the proof of the other bound, too."""
    trees, distinct, beta = bound.trees, bound.distinct, bound.beta
    least = other.leaves if other is not None else 0
    levels = np.array(
        [tree.target if isinstance(tree, RowTree) else floor for tree, floor in zip(trees, floors, strict=True)]
    )
    work = {
        id(tree): RowWork(tree, tree.target if isinstance(tree, RowTree) else floor + enough - bound.attainable)
        for tree, floor in zip(trees, floors, strict=True)
    }
    known = other.upper if other is not None else np.inf

    def proved() -> float:
        return _total(channel, [tree.upper for tree in trees], beta)

    def nodes() -> int:
        return sum(tree.leaves for tree in distinct)

    def told() -> None:
        tell(known if bound.in_groups else proved(), nodes())  # finer groups may be worse for a while

    while True:
        told()
        uppers = np.array([tree.upper for tree in trees])
        excess = np.maximum(uppers - levels, 0.0)
        if proved() <= enough or not excess.any() or not may_grow(distinct, least):
            break
        if together(list(work.values()), least, told, lambda: proved() <= enough):
            continue
        loosest = int(np.argmax(np.exp(uppers / beta - uppers.max() / beta) * excess))
        if not trees[loosest].branch(BATCH, above=float(levels[loosest])):
            break
    return replace(bound, upper=proved())


def _total(channel: RecordChannel, values: Sequence[float] | Floats, beta: float) -> float:
    """U from a value for each letter."""
    return beta * float(log_sum_exp(np.array(values) / beta)) + beta * channel.max_knowledge


def _rounded(law: Floats, problems: RowProblems) -> Floats:
    """An output law as it is written, positive everywhere, and symmetric."""
    law = law / law.sum()
    law = short(0.999999999 * law + 1e-9 / law.size, 15) if np.any(law < 1e-12) else short(law, 16)
    return even(law / law.sum(), problems.orbit)


class _Rows:
    """The row problems of all letters; a letter has everything from its source."""

    def __init__(
        self, channel: RecordChannel, problems: RowProblems, p: Floats, multipliers: Multipliers, clock: Clock
    ) -> None:
        self._channel, self._problems, self._multipliers, self._clock = channel, problems, multipliers, clock
        self._exists = np.isfinite(channel.log_uniform)
        self._first = [first for first, _ in problems.sources]
        known = {a: problems.chamber(a) for a in sorted(set(self._first))}
        self.chambers = tuple(known[a] for a in self._first)
        self.many = channel.rows.shape[1] > FEW
        self.grouped = self.many and not any(chamber.steps for chamber in self.chambers)
        self._laws = {a: problems.alike(a, p)[:, self._exists[a]] for a in known}
        self._groups = dict[int, OutputGroups]()  # made for these laws, when they are asked for
        self._starts = {
            a: _row_starts(laws, channel.rows[self._exists[a]], self._log_masses(a)) for a, laws in self._laws.items()
        }

    def add_starts(self, maxima: Sequence[Floats]) -> None:
        """Laws on all classes (laws, classes), for each letter."""
        for a, starts in self._starts.items():
            self._starts[a] = np.vstack([starts, maxima[a][:, self._exists[a]]])

    def floors(self, law: Floats, beta: float) -> list[float]:
        """What each letter's row problem attains."""
        known = {
            a: row_maximum(self._channel.rows[self._exists[a]], self._log_masses(a), law, beta, starts, self._clock)
            for a, starts in self._starts.items()
        }
        return [known[a] for a in self._first]

    def trees(
        self, law: Floats, beta: float, floors: Sequence[float], room: float, decimals: int
    ) -> tuple[BoxTree | RowTree, ...]:
        """A tree a letter that bounds its row problem from above; in groups, or chambers of many outputs, it is closed at so much
        above what it attains."""
        known = dict[int, BoxTree | RowTree]()
        for a, laws in self._laws.items():
            rows, log_masses = self._channel.rows[self._exists[a]], self._log_masses(a)
            chamber = self._problems.chamber(a)
            if self.grouped or (chamber.steps and law.size > SORTED):
                if a not in self._groups:
                    self._groups[a] = OutputGroups.of(rows, (laws + 1e-12) / (laws + 1e-12).sum())
                problem = RowProblem(
                    self._groups[a],
                    log_masses,
                    law,
                    beta,
                    decimals=decimals,
                    chamber=chamber,
                    multipliers=self._multipliers,
                )
                known[a] = RowTree(problem, floors[a] + room, room)
                continue
            relaxation = RowRelaxation(rows, log_masses, law, beta, decimals=decimals, multipliers=self._multipliers)
            low, high = self._problems.low[a], self._problems.high[a]
            known[a] = BoxTree(relaxation, low, high, np.zeros(law.size), chamber.close)
        return tuple(known[a] for a in self._first)

    def _log_masses(self, a: int) -> Floats:
        return self._channel.log_uniform[a][self._exists[a]]


def _row_starts(p: Floats, rows: Floats, log_uniform: Floats) -> Floats:
    """The witness's own conditionals (letters, classes), every vertex (on small channels), and the uniform law."""
    count = rows.shape[0]
    vertices = 0.999 * np.eye(count) + 0.001 / count if count <= 64 else np.empty((0, count))
    uniform = np.exp(log_uniform - log_sum_exp(log_uniform))
    used = p[p.sum(axis=1) > 0]
    return np.vstack([used / used.sum(axis=1, keepdims=True), uniform, vertices])
