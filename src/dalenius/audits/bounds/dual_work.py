"""The dual bound (`bounds.dual`) as work: its output law and multiplier are chosen, and its row trees grown, turn by turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.dual_point import best_point
from dalenius.audits.bounds.dual_tree import DualBound, RowProblems
from dalenius.audits.bounds.output_groups import FEW, OutputGroups
from dalenius.audits.bounds.row_boxes import RowProblem
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.bounds.rows import Multipliers, RowRelaxation, climbed, row_starts
from dalenius.information import log_sum_exp, relative_entropy
from dalenius.information.arrays import Floats
from dalenius.information.deadline import Deadline, need_time
from dalenius.reduction import RecordChannel, RecordSymmetries, even
from dalenius.search.boxes import BoxTree
from dalenius.search.clock import Clock
from dalenius.search.decimals import short
from dalenius.search.tree import Runner

BATCH = 64  # row leaves branched at once
LOOSER = 8.0, 1.0  # times the room: where there are many outputs a bound that is not so good is proved first
SORTED = 4  # outputs up to which chambers are branched without cuts: these pay where there are more
CLIMB, MOST_VERTICES = 400, 64  # steps from below; classes up to which every vertex is a start
SLACK = 0.3  # of the room up to what is enough: a witness's own law that attains no more is as good as another


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


@dataclass(frozen=True)
class Goal:
    """Goal of a dual bound.

    Attributes
    ----------
    tolerance : float
        It is grown until it is within this (nats) of what its (r, beta) can attain.
    enough : float
        Or until it is at most this (nats).
    useless : float
        It is not branched at all if its (r, beta) can attain no better than this (nats).
    decimals : int
        How many decimals the hints get.
    one_slope : bool
        Keep the candidate's multiplier.
    """

    tolerance: float
    enough: float
    useless: float
    decimals: int
    one_slope: bool = False


@dataclass(frozen=True)
class Turn:
    """A dual bound's turn to be grown.

    Attributes
    ----------
    may_grow : callable
        Asked before every round of branching, with the trees of the bound and how many leaves there must be room for in any case.
    clock : Clock
        That of the turn.
    tell : callable
    together : callable
        Has others grow trees until they are finished, as far as they can, and says whether they did anything. There must be room
        for a least number of leaves, and it has told what has been done whenever something was.
    begun : callable
        Told the output law, the multiplier and the trees, a letter each, before these are grown; it may put what had become of them.
    keep : callable
        Gets every bound on the way.
    grown : callable
        Whenever a bound has grown; given what it is now, which changes where its leaves are told.
    """

    may_grow: Callable[[Sequence[BoxTree | RowTree], int], bool]
    clock: Clock = field(default_factory=Clock)
    tell: Callable[[float, int], None] = lambda upper, nodes: None
    together: Together = nobody
    begun: Callable[[Floats, float, Sequence[BoxTree | RowTree]], None] = lambda law, beta, trees: None
    keep: Callable[[DualBound], None] = lambda bound: None
    grown: Callable[[Callable[[], DualBound]], None] = lambda now: None


class DualWork:
    """The dual bound at a witness's own output law and multiplier, or at the best ones if these cannot attain enough, as work that
    may be left and taken up again.

    Parameters
    ----------
    symmetries : RecordSymmetries
        The output law is made symmetric, which costs the best bound nothing, and letters are bounded in a chamber.
    goal : Goal
    multipliers : callable
        Who finds those of the row problems.
    clock : Clock
        For the choice of the output law.
    until : Deadline, optional
        For what all letters need before there is any bound: once it has expired `TimeIsOverError` is raised, here and by `climb`. By
        default there is no such limit.

    Attributes
    ----------
    attainable : float
        The least that it may become.
    best : DualBound or None
        The best so far.
    finished : bool
    seconds : float
        That it has had.
    """

    def __init__(
        self,
        channel: RecordChannel,
        candidate: Candidate,
        symmetries: RecordSymmetries,
        goal: Goal,
        *,
        multipliers: Multipliers = row_multipliers,
        clock: Clock,
        until: Deadline | None = None,
    ) -> None:
        self._channel, self._problems = channel, RowProblems.of(channel, symmetries)
        self._law = _rounded(candidate.p.sum(axis=0) @ channel.rows, self._problems)
        self._beta = 0.0 if candidate.mu == 0.0 else float(short(candidate.mu, 12))
        self._goal = goal
        self.best: DualBound | None = None
        self._growing: DualBound | None = None
        self.finished, self.seconds = False, 0.0
        if self._beta == 0.0:
            used = np.isfinite(channel.log_uniform).any(axis=0)
            self.attainable, self._rungs = float(np.max(relative_entropy(channel.rows[used], self._law))), [1.0]
            return
        self._until = until
        self._rows = _Rows(channel, self._problems, candidate.p, multipliers, clock, self._until)
        self._choose_point(candidate, clock)
        tolerance = goal.tolerance
        if not self.may_close:  # so it need not be exact
            tolerance = max(tolerance, 0.02 * (self.attainable - goal.enough))
        self._tolerance = tolerance
        self._room = max(goal.enough - self.attainable, tolerance) if self.attainable < goal.useless else np.inf
        self._rungs = list(LOOSER if self._rows.grouped and np.isfinite(self._room) else LOOSER[-1:])

    @property
    def bound(self) -> DualBound:
        """The best one so far, after a turn."""
        assert self.best is not None
        return self.best

    @property
    def may_close(self) -> bool:
        """True if it may become enough."""
        return self.attainable <= self._goal.enough

    def run(self, turn: Turn) -> None:
        """Until it is as good as it becomes, or the turn is over."""
        while not self.finished and self.climb(turn):
            pass

    def climb(self, turn: Turn) -> bool:
        """The next of the bounds that come ever closer to what is attainable; False if the turn is over before."""
        started = turn.clock.seconds
        best, goal = self.best, self._goal
        growing = self._growing or self._begun(turn)
        if not growing.trees:
            self.best, self.finished = growing, True
            turn.keep(growing)
            return True
        stop = np.inf
        if self.attainable < goal.useless:
            stop = max(goal.enough, self.attainable + self._rungs[0] * self._tolerance)
        bound = _grown(self._channel, growing, *self._aims(growing, stop), stop, best, turn)
        if best is None or bound.upper < best.upper:
            self.best = bound
            turn.keep(bound)
        self.seconds += turn.clock.seconds - started
        if bound.upper > stop and not turn.may_grow(bound.distinct, 0):
            self._growing = bound
            return False
        self._rungs.pop(0)
        self._growing = None
        self.finished = not self._rungs or self.bound.upper <= goal.enough or self.attainable >= goal.useless
        return True

    def _aims(self, bound: DualBound, enough: float) -> tuple[Floats, Floats]:
        """Aims of the trees: how far they are branched, and which bound is enough, no less where a joint tree grows them on."""
        pairs = list(zip(bound.trees, self._floors, strict=True))
        spare = enough - self.attainable
        targets = [tree.target if isinstance(tree, RowTree) else floor + spare for tree, floor in pairs]
        levels = [tree.target if isinstance(tree, RowTree) else floor for tree, floor in pairs]
        return np.array(targets if self.may_close else levels), np.array(targets)

    def _choose_point(self, candidate: Candidate, clock: Clock) -> None:
        """The output law and the multiplier, and what each letter's row problem attains there."""
        channel, rows, goal = self._channel, self._rows, self._goal
        self._floors = rows.floors(self._law, self._beta)
        self.attainable = _total(channel, self._floors, self._beta)
        near = self.attainable - candidate.leakage <= SLACK * (goal.enough - candidate.leakage)
        if not rows.many or goal.one_slope or near:
            return
        point = best_point(
            channel, candidate.p, self._beta, tolerance=0.1 * goal.tolerance, clock=clock, until=self._until
        )
        law, beta = _rounded(np.exp(-point.lam), self._problems), float(short(point.beta, 12))
        rows.add_starts(point.maxima)
        floors = rows.floors(law, beta)
        if (attainable := _total(channel, floors, beta)) < self.attainable:
            self._law, self._beta, self._floors, self.attainable = law, beta, floors, attainable

    def _begun(self, turn: Turn) -> DualBound:
        """The trees of the next bound."""
        law, beta, problems = self._law, self._beta, self._problems
        if beta == 0.0:
            return DualBound(self.attainable, self.attainable, law, 0.0, problems)
        rows = self._rows
        room = self._rungs[0] * 0.999 * self._room
        trees = rows.trees(law, beta, self._floors, room, self._goal.decimals, last=self.may_close)
        turn.begun(law, beta, trees)
        return DualBound(np.inf, self.attainable, law, beta, problems, trees, rows.chambers)


