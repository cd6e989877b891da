"""Resources of the trees of an audit: leaves, memory, and the time that checking them needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from dalenius.audits.bounds.dual_work import RowWork
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.record_audit import RecordAudit, Rung
from dalenius.search.boxes import BoxTree
from dalenius.search.clock import Clock
from dalenius.search.crew import AHEAD, Crew, Work, turn_of
from dalenius.search.run import Run
from dalenius.search.tree import Runner

AnyTree: TypeAlias = BoxTree | RowTree | Runner

WORK = 1.6e-7  # seconds that writing and checking a leaf take per multiply-add, and FIXED besides: both are within the limit
FIXED = 5e-5
NARROWED = 3e-5  # and for each of its ranges that is narrowed by those beside it
READING = 1e-4  # seconds of it, whether or not it was worked out before; in a design as much again, for writing
WRITTEN = 150  # bytes that a number takes in a line and in the text of a certificate


@dataclass
class TreeRoom:
    """Rest of the limits of a search.

    Parameters
    ----------
    search : Run
    records : list of RecordAudit
        Whose trees these are.
    held : float
        Bytes besides the leaves of trees, the proof's included.

    Attributes
    ----------
    late, full : bool
        Whether a tree stopped growing because of the time that its check takes, or of another limit.
    """

    search: Run
    held: float
    records: list[RecordAudit] = field(default_factory=list)
    late: bool = False
    full: bool = False

    def may_grow(self, turn: Clock, record: RecordAudit, *trees: AnyTree, least: int = 0) -> bool:
        """True if the trees of a bound may get more leaves: within the limits, and there must be time left to check them, too.

        Parameters
        ----------
        turn : Clock
            What these trees may take with their check. That of all records is within the time of the search.
        record : RecordAudit
            Whose bound it is.
        trees : tree
            All of the bound.
        least : int
            Leaves that there must be room for in any case, those of another bound. What checking these takes is no matter of how
            many slopes a leaf of this one has: the record knows it of what would be written now.
        """
        rung, limits = _rung(trees, record.work), self.search.limits
        late = turn.remaining < self.checking(rung) or self.search.clock.remaining < self._checking_all(record, rung)
        leaves = max(rung.leaves, least)
        taken = self._taken(leaves * max(tree.leaf_bytes() for tree in trees))
        full = (
            leaves >= limits.nodes or taken >= limits.bytes or self.held + taken + self._text(rung) >= limits.least[1]
        )
        self.late |= late
        self.full |= full
        return not (full or late or turn.expired)

    def leaves_left(self, record: RecordAudit, runner: Runner, trees: Sequence[Runner], least: int = 0) -> float:
        """Number of leaves that a tree of a bound with these trees may still get, within the limits when a worker's turn is over."""
        limits, clock, size = self.search.limits, self.search.clock, runner.leaf_bytes()
        rung, one = _rung(trees, record.work), _rung((runner,), record.work)._replace(leaves=1, told=0)
        leaves = max(rung.leaves, least)
        bytes_left = limits.least[1] - self.held - self._taken(leaves * size) - self._text(rung)
        seconds_left = clock.remaining - AHEAD * turn_of(clock) - self._checking_all(record, rung)
        return min(
            limits.nodes - leaves, bytes_left / (size + one.grouped * self._written), seconds_left / self.checking(one)
        )

    def checking(self, *rungs: Rung) -> float:
        """Seconds that checking these proofs takes besides what any proof takes, predicted."""
        reading = READING * self.search.checks * sum(rung.leaves for rung in rungs)
        new = sum((r.leaves - r.told) * (FIXED + NARROWED * r.ranges + WORK * r.grouped * r.work) for r in rungs)
        return self.search.clock.pace * (new / (self.search.crew.hands if self.search.crew else 1) + reading)

    @property
    def checking_now(self) -> float:
        """Of what would be written now: of every record the best bound, a tree's or another."""
        return self.checking(*(record.best_rung for record in self.records))

    def _checking_all(self, record: RecordAudit, rung: Rung) -> float:
        """Of this proof, or what would be written now of its record if that takes longer, and of what would be of all others."""
        others = (other.best_rung for other in self.records if other is not record)
        return max(self.checking(rung), self.checking(record.best_rung)) + self.checking(*others)

    def _taken(self, least: int) -> int:
        """The bytes that the leaves of all trees take, at least what is known of one of them."""
        races = [record.race for record in self.records if record.race]
        return max(sum(runner.leaves * runner.leaf_bytes() for race in races for runner in race.runners), least)

    def _text(self, rung: Rung) -> float:
        """The bytes of a proof in a certificate, or of what would be written now if that is longer."""
        now = sum(best.leaves * best.grouped for best in (record.best_rung for record in self.records))
        return self._written * max(rung.leaves * rung.grouped, now)

    @property
    def _written(self) -> int:
        """The bytes of a leaf in a certificate where outputs are not grouped."""
        return WRITTEN * max((record.channel.aggregation.output_count for record in self.records), default=0)


