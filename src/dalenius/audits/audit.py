"""Base of the audits: a running search that proposes an interval, with evidence, for the leakage of a mechanism."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from dalenius._prove import Proved, proved_so_far
from dalenius.evidence import CERTAIN, MARGINS, QUICK, Lower, Upper, step, unit_of
from dalenius.evidence.lower import InputLaw, LowerLine, WitnessLine
from dalenius.evidence.upper import CellSection, MeanLine, PieceSection, ProofLine, RecordLine, SecretSection
from dalenius.information.arrays import Floats
from dalenius.model import MechanismProblem, WorstCaseLeakage
from dalenius.outcome import Scope, Termination
from dalenius.results import RecordProof, Result, Witness, relative_gap
from dalenius.search import Clock, Run

RELATIVE = 1e-9  # of a leakage, to which it is known however wide the gap is

COARSE = (3e-6, 1e-4, 3e-3, 0.02, 0.2)  # more margins, for leakages so small that doubles do not know them any better
DOUBLES = (
    1e-13  # nats that bounds in doubles may be wrong by; a long proof that is refused for less costs more than it gains
)
SHORT = 64  # lines
RETREAT = 0.05  # of the time limit: what a proof takes at most that is tried where the best one took too long
FAINT = 1e-26  # nats: rows that differ by rounding, a part in 1e16, seem to tell 1e-32
NOTHING = 1e-15  # nats: an upper end below it is perhaps exactly 0
UpperProof = tuple[PieceSection | RecordLine | CellSection | SecretSection | MeanLine | ProofLine, ...]


@dataclass(frozen=True)
class Exposure:
    """A prior of the adversary's, and what it is told about a record.

    Attributes
    ----------
    record : int
        Or the number of a secret.
    leakage : float
        I(X_record; Y) in nats, as doubles have it.
    masses : (letters, channel inputs), or of a secret (datasets,)
    prior : how a certificate writes it
    number : int or None
        Its index, where priors are listed.
    """

    record: int
    leakage: float
    masses: Floats
    prior: InputLaw
    number: int | None = None

    @property
    def lines(self) -> tuple[LowerLine, ...]:
        """Lines that prove it."""
        return (WitnessLine(self.record, self.prior),)


@dataclass(frozen=True, kw_only=True)
class LowerEnd(Lower):
    """A lower end, and the prior that attains it; None where 0 is claimed."""

    exposure: Exposure | None = None


@dataclass
class Bounded(ABC):
    """A running audit, of records or of secrets. Its bounds are valid, up to rounding (for the checker to settle), once `run` returns.

    Parameters
    ----------
    problem : WorstCaseLeakage or SecretLeakage
        The question.
    search : Run
        Limits, clock and random numbers.
    """

    problem: MechanismProblem
    search: Run
    out_of_time: bool = field(default=False, init=False)
    out_of_room: bool = field(default=False, init=False)
    standing: Proved[LowerEnd, Upper] | None = field(default=None, init=False)  # what was proved while it ran

    @property
    def clock(self) -> Clock:
        return self.search.clock

    @property
    def gap(self) -> float:
        return self.search.limits.gap

    @property
    @abstractmethod
    def lower(self) -> float:
        """In nats."""

    @property
    @abstractmethod
    def upper(self) -> float:
        """In nats, for every adversary of the problem."""

    @abstractmethod
    def run(self) -> None:
        """Search and bound until the gap is reached or a limit is met."""

    @property
    def slack(self) -> float:
        """Nats that what is asked about may be above what is searched and bounded: where an infinite tail of noise was cut off."""
        return 0.0

    @property
    @abstractmethod
    def exposed(self) -> int | None:
        """The record about which most is revealed, as far as the search sees; None if nothing can be revealed about any."""

    @abstractmethod
    def exposure(self, slack: float) -> Exposure | None:
        """The best prior found, with so many nats of entropy to spare where that is bounded; None where nobody is told anything."""

    @abstractmethod
    def proof(self) -> UpperProof:
        """The lines that prove `upper`."""

    def quick(self) -> tuple[float, UpperProof]:
        """The best upper bound whose proof is short, with its lines."""
        return self.certain()

    @abstractmethod
    def certain(self) -> tuple[float, UpperProof]:
        """An upper bound that needs no search, with its lines."""

    @property
    def checking(self) -> float:
        """Seconds that checking `proof` takes besides what any proof takes, predicted: for trees."""
        return 0.0

    @property
    def boxed(self) -> bool:
        """True if boxes of the posterior prove `upper`, which those of a mechanism that is nearly the same can be."""
        return False

    @property
    def pieces(self) -> int:
        """Number of pieces that its proof would have by now."""
        return 0

    def report(self, stage: str, record: int | None = None, *, now: bool = False) -> None:
        """Report, perhaps of a record."""
        self.clock.tell(stage, self.lower, self.upper, self.pieces, record=record, now=now)

    @property
    def silent(self) -> bool:
        """True if no record can leak anything."""
        return self.exposed is None

    def stand(self, search: Run | None = None) -> bool:
        """Have the bounds that are known proved, within the limits of a search that this one is a part of; True if they are."""
        found = proved_so_far(self.problem, self.lowers(), self.uppers(), search or self.search)
        self.standing = found or self.standing
        return found is not None

    # ------------------------------------------------------------ what is proposed

    def lowers(self) -> Iterator[LowerEnd]:
        """The best prior, rounded and feasible with ever more room; at last 0."""
        best: Exposure | None = None
        for margin in (*MARGINS, *COARSE):
            found = self.exposure(min(margin, MARGINS[-1]))
            if found is None or found.leakage < FAINT:  # near the largest entropy there is not so much room
                found = best
            unit = 1.0 if found is None else unit_of(found.leakage)
            if found is None or (unit == 1.0 and margin in COARSE):
                break
            best = found
            end = LowerEnd(
                value=found.leakage,
                margin=margin,
                unit=unit,
                lines=found.lines,
                candidate=step(margin, DOUBLES / unit),
                exposure=found,
                doubtful=margin * unit < DOUBLES,
            )
            if not end.rounded:
                break
            yield end
        yield self.certain_lower()

    def certain_lower(self) -> LowerEnd:
        """Nothing leaks less than nothing."""
        return LowerEnd(value=0.0, lines=(WitnessLine(None, None),), candidate=CERTAIN)

    def uppers(self) -> Iterator[Upper]:
        """The bound found, rounded ever further; at last one that needs no search."""
        if self.silent:
            yield Upper(value=0.0, lines=self.proof())
            return
        proof, unit, value = self.proof(), unit_of(self.upper), self.upper + self.slack
        if self.upper < NOTHING:
            yield Upper(value=0.0, lines=proof)
        for margin in (*MARGINS, *COARSE) if unit < 1.0 else ():
            if len(proof) <= SHORT or margin >= DOUBLES / unit:
                yield Upper(value=value, margin=margin, unit=unit, lines=proof, candidate=step(margin, DOUBLES / unit))
        for margin in MARGINS:
            yield Upper(value=value, margin=margin, lines=proof, candidate=step(margin))
        yield self.retreat(QUICK)
        yield self.retreat(CERTAIN)

    def retreat(self, candidate: int) -> Upper:
        """The bound with a short proof, or the one that needs no search."""
        value, proof = self.quick() if candidate == QUICK else self.certain()
        return Upper(value=value + self.slack, margin=MARGINS[0], lines=proof, candidate=candidate)

    def answer(self, proved: Proved[LowerEnd, Upper]) -> dict[str, Any]:
        """Result of an interval that is proved, whatever it is about."""
        return {
            "lower": proved.lower,
            "upper": proved.upper,
            "termination": self.termination(proved),
            "scope": Scope.GLOBAL,
            "certificate": proved.certificate,
            "seconds": self.clock.seconds,
            "refusals": proved.refusals,
            "trace": tuple(self.clock.trace),
            "values": self.problem.most_values,
        }

    def termination(self, proved: Proved[LowerEnd, Upper]) -> Termination:
        if relative_gap(proved.lower, proved.upper) <= self.gap:
            return Termination.GAP_REACHED
        if proved.doubted:
            return Termination.PROOF_REFUSED
        if self.clock.stopped:
            return Termination.INTERRUPTED
        if self.out_of_time:
            return Termination.TIME_LIMIT
        if self.out_of_room:
            return Termination.SIZE_LIMIT
        return proved.limit or Termination.STALLED


@dataclass
class Audit(Bounded):
    """A running audit of what is revealed about a record."""

    problem: WorstCaseLeakage

    @property
    def slack(self) -> float:
        return self.problem.route.slack

    @abstractmethod
    def record_proofs(self) -> tuple[RecordProof, ...]:
        """Proofs of `upper`, one for each kind of record."""

    def result(self, proved: Proved[LowerEnd, Upper]) -> Result:
        """The proved interval, and the prior that attains its lower end."""
        found = proved.lower_end.exposure
        witness = None if found is None else Witness(found.record, found.masses, self.columns_of(found), found.number)
        record, records = None if found is None else found.record, self.record_proofs()
        return Result(record=record, witness=witness, records=records, **self.answer(proved))

    def columns_of(self, exposure: Exposure) -> tuple[int, ...]:
        """Meaning of a witness's columns."""
        return inputs_of(self.problem)


