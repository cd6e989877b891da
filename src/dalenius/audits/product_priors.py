"""Priors for which no search is needed: independent records, exactly, by capacities; and listed priors, every one of them.

*Why*: I(X_i; Y) is convex in the law of every other record, so the worst others are known, z, and X_i meets the channel of the rows
R(k_a), k_a the input of the dataset (a, z). *From below*: the capacity of the best selection. *From above*: for every selection an
output law r with max_a D(R(k_a) || r) at most that. Only selections that some other law does not bound well enough need their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.audits.proof_lines import exact_text
from dalenius.errors import DaleniusError
from dalenius.evidence import vector_text
from dalenius.evidence.lower import Vector
from dalenius.evidence.upper import LawOfSelections, LettersLine, RecordLine
from dalenius.information import mutual_information, relative_entropy, x_log_x
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import Capacity, capacities, capacity
from dalenius.model import PriorSet
from dalenius.reduction import (
    MAX_NUMBERS,
    DatasetPairs,
    RowSets,
    Selections,
    dataset_pairs,
    distinct_rows,
    record_selections,
)
from dalenius.results import RecordProof
from dalenius.search import Clock

RELATIVE = 1e-6  # of a leakage so small that RESOLUTION is much of it
RESOLUTION = 1e-13  # nats: capacities are computed, and laws are found, this exactly
DECIMALS, LEAST = 18, 1e-20  # of a law's weights: rounding costs less than RESOLUTION, and no weight is zero
SMALL = 1e-6  # nats: smaller divergences are evaluated without cancellation
BATCH = 2**21  # numbers in a batch of selections
FREE = 256  # laws of a record that are written for the last digits; more of them only for the gap
MOST = 2**22  # numbers in all laws of a certificate
WORK, ANEW = 2.5e-8, 4e-7  # seconds that checking a law takes for each entry of a channel that is kept, or made anew
WEIGHT = 1.5e-5  # and for each of its own weights
KEPT = 256  # bytes of the memory limit for each entry, from which on the checker keeps a channel


@dataclass
class _Kind:
    """One kind of record: its selections as sets of distinct rows, what each can leak, and the laws that bound them.

    Attributes
    ----------
    reduced : the selections, those of equal rows as one set
    pi : (sets, letters), the best law found on the letters; uniform before the search
    lower, upper : (sets,), bounds of each capacity in nats
    laws, law_of : output laws, and which of them proves `upper` of each set
    """

    reduced: RowSets
    pi: Floats
    lower: Floats
    upper: Floats
    laws: list[Floats]
    law_of: Integers

    @property
    def selections(self) -> Selections:
        return self.reduced.selections

    @property
    def best(self) -> float:
        return float(self.lower.max())

    @property
    def bound(self) -> float:
        """That of the laws, or all there is to know."""
        return min(float(self.upper.max()), math.log(self.selections.letters))

    @property
    def by_letters(self) -> bool:
        """Whether the laws say no more than that."""
        return bool(self.upper.max() > self.bound)

    @property
    def laws_used(self) -> int:
        return len(np.unique(self.law_of))


@dataclass
class ProductAudit(Audit):
    """A running audit against `ProductPriors`. Where it costs little, the interval is as narrow as doubles allow."""

    _kinds: list[_Kind] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.selections, self.channel = record_selections(self.problem), self.problem.channel
        self._rows, self._row_of_input = distinct_rows(self.channel)
        self._negentropy = x_log_x(self._rows).sum(axis=1)

    @property
    def lower(self) -> float:
        return max((kind.best for kind in self._kinds), default=0.0)

    @property
    def upper(self) -> float:
        return max((kind.bound for kind in self._kinds), default=0.0)

    def run(self) -> None:
        """The capacities of all selections that one common law does not settle, then laws for those that need one."""
        self._kinds = [self._start(selections) for selections in self.selections]
        search = self.clock.part(0.7)
        for kind in sorted(self._kinds, key=lambda kind: -float(kind.upper.max())):
            self._search(kind, search)
        for kind in sorted(self._kinds, key=lambda kind: -kind.best):
            self._cover(kind)
        self.out_of_time |= self.clock.remaining <= self._law_seconds * (self._more_laws + 1)
        self._tell("proving", None, now=True)

    @property
    def _best(self) -> _Kind | None:
        return max(self._kinds, key=lambda kind: kind.best, default=None)

    @property
    def exposed(self) -> int | None:
        return None if self._best is None else self._best.selections.record

    def exposure(self, slack: float) -> Exposure | None:
        best = self._best
        if best is None or best.best <= 0.0:
            return None
        best_set = int(np.argmax(best.lower))
        selection, pi = best.reduced.lift(best_set, best.pi[best_set])
        masses = best.selections.lift(selection, pi)
        return Exposure(best.selections.record, best.best, masses, (selection, vector_text(pi)))

    def proof(self) -> UpperProof:
        """The lines of docs/certificate-format.md, "Other adversaries"."""
        if (row := self.problem.constant_row) is not None:  # it is its own output law, at distance 0 exactly
            return tuple(line for kind in self._kinds for line in _section(kind, [exact_text(row)]))
        return tuple(line for kind in self._kinds for line in _section(kind, list(map(vector_text, kind.laws))))

    def certain(self) -> tuple[float, UpperProof]:
        """One law for all selections, or the entropy of the letters."""
        kinds = [self._start(selections) for selections in self.selections]
        return max(kind.bound for kind in kinds), tuple(
            line for kind in kinds for line in _section(kind, list(map(vector_text, kind.laws)))
        )

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(
            RecordProof(k.selections.record, k.selections.times, "letters", 1)
            if k.by_letters
            else RecordProof(k.selections.record, k.selections.times, "selections", k.laws_used)
            for k in self._kinds
        )

    def _start(self, selections: Selections) -> _Kind:
        """Every selection bounded by one law, the average of all rows that occur."""
        if selections.letters * self._rows.shape[1] > MAX_NUMBERS:
            raise DaleniusError(
                f"nothing can be proved about this model: record {selections.record} has more than {MAX_NUMBERS} pairs of a letter "
                "and an output (docs/certificate-format.md)"
            )
        reduced = RowSets.of(selections, self._row_of_input)
        sets = reduced.sets
        law = _rounded(self._rows[np.unique(sets)].mean(axis=0))
        upper = self._divergences(law)[sets].max(axis=1)
        pi = np.full(sets.shape, 1.0 / selections.letters)
        zeros = np.zeros(len(sets))
        return _Kind(reduced, pi, zeros, upper, [law], zeros.astype(np.int64))

    def _search(self, kind: _Kind, clock: Clock) -> None:
        """The capacity of every selection that may be the largest, the most promising first."""
        order = np.argsort(-kind.upper, kind="stable")
        size = max(BATCH // (kind.selections.letters * self._rows.shape[1]), 1)
        for batch in np.split(order, range(size, len(order), size)):
            batch = batch[kind.upper[batch] > self.lower]
            if clock.expired or not batch.size:
                break
            for j, answer in zip(batch, _capacities(self._rows[kind.reduced.sets[batch]], clock), strict=True):
                kind.pi[j], kind.lower[j] = answer.input_law, answer.lower
            self._tell("selections", kind.selections.record)

    def _cover(self, kind: _Kind) -> None:
        """Give selections their own laws, those with the largest bounds first, and every law to all that are better off with it."""
        numbers = max(kind.reduced.sets.size, kind.selections.letters * self._rows.shape[1])
        size = min(max(BATCH // numbers, 1), 64)
        while not self.clock.expired:
            enough = self._enough(len(kind.laws))
            worst = np.argsort(-kind.upper, kind="stable")[:size]
            worst = worst[kind.upper[worst] > enough]
            if not worst.size or not self._lower(kind, worst, enough):
                break
            self._tell("selections", kind.selections.record)

    def _lower(self, kind: _Kind, worst: Integers, enough: float) -> bool:
        """Try the own laws of the sets `worst`; whether any of their bounds fell."""
        before = kind.upper[worst]
        sets = kind.reduced.sets
        laws = _rounded((kind.pi[worst, None] @ self._rows[sets[worst]])[:, 0])
        upper = self._divergences(laws)[:, sets].max(axis=2)
        for law, bounds, j in zip(laws, upper, worst, strict=True):
            better = bounds < kind.upper
            if kind.upper[j] > enough and better[j] and self._room >= 1:
                kind.law_of[better], kind.upper[better] = len(kind.laws), bounds[better]
                kind.laws.append(law)
        return bool(np.any(kind.upper[worst] < before))

    @property
    def _room(self) -> float:
        """How many more laws a certificate should hold: there must be time left to check them, too."""
        return min(MOST // self._rows.shape[1], self.clock.remaining / self._law_seconds) - self._more_laws

    @property
    def _law_seconds(self) -> float:
        """What checking a law takes."""
        kept = KEPT * self.channel.size <= self.search.limits.least[1] - self.channel.nbytes
        once = (WORK if kept else ANEW) * self.channel.size + WEIGHT * self.channel.shape[1]
        return self.clock.pace * self.search.checks * once

    @property
    def _more_laws(self) -> int:
        """The laws besides the first ones, which are reckoned with."""
        return sum(len(kind.laws) - 1 for kind in self._kinds)

    def _enough(self, laws: int) -> float:
        """The upper bound at which a kind of record is done, which has so many laws already."""
        if self.gap >= 1.0:
            return np.inf
        return max(
            self.lower / (1.0 - 0.9 * self.gap) if laws > FREE else 0.0,
            self.lower + min(RESOLUTION, RELATIVE * self.lower),
        )

    def _divergences(self, laws: Floats) -> Floats:
        """D(row || law) of every law and every distinct row, (..., laws, rows), in nats."""
        laws = laws / laws.sum(axis=-1, keepdims=True)
        found = np.maximum(self._negentropy - np.log(laws) @ self._rows.T, 0.0)
        return np.maximum(relative_entropy(self._rows, laws[..., None, :]), 0.0) if found.max() < SMALL else found

    def _tell(self, stage: str, record: int | None, *, now: bool = False) -> None:
        laws = sum(len(kind.laws) for kind in self._kinds)
        self.clock.tell(stage, self.lower, self.upper, laws, record=record, now=now)


def _capacities(rows: Floats, clock: Clock) -> list[Capacity]:
    if len(rows) == 1:
        return [capacity(rows[0], gap=RESOLUTION, clock=clock)]
    return capacities(rows, gap=RESOLUTION, clock=clock)


def _rounded(law: Floats) -> Floats:
    return np.maximum(law.round(DECIMALS), LEAST)


def _section(kind: _Kind, laws: Sequence[Vector]) -> UpperProof:
    """The lines that bound every selection of one kind of record, with its laws as they are written."""
    if kind.by_letters:
        return (RecordLine(kind.selections.record), LettersLine())
    law_of = kind.law_of[kind.reduced.set_of]
    used = np.unique(law_of).tolist()
    lines = (LawOfSelections(tuple(np.flatnonzero(law_of == j).tolist()), laws[j]) for j in used)
    return (RecordLine(kind.selections.record), *lines)


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