def _rung(trees: Sequence[AnyTree], work: int) -> Rung:
    """Work of checking these trees."""
    leaves = sum(tree.leaves for tree in trees)
    told = sum(tree.told if isinstance(tree, Runner) else len(tree.told) for tree in trees)
    ranges = max(tree.ranges if isinstance(tree, Runner) else 0 for tree in trees)
    return Rung(leaves, sum(tree.leaves * _grouped(tree) for tree in trees) / leaves, work, told, ranges)


def _grouped(tree: AnyTree) -> float:
    """Number of slopes of a leaf, as a share of the number of outputs."""
    tree = tree.tree if isinstance(tree, RowWork) else tree
    return tree.grouped if isinstance(tree, RowTree | Runner) else 1.0


ALONE = 0.05  # seconds of an audit before others are called; until they are there it goes on alone


@dataclass(frozen=True)
class Together:
    """Workers on the trees of an audit besides this process; nobody where there is no crew, or before it is there.

    What it does says whether anything was done.
    """

    trees: TreeRoom
    crew: Crew | None
    clock: Clock
    began: float
    target: Callable[[], float]

    def rows(
        self,
        record: RecordAudit,
        turn: Clock,
        runners: Sequence[Runner],
        least: int,
        told: Callable[[], None],
        finished: Callable[[], bool],
    ) -> bool:
        """Grow the row trees of a dual bound until this is finished, those first that are furthest from their targets.

        There must be room for a least number of leaves, too, those of another bound.
        """

        def choose() -> Runner | None:
            if not self.trees.may_grow(turn, record, *runners, least=least):
                return None
            return max((r for r in runners if r.waits), key=lambda runner: runner.upper - runner.target, default=None)

        def room(runner: Runner) -> float:
            return self.trees.leaves_left(record, runner, runners, least)

        return self._run(Work(choose, room, lambda runner, seconds: told(), finished), turn)

    def races(
        self,
        records: Sequence[RecordAudit],
        whole: Clock,
        clock: Clock,
        grown: Callable[[RecordAudit, Runner], None],
        pause: Callable[[RecordAudit], bool],
    ) -> bool:
        """Grow the trees of several records, that with the largest bound first, by the rules of each one's race.

        `clock` ends before `whole` does: what lies between is for the check. Where a record asks for a pause something else is next.
        """
        owner = {id(runner): record for record in records if record.race for runner in record.race.runners}

        def may_grow(record: RecordAudit, runner: Runner) -> bool:
            return runner.waits and self.trees.may_grow(whole, record, runner)

        def choose() -> Runner | None:
            for record in sorted(records, key=lambda record: -record.bounded):
                if record.race is None or record.bounded <= self.target():
                    break
                runner = record.race.choose(self.target(), partial(may_grow, record))
                if runner is not None:
                    return runner
            return None

        def room(runner: Runner) -> float:
            return self.trees.leaves_left(owner[id(runner)], runner, (runner,))

        def merged(runner: Runner, seconds: float) -> None:
            record = owner[id(runner)]
            assert record.race is not None
            record.race.charge(runner, seconds)
            grown(record, runner)

        def finished() -> bool:
            worst = max(records, key=lambda record: record.bounded)
            return worst.bounded <= self.target() or pause(worst)

        return self._run(Work(choose, room, merged, finished), clock)

    def call(self) -> bool:
        """Call them, when the audit has worked for a while; whether somebody is there, or will not come."""
        return self.crew is not None and self.clock.seconds - self.began > ALONE and self.crew.ready

    def _run(self, work: Work, clock: Clock) -> bool:
        return self.call() and self.crew is not None and self.crew.run(work, clock)