def _grown(
    channel: RecordChannel,
    bound: DualBound,
    levels: Floats,
    targets: Floats,
    enough: float,
    other: DualBound | None,
    turn: Turn,
) -> DualBound:
    """Branch until the bound is enough, or no tree can be; there must be room for the proof of the other bound, too.

    Of a tree that is chosen what is above its level is branched; by others what is above its target.
    """
    trees, distinct, beta = bound.trees, bound.distinct, bound.beta
    least = other.leaves if other is not None else 0
    work = {id(tree): RowWork(tree, target) for tree, target in zip(trees, targets.tolist(), strict=True)}
    known = other.upper if other is not None else np.inf

    def proved() -> float:
        return _total(channel, [tree.upper for tree in trees], beta)

    def nodes() -> int:
        return sum(tree.leaves for tree in distinct)

    def now() -> DualBound:
        return replace(bound, upper=proved())

    def told() -> None:
        turn.tell(min(known, proved()), nodes())
        turn.grown(now)

    while True:
        told()
        if proved() <= enough:  # where any bound is enough, levels are infinite, and so may bounds be
            break
        uppers = np.array([tree.upper for tree in trees])
        excess = np.maximum(uppers - levels, 0.0)
        if not excess.any() or not turn.may_grow(distinct, least):
            break
        if turn.together(list(work.values()), least, told, lambda: proved() <= enough):
            continue
        loosest = int(np.argmax(np.exp(uppers / beta - uppers.max() / beta) * excess))
        if not trees[loosest].branch(BATCH, above=float(levels[loosest])):
            break
    return now()


