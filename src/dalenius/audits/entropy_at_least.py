"""Problem 1, both sides: witnesses from below, the least of several certified bounds from above, for every kind of record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import ClassVar

import numpy as np

from dalenius._prove import Proved
from dalenius.audits.ascent import Candidate, search
from dalenius.audits.audit import Exposure, LowerEnd, RecordsAudit, UpperProof
from dalenius.audits.bounding import Bounding, of_few_selections
from dalenius.audits.bounds.vertices import output_law
from dalenius.audits.curve import WholeCurve, bound_at
from dalenius.audits.proof_lines import constant_lines, informed_line, prior_text
from dalenius.audits.record_audit import (
    ABSOLUTE,
    RELATIVE,
    Bound,
    Kept,
    RecordAudit,
    Rung,
    best_of,
    capacity_bound,
    letters_bound,
    one_class_a_letter,
)
from dalenius.audits.tree_room import Together, TreeRoom
from dalenius.evidence import Certificate, Upper, double_above
from dalenius.evidence.upper import ProofLine, UniformLeaf
from dalenius.information.arrays import Floats
from dalenius.information.informed import informed_bound
from dalenius.model import WorstCaseLeakage
from dalenius.model.problems.pieces import own_rows
from dalenius.reduction import AggregatedRecord, record_channels
from dalenius.results import Result
from dalenius.search.clock import Clock
from dalenius.search.run import LEAST_SECONDS

Proof = tuple[ProofLine, ...]
BRIEFLY = 4.0  # seconds whose share a first search gets
TANGENT = 0.6  # share of the time left that bounds of one slope may take
LITTLE = 0.1  # share of the gap: a witness that is better by less changes no bound
LAST = 0.05  # share of the time limit that a last checkpoint may take, once it is passed


@dataclass
class EntropyAudit(RecordsAudit[RecordAudit]):
    """A running audit against all priors with at least some entropy.

    Parameters
    ----------
    known : dict of record -> (upper bound, proof)
        Bounds proved before, for an adversary with no more entropy.
    enough : float
        An upper bound at most this closes the audit, too, however far the lower one is.
    earlier : sequence of RecordAudit
        Of a mechanism that is nearly this one, whose boxes of the posterior are taken over.
    told : sequence of (record, masses)
        Priors, on the channel's inputs, that have been searched for: of their records no others are.
    way : callable, optional
        Proves on the way what the bounds that are kept are for, where that is more than the interval itself; says whether it did.
    curve : WholeCurve, optional
        What is proved is to bound the leakage at every entropy bound: by leaves of one slope, if that closes the audit.
    """

    searches_anyway: ClassVar[bool] = False  # for a witness where a simple one will do, too
    known: dict[int, tuple[float, Proof]] = field(default_factory=dict)
    enough: float = 0.0
    earlier: Sequence[RecordAudit] = ()
    told: Sequence[tuple[int, Floats]] = ()
    way: Callable[[], bool] | None = None
    curve: WholeCurve | None = None
    bounding: Bounding = field(init=False)
    kept: Kept = field(init=False)
    _law: tuple[Floats, Floats, Floats] | None = field(default=None, init=False)
    _hurried: set[int | None] = field(
        default_factory=set, init=False
    )  # records whose search was cut short; None: what all share

    @property
    def asked(self) -> WorstCaseLeakage:
        """Subject of the proof."""
        return self.problem

    @cached_property
    def channels(self) -> list[AggregatedRecord]:
        """One for each kind of record."""
        return record_channels(self.problem)

    @property
    def target(self) -> float:
        """An upper bound at most this closes the audit, with a little room for rounding."""
        if self.gap >= 1.0:
            return np.inf
        return max(self.lower / (1.0 - 0.97 * self.gap), self.lower + ABSOLUTE, self.enough)

    def recall(self, known: Certificate) -> None:
        """Begin with a proof for the same release and an adversary with no more entropy: every bound falls with it."""
        upper = double_above(bound_at(known, self.problem))  # in nats, whatever the units of the result are
        self.known = {record: (upper, proof) for record, proof in known.sections().items()}

    def run(self) -> None:
        """Search every kind of record from below, then bound them from above, the most leaking first.

        Where the search takes longer than it would get of four seconds, it is cut off there, and all is bounded once within a second
        before it is searched anew: then there is something to claim when the audit is stopped.
        """
        self.kept = Kept(self.search.checkpoint)
        together = Together(self.room, self.search.crew, self.clock, self.clock.seconds, lambda: self.target)
        self.bounding = Bounding(self, self.room, together, self.kept)
        several = self.clock.remaining > 2.0 * BRIEFLY and not self.searches_anyway
        first = self.clock.slice(BRIEFLY) if several else self.clock
        self.records = self.room.records = [self._start(channel, first) for channel in self.channels]
        self.kept.started(self.records)
        together.call()
        for record in self.records:
            if record.channel.record in self.known:
                upper, proof = self.known[record.channel.record]
                record.keep(upper, "earlier", proof, Rung(len(proof), 1.0, record.work))
        self.tell("search", None, 0)
        if several and self._hurried:
            self._begin_again()
        if self.curve is not None and self.upper > self.target:
            self._bound_by_lines(self.curve, self.clock.part(TANGENT))
        self.bounding.run(self.clock)
        self.out_of_time |= self.clock.expired or self.room.late
        self.out_of_room |= self.room.full
        self.tell("proving", None, sum(record.leaves for record in self.records), now=True)
        self.kept.look(self.records, within=LAST * self.search.limits.seconds)

    def _begin_again(self) -> None:
        """Bound all as well as a second allows; then search anew what was cut short, and bound it anew where that finds more."""
        self.bounding.run(self.clock.slice(LEAST_SECONDS))
        if self.upper > self.target and not self.clock.expired:
            self.room.late = self.room.full = False
            hurried, self._hurried = self._hurried, set()
            if None in hurried:
                self._law = None
            for record in self.records:
                if {record.channel.record, None} & hurried:
                    before, again = record.lower, self._start(record.channel, self.clock)
                    record.candidate = best_of(record.channel, again.candidate, record.candidate)
                    record.keep(again.upper, again.method, again.proof, again.rung)
                    if record.lower > before + LITTLE * self.gap * record.lower:
                        record.dual = record.race = None
            self.kept.started(self.records)

    def exposure(self, slack: float) -> Exposure | None:
        best = self.best
        if best is None:
            return None
        p, leakage = best.witness(max(slack, float(np.spacing(self.problem.records.log_datasets))))
        masses = best.channel.lift(p if p is not None else best.channel.uniform)
        return Exposure(best.record, leakage, masses, prior_text(best.channel, p))

    def quick(self) -> tuple[float, UpperProof]:
        lines = (line for record in self.records for line in (*record.head, *record.quick[1]))
        return max((record.quick[0] for record in self.records), default=0.0), tuple(lines)

    def begun(self) -> list[RecordAudit]:
        """A leakage is at most the entropy of the letters; it is 0 where the output never depends on the data."""
        return [
            RecordAudit(channel, Candidate(channel.uniform, 0.0, 0.0), *(self._silent or letters_bound(channel)))
            for channel in self.channels
        ]

    @property
    def boxed(self) -> bool:
        return all(record.boxes is not None for record in self.records if record.upper >= self.upper)

    @property
    def checking(self) -> float:
        """Of what would be written now."""
        return self.room.checking_now

    def _start(self, channel: AggregatedRecord, clock: Clock) -> RecordAudit:
        """A witness, and the bounds that cost little: the letters' entropy, the channel's capacity, or the one prior there is."""
        if self._silent:
            return RecordAudit(channel, Candidate(channel.uniform, 0.0, 0.0), *self._silent)
        if channel.max_knowledge == 0.0:
            leakage = channel.told_by_uniform
            return RecordAudit(channel, Candidate(channel.uniform, leakage, 0.0), leakage, "uniform", (UniformLeaf(),))
        law, divergences, inputs = self._whole_channel(clock)
        bounds = [letters_bound(channel), *self._informed(channel)]
        bound = min(bounds, key=lambda bound: bound.upper)
        bound = capacity_bound(channel, law, divergences, bound.upper) or bound
        candidate = best_of(channel, one_class_a_letter(channel, inputs))
        listed = self.enough > 0.0 and of_few_selections(channel)  # beside another audit: the vertices will say it all
        wide = bound.upper * (1.0 - 0.5 * self.gap) > candidate.leakage + min(ABSOLUTE, RELATIVE * bound.upper)
        if self.searches_anyway or (wide and not listed):
            candidate = best_of(channel, self.found(channel, bound.upper, clock), candidate)
        return RecordAudit(channel, candidate, *bound)

    @cached_property
    def _silent(self) -> Bound | None:
        """The bound of every record where the output never depends on the data."""
        row = self.problem.constant_row
        return None if row is None else Bound(0.0, "vertices", tuple(constant_lines(row)))

    def _informed(self, channel: AggregatedRecord) -> Iterator[Bound]:
        """Leakage to an adversary who is told all other records, where these depend little on each other, and only shift the noise."""
        problem = self.problem
        if not 0.0 < channel.max_knowledge < np.log(channel.letters):
            return
        rows = own_rows(problem.query_of_inputs, problem.records, problem.mechanism, channel.record)
        if rows is not None:
            found = informed_bound(rows, channel.max_knowledge)
            yield Bound(found.upper, "informed", (informed_line(found),))

    def found(self, channel: AggregatedRecord, upper: float, clock: Clock) -> Candidate:
        """A witness for one kind of record, which is bounded by `upper` already: that of a checkpoint, or what a search finds."""
        if (known := self.kept.witness(channel)) is not None:
            return known
        turn, room = clock.part(0.3 / len(self.channels)), 0.5 * (self.search.limits.least[1] - self.room.held)
        warm = [channel.apply(masses) for record, masses in self.told if record == channel.record]
        candidate = search(channel, rng=self.search.rng, clock=turn, room=room, warm=warm)
        if turn.expired:
            self._hurried.add(channel.record)
        return candidate

    def on_the_way(self) -> bool:
        return (self.way or self.stand)()

    def improve(self, record: RecordAudit, p: Floats, clock: Clock) -> None:
        """Look for a better witness from a prior where a bound is large."""
        record.improve(p, clock)

    def _whole_channel(self, clock: Clock) -> tuple[Floats, Floats, Floats]:
        """An output law that is close to all rows of the channel, which the records share; the rows' divergences; an input law."""
        if self._law is None:
            turn = clock.part(0.1)
            law, divergences, answer = output_law(self.channels[0].rows, clock=turn)
            self._law = law, divergences, answer.input_law
            if turn.expired:
                self._hurried.add(None)
        return self._law

    @cached_property
    def room(self) -> TreeRoom:
        """Room of the trees."""
        crew = self.search.crew
        return TreeRoom(self.search, self.problem.costs.held + (crew.bytes if crew else 0.0))

    def _bound_by_lines(self, curve: WholeCurve, clock: Clock) -> None:
        """Bounds of one slope, if there may be some."""
        known = [(record.channel, record.candidate) for record in self.records]
        curve.choose_slope(known, self.target, rng=self.search.rng, clock=clock.part(0.1))
        if curve.slope is not None:
            self.bounding.slope = curve.slope
            self.bounding.run(clock)
            curve.slope, self.bounding.slope, self.room.late, self.room.full = None, None, False, False

    def tell(self, stage: str, record: int | None, leaves: int, upper: float = np.inf, *, now: bool = False) -> None:
        """Report; `upper` is a bound for the record at work, perhaps better than what is kept of it."""
        bounds = [min(r.bounded, upper if r.channel.record == record else np.inf) for r in self.records]
        self.clock.tell(stage, self.lower, max(bounds, default=0.0), leaves, record=record, now=now)
        self.kept.look(self.records)


