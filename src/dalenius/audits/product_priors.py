"""Independent records of any law, exactly, by capacities in batches; and listed priors, every one of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.audits.selections import Kind, SelectionAudit, rounded
from dalenius.errors import DaleniusError
from dalenius.evidence import vector_text
from dalenius.evidence.lower import InputLaw
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import Capacity, capacities, capacity
from dalenius.model import PriorSet
from dalenius.reduction import MAX_NUMBERS, DatasetPairs, RowSets, Selections, dataset_pairs
from dalenius.results import RecordProof
from dalenius.search import Clock

RELATIVE = 1e-6  # of a leakage so small that RESOLUTION is much of it
RESOLUTION = 1e-13  # nats: capacities are computed, and laws are found, this exactly
BATCH = 2**21  # numbers in a batch of selections
FREE = 256  # laws of a record that are written for the last digits; more of them only for the gap
MOST = 2**22  # numbers in all laws of a certificate
WORK, ANEW = 2.5e-8, 4e-7  # seconds that checking a law takes for each entry of a channel that is kept, or made anew
WEIGHT = 1.5e-5  # and for each of its own weights
KEPT = 256  # bytes of the memory limit for each entry, from which on the checker keeps a channel


@dataclass
class ProductAudit(SelectionAudit):
    """A running audit against `ProductPriors`. Where it costs little, the interval is as narrow as doubles allow."""

    def _search(self) -> None:
        """The capacities of all selections that one common law does not settle, then laws for those that need one."""
        search = self.clock.part(0.7)
        for kind in sorted(self._kinds, key=lambda kind: -float(kind.upper.max())):
            self._attain(kind, search)
        for kind in sorted(self._kinds, key=lambda kind: -kind.best):
            self._cover(kind)
        self.out_of_time |= self.clock.remaining <= self._law_seconds * (self._more_laws + 1)

    def _tuples(self, selections: Selections) -> tuple[Integers, Integers]:
        reduced = RowSets.of(selections, self._row_of_input)
        return reduced.sets, reduced.set_of

    def _witness(self, kind: Kind, j: int) -> tuple[int, Floats, InputLaw | None]:
        selection, pi = RowSets.of(kind.selections, self._row_of_input).lift(j, kind.laws[j])
        return selection, pi, (selection, vector_text(pi))

    def _attain(self, kind: Kind, clock: Clock) -> None:
        """The capacity of every selection that may be the largest, the most promising first."""
        order = np.argsort(-kind.upper, kind="stable")
        size = max(BATCH // (kind.selections.letters * self._rows.shape[1]), 1)
        for batch in np.split(order, range(size, len(order), size)):
            batch = batch[kind.upper[batch] > self.lower]
            if clock.expired or not batch.size:
                break
            for j, answer in zip(batch, _capacities(self._rows[kind.rows[batch]], clock), strict=True):
                kind.laws[j], kind.lower[j] = answer.input_law, answer.lower
            self._tell("selections", kind.selections.record)

    def _cover(self, kind: Kind) -> None:
        """Give selections their own laws, those with the largest bounds first, and every law to all that are better off with it."""
        numbers = max(kind.rows.size, kind.selections.letters * self._rows.shape[1])
        size = min(max(BATCH // numbers, 1), 64)
        while not self.clock.expired:
            enough = self._enough(len(kind.lines))
            worst = np.argsort(-kind.upper, kind="stable")[:size]
            worst = worst[kind.upper[worst] > enough]
            if not worst.size or not self._lower(kind, worst, enough):
                break
            self._tell("selections", kind.selections.record)

    def _lower(self, kind: Kind, worst: Integers, enough: float) -> bool:
        """Try the own laws of the sets `worst`; whether any of their bounds fell."""
        before = kind.upper[worst]
        sets = kind.rows
        laws = rounded((kind.laws[worst, None] @ self._rows[sets[worst]])[:, 0])
        upper = self._divergences(laws)[:, sets].max(axis=2)
        for law, bounds, j in zip(laws, upper, worst, strict=True):
            better = bounds < kind.upper
            if kind.upper[j] > enough and better[j] and self._room >= 1:
                kind.line_of[better], kind.upper[better] = len(kind.lines), bounds[better]
                kind.lines.append(self._line(vector_text(law)))
        return bool(np.any(kind.upper[worst] < before))

    @property
    def _room(self) -> float:
        """How many more laws a certificate should hold: there must be time left to check them, too."""
        return min(MOST // self._rows.shape[1], self.clock.remaining / self._law_seconds) - self._more_laws

    @property
    def _law_seconds(self) -> float:
        """What checking a law takes."""
        channel = self.problem.channel
        kept = KEPT * channel.size <= self.search.limits.least[1] - channel.nbytes
        once = (WORK if kept else ANEW) * channel.size + WEIGHT * channel.shape[1]
        return self.clock.pace * self.search.checks * once

    @property
    def _more_laws(self) -> int:
        """The laws besides the first ones, which are reckoned with."""
        return sum(len(kind.lines) - 1 for kind in self._kinds)

    def _enough(self, laws: int) -> float:
        """The upper bound at which a kind of record is done, which has so many laws already."""
        if self.gap >= 1.0:
            return np.inf
        return max(
            self.lower / (1.0 - 0.9 * self.gap) if laws > FREE else 0.0,
            self.lower + min(RESOLUTION, RELATIVE * self.lower),
        )


def _capacities(rows: Floats, clock: Clock) -> list[Capacity]:
    if len(rows) == 1:
        return [capacity(rows[0], gap=RESOLUTION, clock=clock)]
    return capacities(rows, gap=RESOLUTION, clock=clock)


PRIORS_BATCH = 2**22  # numbers in a batch of priors


@dataclass
class PriorSetAudit(Audit):
    """A running audit against a `PriorSet`: the checker evaluates everything by itself, so that no lines prove the upper end."""

    def __post_init__(self) -> None:
        adversary = self.problem.adversary
        assert isinstance(adversary, PriorSet)
        self.priors, self.channel = adversary.weights, self.problem.channel
        leaking = [i for i, letters in enumerate(self.problem.records.alphabets) if letters > 1]
        self.pairs = [dataset_pairs(self.problem, i) for i in leaking]
        self._leakage: dict[int, Floats] = {}

    @property
    def lower(self) -> float:
        return max((float(leakage.max(initial=0.0)) for leakage in self._leakage.values()), default=0.0)

    @property
    def upper(self) -> float:
        """The largest leakage where all were evaluated; else also the entropy of the letters, for those that were not."""
        late = [pairs for pairs in self.pairs if len(self._leakage.get(pairs.record, ())) < len(self.priors)]
        return max([self.lower, *(float(np.log(pairs.shape[0])) for pairs in late)])

    def run(self) -> None:
        """Evaluate record after record, many priors at once."""
        for pairs in self.pairs:
            self._evaluate(pairs)
        self.out_of_time |= self.clock.expired
        self._tell("proving", None, now=True)

    @property
    def exposed(self) -> int | None:
        best = max(self._leakage, key=lambda i: self._leakage[i].max(initial=0.0), default=None)
        return self.pairs[0].record if best is None and self.pairs else best

    def exposure(self, slack: float) -> Exposure | None:
        record = self.exposed
        if record is None or self.lower <= 0.0:
            return None
        number = int(np.argmax(self._leakage[record]))
        pairs = next(pairs for pairs in self.pairs if pairs.record == record)
        return Exposure(record, self.lower, pairs.table(pairs.apply(self.priors[number])), number, number)

    def proof(self) -> UpperProof:
        return ()

    def certain(self) -> tuple[float, UpperProof]:
        """A leakage is at most the entropy of the letters."""
        return max(float(np.log(pairs.shape[0])) for pairs in self.pairs), ()

    def record_proofs(self) -> tuple[RecordProof, ...]:
        records = [pairs.record for pairs in self.pairs]
        return tuple(RecordProof(i, 1, "evaluated" if i in self._leakage else "letters", 0) for i in records)

    def _evaluate(self, pairs: DatasetPairs) -> None:
        """I(X_i; Y) under every prior."""
        record, letters, outputs = pairs.record, pairs.shape[0], self.channel.shape[1]
        if letters * outputs > MAX_NUMBERS:
            raise DaleniusError(
                f"nothing can be proved about this model: record {record} has more than {MAX_NUMBERS} pairs of a letter and an output "
                "(docs/certificate-format.md)"
            )
        with_letter = [pairs.letters == a for a in range(letters)]
        size = max(PRIORS_BATCH // max(self.priors.shape[1], letters * outputs), 1)
        done: list[Floats] = []
        for first in range(0, len(self.priors), size):
            if self.clock.expired:
                break
            masses = pairs.apply(self.priors[first : first + size])
            joint = [masses[:, mine] @ self.channel[pairs.inputs[mine]] for mine in with_letter]
            done.append(mutual_information(np.stack(joint, axis=1)))
            self._leakage[record] = np.concatenate(done)
            self._tell("priors", record)

    def _tell(self, stage: str, record: int | None, *, now: bool = False) -> None:
        done = sum(len(leakage) for leakage in self._leakage.values())
        self.clock.tell(stage, self.lower, self.upper, done, record=record, now=now)