def _total(channel: RecordChannel, values: Sequence[float] | Floats, beta: float) -> float:
    """U from a value for each letter."""
    return beta * float(log_sum_exp(np.array(values) / beta)) + beta * channel.granted


def _rounded(law: Floats, problems: RowProblems) -> Floats:
    """An output law as it is written, positive everywhere, and symmetric."""
    law = law / law.sum()
    law = short(0.999999999 * law + 1e-9 / law.size, 15) if np.any(law < 1e-12) else short(law, 16)
    return even(law / law.sum(), problems.orbit)


class _Rows:
    """The row problems of all letters; a letter has everything from its source."""

    def __init__(
        self,
        channel: RecordChannel,
        problems: RowProblems,
        p: Floats,
        multipliers: Multipliers,
        clock: Clock,
        until: Deadline | None,
    ) -> None:
        self._channel, self._problems, self._multipliers, self._clock = channel, problems, multipliers, clock
        self._until = until
        self._exists = np.isfinite(channel.log_uniform)
        self._first = [first for first, _ in problems.sources]
        self._chambers = {a: problems.chamber(a) for a in self._in_time(sorted(set(self._first)))}
        self.chambers = tuple(self._chambers[a] for a in self._first)
        self.many = channel.rows.shape[1] > FEW
        self.grouped = self.many and not any(chamber.steps for chamber in self.chambers)
        self._laws = {a: problems.alike(a, p)[:, self._exists[a]] for a in self._chambers}
        self._groups = dict[int, OutputGroups]()  # made for these laws, when they are asked for
        self._starts = {
            a: row_starts(self._laws[a], self._log_masses(a), np.arange(count if count <= MOST_VERTICES else 0))
            for a in self._in_time(self._laws)
            for count in [self._exists[a].sum()]
        }

    def _in_time(self, letters: Iterable[int]) -> Iterator[int]:
        """One letter after another, as long as there is time."""
        for a in letters:
            need_time(self._until)
            yield a

    def add_starts(self, maxima: Sequence[Floats]) -> None:
        """Laws on all classes (laws, classes), for each letter."""
        for a, starts in self._starts.items():
            self._starts[a] = np.vstack([starts, maxima[a][:, self._exists[a]]])

    def floors(self, law: Floats, beta: float) -> list[float]:
        """Attained value of each letter's row problem."""
        known = {
            a: climbed(
                self._channel.rows[self._exists[a]],
                self._log_masses(a),
                -np.log(law),
                beta,
                self._starts[a],
                steps=CLIMB,
                clock=self._clock,
            )[1].max()
            for a in self._in_time(self._starts)
        }
        return [known[a] for a in self._first]

    def trees(
        self, law: Floats, beta: float, floors: Sequence[float], room: float, decimals: int, *, last: bool
    ) -> tuple[BoxTree | RowTree, ...]:
        """A tree a letter that bounds its row problem from above; in groups, or chambers of many outputs, it is closed at so much
        above what it attains. Boxes of one that is the last, and not to be grown on in a joint tree, are bounded no better than that.
        """
        known = dict[int, BoxTree | RowTree]()
        for a in self._in_time(self._laws):
            rows, log_masses = self._channel.rows[self._exists[a]], self._log_masses(a)
            chamber, laws = self._chambers[a], self._laws[a]
            if self.grouped or (chamber.steps and law.size > SORTED):
                if a not in self._groups:
                    self._groups[a] = OutputGroups.of(rows, (laws + 1e-12) / (laws + 1e-12).sum(), self._until)
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
            relaxation = RowRelaxation(
                rows,
                log_masses,
                law,
                beta,
                decimals=decimals,
                enough=floors[a] + room if last else -np.inf,
                multipliers=self._multipliers,
            )
            low, high = self._problems.low[a], self._problems.high[a]
            known[a] = BoxTree(relaxation, low, high, np.zeros(law.size), chamber.close)
        return tuple(known[a] for a in self._first)

    def _log_masses(self, a: int) -> Floats:
        return self._channel.log_uniform[a][self._exists[a]]
