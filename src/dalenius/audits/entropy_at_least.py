"""Problem 1, both sides: witnesses from below, the least of several certified bounds from above, for every kind of record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from dalenius._costs import AuditCosts
from dalenius.audits.ascent import Candidate, search
from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.audits.bounds.dual import DualBound, RowWork, dual_bound
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.output_groups import groups_bytes
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.bounds.row_solver import RowSolver
from dalenius.audits.bounds.rows import relaxation_bytes
from dalenius.audits.bounds.vertices import VertexTree, output_law
from dalenius.audits.curve import WholeCurve, bound_at
from dalenius.audits.kept import Kept
from dalenius.audits.proof_lines import (
    constant_lines,
    dual_lines,
    dual_tree_lines,
    posterior_lines,
    prior_text,
    vertex_lines,
)
from dalenius.audits.record_audit import (
    ABSOLUTE,
    RELATIVE,
    RecordAudit,
    best_of,
    capacity_bound,
    letters_bound,
    one_class_a_letter,
)
from dalenius.audits.together import Together
from dalenius.evidence import double_above
from dalenius.evidence.lines import ProofLine, RecordLine, UniformLeaf
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.reduction import AggregatedRecord, RecordSymmetries, record_channels
from dalenius.results import RecordProof, Result
from dalenius.search.boxes import BoxTree
from dalenius.search.clock import Clock
from dalenius.search.crew import turn_of
from dalenius.search.race import Race
from dalenius.search.runner import Runner

__all__ = ["EntropyAudit", "RecordAudit"]

Proof = tuple[ProofLine, ...]
MOST_CLASSES = 256  # above this the vertex bound is not tried
WORK = 2.5e-7  # seconds that writing and checking a leaf take per multiply-add, and FIXED besides: both are within the limit
FIXED = 3e-4
TANGENT = 0.6  # share of the time left that bounds of one slope may take
LAST = 0.05  # share of the time limit that a last checkpoint may take, once it is passed
WRITTEN = 150  # bytes that a number takes in a line and in the text of a certificate


@dataclass
class EntropyAudit(Audit):
    """A running audit against all priors with at least some entropy.

    Parameters
    ----------
    known : dict of record -> (upper bound, proof)
        Bounds proved before, for an adversary with no more entropy.
    enough : float
        An upper bound at most this closes the audit, too, however far the lower one is.
    curve : WholeCurve, optional
        What is proved is to bound the leakage at every entropy bound: by leaves of one slope, if that closes the audit.
    """

    searches_anyway: ClassVar[bool] = False  # for a witness where a simple one will do, too
    known: dict[int, tuple[float, Proof]] = field(default_factory=dict)
    enough: float = 0.0
    curve: WholeCurve | None = None
    held: float = field(default=0.0, init=False)  # bytes besides the leaves of trees, the proof's included
    records: list[RecordAudit] = field(default_factory=list, init=False)
    multipliers: RowSolver = field(default_factory=RowSolver, init=False)
    together: Together = field(init=False)
    kept: Kept = field(init=False)

    @cached_property
    def channels(self) -> list[AggregatedRecord]:
        """One for each kind of record."""
        return record_channels(self.problem)

    @property
    def lower(self) -> float:
        return max((record.candidate.leakage for record in self.records), default=0.0)

    @property
    def upper(self) -> float:
        return max((record.upper for record in self.records), default=0.0)

    @property
    def target(self) -> float:
        """An upper bound at most this closes the audit, with a little room for rounding."""
        if self.gap >= 1.0:
            return np.inf
        return max(self.lower / (1.0 - 0.97 * self.gap), self.lower + ABSOLUTE, self.enough)

    def recall(self, known: Result) -> None:
        """Begin with the proof of a result for the same release and an adversary with no more entropy: every bound falls with it."""
        upper = double_above(bound_at(known.certificate, self.problem))  # in nats, whatever the units of the result are
        self.known = {record: (upper, proof) for record, proof in known.certificate.sections().items()}

    def run(self) -> None:
        """Search every kind of record from below, then bound them from above, the most leaking first."""
        crew = self.search.crew
        self.held = AuditCosts.of(self.problem).held + (crew.bytes if crew else 0.0)
        self.together = Together(self, crew, self.clock, self.clock.seconds)
        self.kept = Kept(self.search.checkpoint)
        self.records = [self._start(channel) for channel in self.channels]
        self.kept.started(self.records)
        for record in self.records:
            if record.channel.record in self.known:
                upper, proof = self.known[record.channel.record]
                record.keep(upper, "earlier", proof, len(proof))
        self.tell("search", None, 0)
        if self.curve is not None and self.upper > self.target:
            self._bound_by_lines(self.curve, self.clock.part(TANGENT))
        self._bound_all(self.clock)
        self.out_of_time |= self.clock.expired
        self.tell("done", None, sum(record.leaves for record in self.records), now=True)
        self.kept.look(self.records, within=LAST * self.search.limits.seconds)

    @property
    def exposed(self) -> int | None:
        best = _most_exposed(self.records)
        return None if best is None else best.channel.record

    def exposure(self, slack: float) -> Exposure | None:
        best = _most_exposed(self.records)
        if best is None:
            return None
        p, leakage = best.witness(slack)
        masses = best.channel.lift(p if p is not None else best.channel.uniform)
        return Exposure(best.channel.record, leakage, masses, prior_text(best.channel, p))

    def proof(self) -> UpperProof:
        return tuple(line for r in self.records for line in (RecordLine(r.channel.record), *r.proof))

    def quick(self) -> tuple[float, UpperProof]:
        lines = (line for r in self.records for line in (RecordLine(r.channel.record), *r.quick[1]))
        return max((r.quick[0] for r in self.records), default=0.0), tuple(lines)

    def certain(self) -> tuple[float, UpperProof]:
        """A leakage is at most the entropy of the letters."""
        bounds = [(channel.record, letters_bound(channel)) for channel in self.channels]
        lines = tuple(line for record, bound in bounds for line in (RecordLine(record), *bound.proof))
        return max((bound.upper for _, bound in bounds), default=0.0), lines

    @property
    def checking(self) -> float:
        """Of what would be written now: of every record the best bound, a tree's or another."""
        return sum(self._checking(*record.leaves_of_best, record.work) for record in self.records)

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(RecordProof(r.channel.record, r.channel.times, r.method, r.leaves) for r in self.records)

    def _start(self, channel: AggregatedRecord) -> RecordAudit:
        """A witness, and the bounds that cost little: the letters' entropy, the channel's capacity, or the one prior there is."""
        if channel.max_knowledge == 0.0:
            leakage = float(mutual_information(channel.uniform @ channel.rows))
            return RecordAudit(channel, Candidate(channel.uniform, leakage, 0.0), leakage, "uniform", (UniformLeaf(),))
        if (row := self.problem.constant_row) is not None:
            return RecordAudit(
                channel, Candidate(channel.uniform, 0.0, 0.0), 0.0, "vertices", tuple(constant_lines(row))
            )
        law, divergences, inputs = self._whole_channel
        bounds = [letters_bound(channel), capacity_bound(channel, law, divergences)]
        bound = min(bounds, key=lambda bound: bound.upper)
        candidate = best_of(channel, one_class_a_letter(channel, inputs))
        if self.searches_anyway or (
            bound.upper * (1.0 - 0.5 * self.gap) > candidate.leakage + min(ABSOLUTE, RELATIVE * bound.upper)
        ):
            candidate = best_of(channel, self.found(channel, bound.upper), candidate)
        return RecordAudit(channel, candidate, *bound)

    def found(self, channel: AggregatedRecord, upper: float) -> Candidate:
        """A witness for one kind of record, which is bounded by `upper` already: that of a checkpoint, or what a search finds."""
        if (known := self.kept.witness(channel)) is not None:
            return known
        turn, room = self.clock.part(0.3 / len(self.channels)), 0.5 * (self.search.limits.least[1] - self.held)
        return search(channel, rng=self.search.rng, clock=turn, room=room)

    def improve(self, record: RecordAudit, p: Floats, clock: Clock) -> None:
        """Look for a better witness from a prior where a bound is large."""
        record.improve(p, clock)

    @cached_property
    def _whole_channel(self) -> tuple[Floats, Floats, Floats]:
        """An output law that is close to all rows of the channel, which the records share; the rows' divergences; an input law."""
        law, divergences, answer = output_law(self.channels[0].rows, clock=self.clock.part(0.1))
        return law, divergences, answer.input_law

    @property
    def _slope(self) -> float | None:
        """The multiplier that all leaves are to have, if there is one."""
        return None if self.curve is None else self.curve.slope

    def _bound_by_lines(self, curve: WholeCurve, clock: Clock) -> None:
        """Bounds of one slope, if there may be some."""
        known = [(record.channel, record.candidate) for record in self.records]
        curve.choose_slope(known, self.target, rng=self.search.rng, clock=clock.part(0.1))
        if curve.slope is not None:
            self._bound_all(clock)
            curve.slope, self.out_of_time, self.out_of_room = None, False, False

    def _bound_all(self, clock: Clock) -> None:
        """Bound every kind of record that is not bounded well enough yet."""
        for j, record in enumerate(sorted(self.records, key=lambda r: -r.candidate.leakage)):
            turn = clock.part(1.0 / (len(self.records) - j))
            record.race = None
            if record.upper > self.target and not turn.expired:
                self._bound(record, turn)
        self._race(clock)

    def _bound(self, record: RecordAudit, turn: Clock) -> None:
        """The dual bound first; where its own limit is too high, the vertices; what is left goes to the trees' race."""
        dual = record.dual
        if dual is None:
            channel = record.channel
            arrays = relaxation_bytes(channel.rows, channel.letters) + groups_bytes(channel.rows, channel.letters)
            if self.held + arrays > self.search.limits.least[1]:
                self.out_of_room = True
                return
            self.held += arrays
            dual = self._dual(record, turn)
            self._vertices(record, turn)
        record.dual = None if self._slope is None else dual  # for trees whose leaves have slopes of their own
        if record.upper > self.target:
            record.race = self._trees(record, dual, turn)

    def _trees(self, record: RecordAudit, dual: DualBound, turn: Clock) -> Race:
        """The trees that may close one kind of record, side by side; all leaves with one slope, if there is to be one."""
        record.candidate = self.kept.best(record)
        channel, runners, decimals = record.channel, list[Runner](), record.decimals(self.gap)
        relaxation = PosteriorRelaxation(channel, decimals=decimals, multiplier=self._slope)
        if relaxation.improves:
            runners.append(PosteriorTree(relaxation, record.candidate.mu, target=self.target))
        if dual.trees:
            joint = DualTree(
                channel,
                dual,
                target=self.target,
                wanted=max(self.target - self.lower, ABSOLUTE),
                decimals=decimals + 1,
                most=min(self.search.limits.nodes, 0.5 * turn.remaining / self._checking(1, 1.0, record.work)),
                fixed=self._slope is not None,
                multipliers=self.multipliers,
            )
            runners.append(joint)
        for runner in runners:
            self.kept.runner(record, runner)
        return Race(runners, fair=0.6 if channel.letters == 2 else 0.1)  # boxes of the posterior suit two letters

    def _vertices(self, record: RecordAudit, turn: Clock) -> None:
        channel = record.channel
        if record.upper > self.target and channel.log_uniform.shape[1] <= MOST_CLASSES:
            vertices = VertexTree(channel, turn.part(0.2))
            if vertices.attained < record.upper:
                vertices.run(target=self.target)
            record.keep(vertices.upper, "vertices", vertex_lines(channel, vertices), vertices.nodes)
            if vertices.witness is not None:
                self.improve(record, vertices.witness, turn)

    def _dual(self, record: RecordAudit, turn: Clock) -> DualBound:
        channel, candidate = record.channel, record.candidate
        bound = dual_bound(
            channel,
            candidate if self._slope is None else replace(candidate, mu=self._slope),
            RecordSymmetries.of(self.problem, channel),
            one_slope=self._slope is not None,
            tolerance=0.2 * self.gap * candidate.leakage + 0.2 * ABSOLUTE,
            enough=self.target,
            useless=record.upper,
            decimals=record.decimals(self.gap) + 1,
            multipliers=self.multipliers,
            clock=turn,
            may_grow=partial(self.may_grow, turn, record.work),
            tell=lambda upper, nodes: self.tell("dual", channel.record, nodes, min(upper, record.upper)),
            together=partial(self.together.rows, record, turn),
            begun=partial(self.kept.rows, record),
        )
        record.keep(bound.upper, "dual", dual_lines(channel, bound), bound.leaves, bound.grouped)
        return bound

    def _race(self, whole: Clock) -> None:
        """Grow trees for the record with the largest bound, until the audit closes or no tree can or may grow."""
        searched: dict[int, int] = {}  # the leaves of each tree when its point was last a start for a search
        open_records = [record for record in self.records if record.race is not None]

        def grown(record: RecordAudit, runner: Runner) -> None:
            if runner.point is not None and runner.leaves > 2 * searched.get(id(runner), 0):
                searched[id(runner)] = runner.leaves
                self.improve(record, runner.point, whole.slice(whole.remaining - self.checking))
            self.tell(runner.name, record.channel.record, runner.leaves, record.bounded)

        while open_records:
            record = max(open_records, key=lambda record: record.bounded)
            if record.bounded <= self.target:
                break
            assert record.race is not None
            clock = whole.slice(whole.remaining - self.checking)  # a turn may be long
            if self.together.races(open_records, whole, clock, grown):
                continue
            runner = record.race.turn(clock, self.target, partial(self.may_grow, whole, record.work))
            if runner is None:
                open_records.remove(record)
            else:
                grown(record, runner)
        self._keep_trees()

    def _keep_trees(self) -> None:
        """Take the bounds of trees that are better than what is known."""
        for record in self.records:
            for runner in record.race.runners if record.race else []:
                if runner.upper < record.upper:
                    lines = _tree_lines(record.channel, runner)
                    record.keep(runner.upper, runner.name, lines, runner.leaves)

    def may_grow(self, turn: Clock, work: int, tree: BoxTree | RowTree | Runner, leaves: int = 0) -> bool:
        """Whether a tree may get more leaves: within the limits, and there must be time left to check them, too.

        Parameters
        ----------
        work : int
            Multiply-adds that checking a leaf takes where outputs are not grouped.
        leaves : int
            Of all trees of the same bound, if it has several.
        """
        leaves, limits = leaves or tree.leaves, self.search.limits
        grouped = _grouped(tree)
        late = turn.remaining < max(self._checking(leaves, grouped, work), self.checking)
        taken = self._taken(leaves * tree.leaf_bytes())
        full = (
            leaves >= limits.nodes
            or taken >= limits.bytes
            or self.held + taken + grouped * leaves * self._written >= limits.least[1]
        )
        self.out_of_time |= late
        self.out_of_room |= full
        return not (full or late or turn.expired)

    def room(self, record: RecordAudit, runner: Runner, leaves: int) -> float:
        """How many leaves more, of a bound that has so many, are within the limits when a worker's turn is over."""
        limits, size, grouped = self.search.limits, runner.leaf_bytes(), _grouped(runner)
        written, checking = grouped * self._written, self._checking(1, grouped, record.work)
        bytes_left = limits.least[1] - self.held - self._taken(leaves * size) - leaves * written
        seconds_left = self.clock.remaining - turn_of(self.clock) - leaves * checking
        return min(limits.nodes - leaves, bytes_left / (size + written), seconds_left / checking)

    def _taken(self, least: int) -> int:
        """The bytes that the leaves of all trees take, at least what is known of one of them."""
        races = [record.race for record in self.records if record.race]
        return max(sum(runner.leaves * runner.leaf_bytes() for race in races for runner in race.runners), least)

    @property
    def _written(self) -> int:
        """The bytes of a leaf in a certificate where outputs are not grouped."""
        return WRITTEN * max((record.channel.aggregation.output_count for record in self.records), default=0)

    def _checking(self, leaves: int, grouped: float, work: int) -> float:
        """Seconds that checking so many leaves takes, each of so many multiply-adds where outputs are not grouped."""
        return self.clock.pace * self.search.checks * self.search.share * leaves * (FIXED + WORK * grouped * work)

    def tell(self, stage: str, record: int | None, leaves: int, upper: float = np.inf, *, now: bool = False) -> None:
        """Report; `upper` is a bound for the record at work, perhaps better than what is kept of it."""
        bounds = [min(r.bounded, upper if r.channel.record == record else np.inf) for r in self.records]
        self.clock.tell(stage, self.lower, max(bounds, default=0.0), leaves, record=record, now=now)
        self.kept.look(self.records)


def _grouped(tree: BoxTree | RowTree | Runner) -> float:
    """How many slopes a leaf has, beside the number of outputs."""
    tree = tree.tree if isinstance(tree, RowWork) else tree
    return tree.grouped if isinstance(tree, RowTree) else 1.0


def _most_exposed(records: Sequence[RecordAudit]) -> RecordAudit | None:
    """The kind of record that is told most about."""
    return max(records, key=lambda record: record.candidate.leakage, default=None)


def _tree_lines(channel: AggregatedRecord, runner: Runner) -> Iterable[ProofLine]:
    if isinstance(runner, PosteriorTree):
        return posterior_lines(channel, runner)
    assert isinstance(runner, DualTree)
    return dual_tree_lines(channel, runner)
