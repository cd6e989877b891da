"""The bounds from above of an audit's records: the dual bound, vertices, and the trees that race to close what these leave open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np

from dalenius._prove import draft
from dalenius.audits.bounds.dual_node import Aim
from dalenius.audits.bounds.dual_tree import DualBound, DualTree
from dalenius.audits.bounds.dual_work import DualWork, Goal, Turn
from dalenius.audits.bounds.output_groups import FEW, groups_bytes
from dalenius.audits.bounds.posterior_groups import PosteriorGroups
from dalenius.audits.bounds.posteriors import PosteriorHalf, PosteriorRelaxation, PosteriorTree
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.bounds.rows import RowSolver, relaxation_bytes
from dalenius.audits.bounds.separate import separate_bound
from dalenius.audits.bounds.vertices import VertexTree
from dalenius.audits.proof_lines import (
    draft_lines,
    dual_lines,
    dual_tree_lines,
    posterior_lines,
    separate_lines,
    vertex_lines,
)
from dalenius.audits.record_audit import ABSOLUTE, Kept, RecordAudit, Rung
from dalenius.audits.tree_room import Together, TreeRoom
from dalenius.evidence.upper import ProofLine
from dalenius.information.arrays import Floats
from dalenius.information.deadline import TimeIsOverError
from dalenius.model import WorstCaseLeakage
from dalenius.reduction import AggregatedRecord, RecordSymmetries, exact_counts
from dalenius.search import Run
from dalenius.search.clock import Clock
from dalenius.search.decimals import short
from dalenius.search.tree import HOPELESS, Race, Runner

# Proofs that grow with their search: the checker works out what has closed, and from time to time proves all that is known.


DUE = 1.0  # seconds of checking that may be left to the end
SOON = 0.25  # seconds of an audit before anything is proved
RARELY = 6.0  # times what the last proof took goes by before the next
AHEAD = 2.0  # times what a proof should take by which it is ahead of the one at the end, at least
NARROWER = 0.7  # times as wide as what was proved last: an interval that is worth a proof


@dataclass
class Drafts:
    """Turns of the checker during a search, whose checks keep what they know.

    Parameters
    ----------
    problem : WorstCaseLeakage
    search : Run
    room : TreeRoom
        Predicts what checking takes.
    """

    problem: WorstCaseLeakage
    search: Run
    room: TreeRoom
    _width: float = float("inf")  # of what was proved last
    _next: float = field(init=False)
    _apart: float = 0.0  # seconds that lie between that proof and the next, the one at the end included

    def __post_init__(self) -> None:
        self._next = self.search.clock.seconds + SOON

    @property
    def able(self) -> bool:
        """True if there are any."""
        return self.search.known is not None

    def look(self, record: RecordAudit, bound: DualBound) -> None:
        """Have what has closed in a growing dual bound worked out, if that is due."""
        closed = sum(len(tree.untold) for tree in bound.distinct if isinstance(tree, RowTree))
        if closed and self.room.checking(Rung(closed, bound.grouped, record.work)) >= DUE:
            self.work_out(record, bound)

    def work_out(self, record: RecordAudit, bound: DualBound) -> None:
        """Have what has closed in a growing dual bound worked out: from then on its trees prove their targets, and no less."""
        if self.able and any(tree.untold for tree in bound.distinct if isinstance(tree, RowTree)):
            draft(self.problem, self.search, (*record.head, *draft_lines(record.channel, bound)))

    def prove(self, width: float, keep: Callable[[], None], stand: Callable[[], bool]) -> None:
        """Have an interval of this width proved, if that is due, once it is kept; not where nobody is handed one on the way."""
        clock, began = self.search.clock, self.search.clock.seconds
        ahead = AHEAD * self.search.anytime * self.room.checking_now
        late = clock.remaining <= max(self._apart, ahead) or clock.expired
        soon = began < self._next or late or not self.search.anytime
        if soon or not self.able or width > NARROWER * self._width:
            return
        keep()
        kept, leaves = clock.seconds, self.room.checking_now
        self._width = width if stand() else self._width
        besides = max(clock.seconds - kept - leaves, 0.0)
        clock.reserve(besides - clock.reserved)  # which is measured, where it was predicted before
        self._apart = max(RARELY * (clock.seconds - began), SOON)
        self._next = clock.seconds + self._apart


FEW_SELECTIONS = 4096  # of which the vertex bound is the first that is tried
LAW_DIGITS = 10
ROUNDED = 3e-8  # of a bound that is good to some per cent at best: no proof of it is refused for less
MOST_CLASSES = 256  # above this the vertex bound is not tried
GROUPS_LOSE = 0.15  # of the room that the bound has: groups of outputs in boxes of the posterior
FIRST = 0.05  # of the time, before trees: a dual bound that cannot close; its turn comes again
POINTS = 64  # leaves of a tree before its point is a start for a search
MOST_OUTPUTS = 512  # above this no boxes of the conditionals are made: a Newton step on all outputs takes seconds


class Bounded(Protocol):
    """An audit whose records are bounded."""

    problem: WorstCaseLeakage
    search: Run
    records: list[RecordAudit]
    earlier: Sequence[RecordAudit]

    @property
    def asked(self) -> WorstCaseLeakage:
        """Subject of the proof."""

    @property
    def lower(self) -> float: ...

    @property
    def target(self) -> float: ...

    def improve(self, record: RecordAudit, p: Floats, clock: Clock) -> None:
        """Look for a better witness from a prior where a bound is large."""

    def on_the_way(self) -> bool:
        """Have the bounds that are kept proved, or what they are for; True if that is."""

    def tell(self, stage: str, record: int | None, leaves: int, upper: float = ..., *, now: bool = ...) -> None:
        """Report."""


@dataclass
class Bounding:
    """Bounds the records of an audit.

    Parameters
    ----------
    audit : Bounded
    room : TreeRoom
        What trees may take.
    together : Together
        Who works on them, too.
    kept : Kept
        Where they are written from time to time.
    slope : float, optional
        The multiplier that all leaves are to have.
    """

    audit: Bounded
    room: TreeRoom
    together: Together
    kept: Kept
    slope: float | None = None
    multipliers: RowSolver = field(default_factory=RowSolver)

    def __post_init__(self) -> None:
        self.multipliers.clock = self.audit.search.clock
        self._left = set[int]()  # records whose dual bound has led nowhere in this run
        self.drafts = Drafts(self.audit.asked, self.audit.search, self.room)

    def run(self, clock: Clock) -> None:
        """Bound every kind of record that is not bounded well enough yet."""
        records = self.audit.records
        self._left = set()
        self._prove()
        for j, record in enumerate(sorted(records, key=lambda r: -r.candidate.leakage)):
            turn = clock.part(1.0 / (len(records) - j))
            record.race = None
            if record.upper > self.audit.target and not turn.expired:
                self._bound(record, turn)
        self._race(clock)

    def _bound(self, record: RecordAudit, turn: Clock) -> None:
        """The dual bound first, if it may close; then the trees' race, where it is taken up again if it may not.

        Before them the vertices, where every selection is a prior and they are few: the largest of them is the leakage. Boxes of the
        posterior that an earlier audit has left are all that there is to go on with.
        """
        if (tree := self._taken_over(record)) is not None:
            record.race = Race([tree], fair=[1.0])
            return
        self._separate(record, turn)
        vertices = self._vertices(record, turn) if of_few_selections(record.channel) else None
        if record.upper <= self.audit.target:
            return
        if record.dual is None:
            channel = record.channel
            arrays = relaxation_bytes(channel.rows, channel.letters) + groups_bytes(channel.rows, channel.letters)
            if self.room.held + arrays > self.audit.search.limits.least[1]:
                self.room.full = True
                return
            self.room.held += arrays
            with suppress(TimeIsOverError):
                record.dual = self._dual(record)
        if (dual := record.dual) is not None:
            with suppress(TimeIsOverError):
                first = None if dual.may_close else turn.part(FIRST)
                while not dual.finished and dual.climb(self._turn(record, turn, first)) and dual.may_close:
                    pass
        if record.upper > self.audit.target:
            vertices = vertices or self._vertices(record, turn)
        if record.upper > self.audit.target and record.dual is not None and record.dual.best is not None:
            record.race = self._trees(record, record.dual, vertices)

    def _taken_over(self, record: RecordAudit) -> PosteriorTree | None:
        """The boxes that an earlier audit has left, bounded anew; None where there are none that fit, or no room for both."""
        channel, audit = record.channel, self.audit
        kept = channel.aggregation.kept_outputs
        alike = (
            old
            for old in audit.earlier
            if old.record == record.record and np.array_equal(old.channel.aggregation.kept_outputs, kept)
        )
        tree = next((old.boxes for old in alike), None)
        if (
            tree is None
            or self.room.held + 2.0 * (size := tree.leaves * tree.leaf_bytes()) > audit.search.limits.least[1]
        ):
            return None
        self.room.held += size
        half = None
        if tree.half is not None:
            symmetries, weights = RecordSymmetries.of(audit.problem, channel), np.zeros(len(kept))
            weights[tree.half.output] = 1.0
            half = PosteriorHalf.of(symmetries, tree.half.letter, weights)
            if half is None or half.output != tree.half.output:
                return None
        return tree.of_channel(channel, record.candidate.p, half, audit.target, audit.search.clock)

    def _separate(self, record: RecordAudit, turn: Clock) -> None:
        """The dual bound one output at a time, of channels that are right or wrong alike and have many outputs."""
        problem, channel = self.audit.problem, record.channel
        if not problem.mechanism.alike or problem.shape[1] <= FEW or self.slope is not None:
            return
        log_uniform, (stay, change) = channel.completions.log_uniform, problem.channel[0, :2].tolist()
        # outputs' laws: without any knowledge, which has no favourite, and of the witness, which may be the worst prior
        for masses in (channel.uniform, record.candidate.p):
            if record.upper <= self.audit.target:
                break
            outputs = channel.lift_outputs(masses.sum(axis=0) @ channel.rows)
            law = short(outputs / outputs.max(), LAW_DIGITS)
            found = separate_bound(log_uniform, channel.max_knowledge, stay, change, law, turn)
            if found is not None:
                listed = exact_counts(problem.query_of_inputs, problem.records, channel.record)
                alike = range(channel.letters) if listed is None else [listed.index(row) for row in listed]
                lines = separate_lines(found, problem.records.log_datasets, alike)
                rounding = ROUNDED * found.upper + 8.0 * float(np.spacing(found.slope * problem.records.log_datasets))
                record.keep(found.upper + rounding, "separate", lines, Rung(1, 1.0, record.work))

    def _dual(self, record: RecordAudit) -> DualWork:
        channel, candidate, audit = record.channel, record.candidate, self.audit
        gap = audit.search.limits.gap
        goal = Goal(
            tolerance=0.2 * gap * candidate.leakage + 0.2 * ABSOLUTE,
            enough=audit.target,
            useless=record.upper,
            decimals=record.decimals(gap) + 1,
            one_slope=self.slope is not None,
        )
        return DualWork(
            channel,
            candidate if self.slope is None else replace(candidate, mu=self.slope),
            RecordSymmetries.of(audit.problem, channel),
            goal,
            multipliers=self.multipliers,
            clock=audit.search.clock,  # a point that is chosen in haste costs every tree that is grown at it
            until=audit.search.clock,
        )

    def _turn(self, record: RecordAudit, clock: Clock, turn: Clock | None = None) -> Turn:
        """Resources of a dual bound until the clock has expired, or a turn within its time, and who is told."""
        channel = record.channel

        def keep(bound: DualBound) -> None:
            rung = Rung(bound.leaves, bound.grouped, record.work, bound.told)
            record.keep(bound.upper, "dual", tuple(dual_lines(channel, bound)), rung)  # which goes on growing

        def grown(now: Callable[[], DualBound]) -> None:
            def keep_now() -> None:
                self.drafts.work_out(record, now())
                keep(now())

            self.drafts.look(record, now())
            self._prove(record, now().upper, keep_now)

        return Turn(
            may_grow=lambda trees, least: (
                not (turn and turn.expired) and self.room.may_grow(clock, record, *trees, least=least)
            ),
            clock=clock,
            tell=lambda upper, nodes: self.audit.tell("dual", channel.record, nodes, min(upper, record.bounded)),
            together=partial(self.together.rows, record, clock),
            begun=partial(self.kept.rows, record),
            keep=keep,
            grown=grown,
        )

    def _prove(
        self, record: RecordAudit | None = None, upper: float = np.inf, keep: Callable[[], None] = lambda: None
    ) -> None:
        """Have what is known proved, if that is due: the trees, and perhaps a growing bound of a record."""

        def stand() -> bool:
            for runner in (runner for other in self.audit.records if other.race for runner in other.race.runners):
                if isinstance(runner, PosteriorTree):
                    runner.tree.tell(runner.target)
            self._keep_trees()
            return self.audit.on_the_way()

        known = (min(other.bounded, upper if other is record else np.inf) for other in self.audit.records)
        self.drafts.prove(max(known, default=0.0) - self.audit.lower, keep, stand)

    def _vertices(self, record: RecordAudit, turn: Clock) -> VertexTree | None:
        """The vertices, as long as they may close; None where there are too many classes."""
        if record.channel.log_uniform.shape[1] > MOST_CLASSES:
            return None
        vertices, part = VertexTree(record.channel, turn, target=self.audit.target), turn.part(0.2)
        while vertices.upper > vertices.target and not (vertices.hopeless or part.expired) and vertices.grow(part):
            pass
        if vertices.upper < record.upper:
            rung = Rung(vertices.leaves, 1.0, record.work)
            record.keep(vertices.upper, vertices.name, tuple(vertex_lines(record.channel, vertices)), rung)
        if vertices.point is not None:
            self.audit.improve(record, vertices.point, turn)
        return vertices

    def _trees(self, record: RecordAudit, dual: DualWork, vertices: VertexTree | None) -> Race:
        """The trees that may close one kind of record, side by side; all leaves with one slope, if there is to be one."""
        record.candidate = self.kept.best(record)
        channel, target, search, start = record.channel, self.audit.target, self.audit.search, dual.bound
        decimals = record.decimals(search.limits.gap)
        leaf = self.room.checking(Rung(1, 1.0, record.work))
        runners = list[tuple[Runner, float]]()
        two = channel.letters == 2  # which boxes of the posterior suit
        weights = record.candidate.p.sum(axis=0) @ channel.rows
        half = PosteriorHalf.of(start.problems.symmetries, 1 if two else 0, weights)
        groups = PosteriorGroups.of(
            channel, (record.candidate.p,), GROUPS_LOSE * (target - self.audit.lower), half.output if half else None
        )
        relaxation = PosteriorRelaxation(
            channel, decimals=decimals, multiplier=self.slope, groups=groups, clock=search.clock
        )
        if relaxation.improves:
            tree = PosteriorTree(relaxation, record.candidate.mu, target=target, half=half)
            runners.append((tree, 0.6 if two else 0.1))
        if start.trees and channel.rows.shape[1] <= MOST_OUTPUTS:
            aim = Aim(
                channel,
                target,
                wanted=max(target - self.audit.lower, ABSOLUTE),
                decimals=decimals + 1,
                most=min(search.limits.nodes, 0.5 * search.clock.remaining / leaf),
                fixed=self.slope is not None,
                multipliers=self.multipliers,
            )
            joint = DualTree(aim, start)
            runners.append((joint, 0.25 if two and relaxation.improves else 0.1))
        for runner, _ in runners:
            self.kept.runner(record, runner)
        if vertices is not None:
            runners.append((vertices, 0.25))
        return Race([runner for runner, _ in runners], fair=[share for _, share in runners])

    def _race(self, whole: Clock) -> None:
        """Grow trees for the record with the largest bound, until the audit closes or no tree can or may grow."""
        searched: dict[int, int] = {}  # the leaves of each tree when its point was last a start for a search
        open_records = [record for record in self.audit.records if record.race is not None]

        def grown(record: RecordAudit, runner: Runner) -> None:
            if runner.point is not None and runner.leaves > searched.get(id(runner), POINTS):
                searched[id(runner)] = 2 * runner.leaves
                self.audit.improve(record, runner.point, whole.slice(whole.remaining - self.room.checking_now))
            if isinstance(runner, PosteriorTree) and runner.coarse:
                self._keep_tree(record, runner)
                if runner.refine():
                    self.kept.runner(record, runner)
            self.audit.tell(runner.name, record.channel.record, runner.leaves, record.bounded)
            self._prove()

        while open_records:
            record = max(open_records, key=lambda record: record.bounded)
            if record.bounded <= self.audit.target:
                break
            assert record.race is not None
            clock = whole.slice(whole.remaining - self.room.checking_now)  # a turn may be long
            if self._dual_is_due(record) and self._dual_again(record, clock):
                continue
            if self.together.races(open_records, whole, clock, grown, self._dual_is_due):
                continue
            runner = record.race.turn(clock, self.audit.target, partial(self.room.may_grow, whole, record))
            if runner is not None:
                grown(record, runner)
            elif not self._dual_again(record, clock):
                open_records.remove(record)
        self._keep_trees()

    def _dual_is_due(self, record: RecordAudit) -> bool:
        """True if the dual bound is the one to be grown: where it cannot close, a share of the time is its own."""
        assert record.race is not None
        dual = self._dual_left(record)
        return dual is not None and (dual.may_close or dual.seconds <= HOPELESS * record.race.seconds)

    def _dual_left(self, record: RecordAudit) -> DualWork | None:
        """The dual bound, if it may become the best."""
        dual = record.dual
        left = dual is None or dual.finished or record.record in self._left or dual.attainable >= record.bounded
        return None if left else dual

    def _dual_again(self, record: RecordAudit, clock: Clock) -> bool:
        """Go on with the dual bound for a while; False if that led nowhere."""
        dual, turn = self._dual_left(record), record.race.slice(clock) if record.race else clock
        with suppress(TimeIsOverError):
            if dual is not None and (dual.climb(self._turn(record, clock, turn)) or turn.expired > clock.expired):
                return True
        self._left.add(record.record)
        return False

    def _keep_trees(self) -> None:
        """Take the bounds of trees that are better than what is known."""
        for record in self.audit.records:
            for runner in record.race.runners if record.race else []:
                self._keep_tree(record, runner)

    def _keep_tree(self, record: RecordAudit, runner: Runner) -> None:
        if runner.upper < record.upper:
            rung = Rung(runner.leaves, runner.grouped, record.work, runner.told, runner.ranges)
            record.keep(runner.upper, runner.name, _tree_lines(record.channel, runner), rung)


def of_few_selections(channel: AggregatedRecord) -> bool:
    """True if a law of the letters on one class each has enough entropy whatever the classes are, and there are few such choices."""
    pairs = np.isfinite(channel.log_uniform)
    few = int(pairs.sum(axis=1).max()) ** channel.letters <= FEW_SELECTIONS
    return few and channel.max_knowledge >= -float(channel.log_uniform[pairs].min())


def _tree_lines(channel: AggregatedRecord, runner: Runner) -> Iterable[ProofLine]:
    if isinstance(runner, PosteriorTree):
        return posterior_lines(channel, runner.relaxation, runner.tree, runner.half)
    if isinstance(runner, VertexTree):
        return vertex_lines(channel, runner)
    assert isinstance(runner, DualTree)
    return dual_tree_lines(channel, runner)
