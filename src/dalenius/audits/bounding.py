"""The bounds from above of an audit's records: the dual bound, vertices, and the trees that race to close what these leave open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from dalenius.audits.bounds.dual import DualBound, dual_bound
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.output_groups import groups_bytes
from dalenius.audits.bounds.posteriors import PosteriorHalf, PosteriorRelaxation, PosteriorTree
from dalenius.audits.bounds.row_solver import RowSolver
from dalenius.audits.bounds.rows import relaxation_bytes
from dalenius.audits.bounds.vertices import VertexTree
from dalenius.audits.kept import Kept
from dalenius.audits.proof_lines import dual_lines, dual_tree_lines, posterior_lines, vertex_lines
from dalenius.audits.record_audit import ABSOLUTE, RecordAudit, Rung
from dalenius.audits.together import Together
from dalenius.audits.tree_room import TreeRoom
from dalenius.evidence.lines import ProofLine
from dalenius.information.arrays import Floats
from dalenius.model import MaximalLeakage
from dalenius.reduction import AggregatedRecord, RecordSymmetries
from dalenius.search.clock import Clock
from dalenius.search.race import Race
from dalenius.search.run import Run
from dalenius.search.runner import Runner

__all__ = ["Bounded", "Bounding"]

MOST_CLASSES = 256  # above this the vertex bound is not tried
MOST_OUTPUTS = 512  # above this no boxes of the conditionals are made: a Newton step on all outputs takes seconds


class Bounded(Protocol):
    """An audit whose records are bounded."""

    problem: MaximalLeakage
    search: Run
    records: list[RecordAudit]

    @property
    def lower(self) -> float: ...

    @property
    def target(self) -> float: ...

    def improve(self, record: RecordAudit, p: Floats, clock: Clock) -> None:
        """Look for a better witness from a prior where a bound is large."""

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

    def run(self, clock: Clock) -> None:
        """Bound every kind of record that is not bounded well enough yet."""
        records = self.audit.records
        for j, record in enumerate(sorted(records, key=lambda r: -r.candidate.leakage)):
            turn = clock.part(1.0 / (len(records) - j))
            record.race = None
            if record.upper > self.audit.target and not turn.expired:
                self._bound(record, turn)
        self._race(clock)

    def _bound(self, record: RecordAudit, turn: Clock) -> None:
        """The dual bound first; where its own limit is too high, the vertices; what is left goes to the trees' race."""
        dual = record.dual
        if dual is None:
            channel = record.channel
            arrays = relaxation_bytes(channel.rows, channel.letters) + groups_bytes(channel.rows, channel.letters)
            if self.room.held + arrays > self.audit.search.limits.least[1]:
                self.room.full = True
                return
            self.room.held += arrays
            dual = self._dual(record, turn)
            self._vertices(record, turn)
        record.dual = None if self.slope is None else dual  # for trees whose leaves have slopes of their own
        if record.upper > self.audit.target:
            record.race = self._trees(record, dual, turn)

    def _dual(self, record: RecordAudit, turn: Clock) -> DualBound:
        channel, candidate, audit = record.channel, record.candidate, self.audit
        gap = audit.search.limits.gap

        def keep(bound: DualBound) -> None:
            rung = Rung(bound.leaves, bound.grouped, record.work)
            record.keep(bound.upper, "dual", dual_lines(channel, bound), rung)

        return dual_bound(
            channel,
            candidate if self.slope is None else replace(candidate, mu=self.slope),
            RecordSymmetries.of(audit.problem, channel),
            one_slope=self.slope is not None,
            tolerance=0.2 * gap * candidate.leakage + 0.2 * ABSOLUTE,
            enough=audit.target,
            useless=record.upper,
            decimals=record.decimals(gap) + 1,
            multipliers=self.multipliers,
            clock=turn,
            may_grow=lambda trees, least: self.room.may_grow(turn, record, *trees, least=least),
            tell=lambda upper, nodes: audit.tell("dual", channel.record, nodes, min(upper, record.upper)),
            together=partial(self.together.rows, record, turn),
            begun=partial(self.kept.rows, record),
            keep=keep,
        )

    def _vertices(self, record: RecordAudit, turn: Clock) -> None:
        channel, target = record.channel, self.audit.target
        if record.upper > target and channel.log_uniform.shape[1] <= MOST_CLASSES:
            vertices = VertexTree(channel, turn.part(0.2))
            if vertices.attained < record.upper:
                vertices.run(target=target)
            record.keep(
                vertices.upper, "vertices", vertex_lines(channel, vertices), Rung(vertices.nodes, 1.0, record.work)
            )
            if vertices.witness is not None:
                self.audit.improve(record, vertices.witness, turn)

    def _trees(self, record: RecordAudit, dual: DualBound, turn: Clock) -> Race:
        """The trees that may close one kind of record, side by side; all leaves with one slope, if there is to be one."""
        record.candidate = self.kept.best(record)
        channel, runners, target = record.channel, list[Runner](), self.audit.target
        limits = self.audit.search.limits
        decimals = record.decimals(limits.gap)
        relaxation = PosteriorRelaxation(channel, decimals=decimals, multiplier=self.slope)
        if relaxation.improves:
            weights = record.candidate.p.sum(axis=0) @ channel.rows
            half = PosteriorHalf.of(dual.problems.symmetries, relaxation.boxed[0], weights)
            runners.append(PosteriorTree(relaxation, record.candidate.mu, target=target, half=half))
        if dual.trees and channel.rows.shape[1] <= MOST_OUTPUTS:
            joint = DualTree(
                channel,
                dual,
                target=target,
                wanted=max(target - self.audit.lower, ABSOLUTE),
                decimals=decimals + 1,
                most=min(limits.nodes, 0.5 * turn.remaining / self.room.checking(Rung(1, 1.0, record.work))),
                fixed=self.slope is not None,
                multipliers=self.multipliers,
            )
            runners.append(joint)
        for runner in runners:
            self.kept.runner(record, runner)
        return Race(runners, fair=0.6 if channel.letters == 2 else 0.1)  # boxes of the posterior suit two letters

    def _race(self, whole: Clock) -> None:
        """Grow trees for the record with the largest bound, until the audit closes or no tree can or may grow."""
        searched: dict[int, int] = {}  # the leaves of each tree when its point was last a start for a search
        open_records = [record for record in self.audit.records if record.race is not None]

        def grown(record: RecordAudit, runner: Runner) -> None:
            if runner.point is not None and runner.leaves > 2 * searched.get(id(runner), 0):
                searched[id(runner)] = runner.leaves
                self.audit.improve(record, runner.point, whole.slice(whole.remaining - self.room.checking_now))
            self.audit.tell(runner.name, record.channel.record, runner.leaves, record.bounded)

        while open_records:
            record = max(open_records, key=lambda record: record.bounded)
            if record.bounded <= self.audit.target:
                break
            assert record.race is not None
            clock = whole.slice(whole.remaining - self.room.checking_now)  # a turn may be long
            if self.together.races(open_records, whole, clock, grown):
                continue
            runner = record.race.turn(clock, self.audit.target, partial(self.room.may_grow, whole, record))
            if runner is None:
                open_records.remove(record)
            else:
                grown(record, runner)
        self._keep_trees()

    def _keep_trees(self) -> None:
        """Take the bounds of trees that are better than what is known."""
        for record in self.audit.records:
            for runner in record.race.runners if record.race else []:
                if runner.upper < record.upper:
                    lines = _tree_lines(record.channel, runner)
                    record.keep(runner.upper, runner.name, lines, Rung(runner.leaves, 1.0, record.work))


def _tree_lines(channel: AggregatedRecord, runner: Runner) -> Iterable[ProofLine]:
    if isinstance(runner, PosteriorTree):
        return posterior_lines(channel, runner)
    assert isinstance(runner, DualTree)
    return dual_tree_lines(channel, runner)