DENSE = 0.3  # share of the time left that witnesses at other entropy bounds may take
CLAIMS = 3  # margins that are tried with claims about the whole curve


@dataclass
class CurveAudit:
    """A proposer: the audit's ends with what the same proofs, and more witnesses, say of other entropy bounds.

    Parameters
    ----------
    audit : EntropyAudit
        Not yet run.
    curve : WholeCurve
        The audit's own.
    """

    audit: EntropyAudit
    curve: WholeCurve

    def run(self) -> None:
        """The audit; then witnesses for other entropy bounds on the record about which most is revealed."""
        self.audit.run()
        best = self.audit.best
        if best is not None:
            self.curve.search(best.channel, best.candidate, self.audit.clock.part(DENSE))

    def lowers(self) -> Iterator[LowerEnd]:
        """The audit's, those that were searched for with the witnesses."""
        for end in self.audit.lowers():
            yield replace(end, below=self.curve.steps(end.margin)) if end.candidate == 0 else end

    def uppers(self) -> Iterator[Upper]:
        """Some of the audit's first with its proofs' lines, then all without."""
        for end in islice(self.audit.uppers(), CLAIMS if self.audit.exposed is not None else 0):
            most = self.audit.upper if end.margin else 0.0
            proofs = [(min(record.upper, most), record.proof) for record in self.audit.records]
            above = self.curve.lines(proofs, end.margin * end.unit)
            if above and end.candidate == 0:
                yield replace(end, above=above)
            if not end.margin:  # exactly 0, or not at all
                yield end
        yield from self.audit.uppers()

    def result(self, proved: Proved[LowerEnd, Upper]) -> Result:
        """The audit's."""
        return self.audit.result(proved)