class Bounds(Protocol):
    """One kind of record: what the best prior that was found attains, what none exceeds, both in nats, and how that is proved."""

    @property
    def record(self) -> int: ...

    @property
    def lower(self) -> float: ...

    @property
    def upper(self) -> float: ...

    @property
    def section(self) -> UpperProof:
        """The lines that prove `upper`."""

    @property
    def record_proof(self) -> RecordProof: ...


B = TypeVar("B", bound=Bounds)


@dataclass
class RecordsAudit(Audit, Generic[B]):
    """A running audit that bounds each kind of record by itself.

    Attributes
    ----------
    records : list of Bounds
        One for each kind, once it runs.
    """

    records: list[B] = field(default_factory=list, init=False)

    @abstractmethod
    def begun(self) -> list[B]:
        """The kinds of records with bounds that need no search."""

    @property
    def lower(self) -> float:
        return max((record.lower for record in self.records), default=0.0)

    @property
    def upper(self) -> float:
        return max((record.upper for record in self.records), default=0.0)

    @property
    def best(self) -> B | None:
        """The kind of record about which most is revealed."""
        return max(self.records, key=lambda record: record.lower, default=None)

    @property
    def exposed(self) -> int | None:
        return None if self.best is None else self.best.record

    def proof(self) -> UpperProof:
        return tuple(line for record in self.records for line in record.section)

    def certain(self) -> tuple[float, UpperProof]:
        records = self.begun()
        upper = max((record.upper for record in records), default=0.0)
        return upper, tuple(line for record in records for line in record.section)

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(record.record_proof for record in self.records)


def inputs_of(problem: WorstCaseLeakage) -> tuple[int, ...]:
    """Meaning of a problem's channel inputs: the query's values, or the datasets' indices."""
    if problem.mechanism.indexed_by() == "dataset":
        return tuple(range(problem.records.datasets))
    return tuple(problem.query.values(problem.records).tolist())


def closing(lower: float, gap: float, enough: float) -> float:
    """An upper bound at most this closes an audit with this lower end: by the gap, by what is enough, or as near as rounding."""
    return math.inf if gap >= 1.0 else max(lower * (1.0 + RELATIVE), enough, lower / (1.0 - 0.9 * gap))
