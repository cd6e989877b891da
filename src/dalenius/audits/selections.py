"""Independent records: the largest information of a record's law with the rows its letters select, over a convex set of laws.

*Why*: I(X_i; Y) is convex in the law of every other record, so the worst others are known, and X_i meets the channel of the rows
R(k_a), k_a the input of the dataset (a, z). *From below*: a law of the set. *From above*: for every selection an output law r, with
the largest mean over the set of D(R(k_a) || r) (docs/certificate-format.md). Only selections that some other law does not bound well
enough need their own.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dalenius.audits.audit import Exposure, RecordsAudit, UpperProof
from dalenius.audits.proof_lines import exact_text
from dalenius.errors import DaleniusError
from dalenius.evidence import vector_text
from dalenius.evidence.lower import InputLaw, Vector
from dalenius.evidence.upper import LawOfClass, LawOfSelections, LettersLine, ProofLine, RecordLine
from dalenius.information import relative_entropy, x_log_x
from dalenius.information.arrays import Floats, Integers
from dalenius.information.capacity import Capacity, capacities, capacity
from dalenius.information.measures import AllPriors, PriorClass
from dalenius.reduction import MAX_NUMBERS, RowSets, Selections, distinct_rows, record_selections
from dalenius.results import RecordProof
from dalenius.search import Clock

DECIMALS, LEAST = 18, 1e-20  # of an output law's weights: rounding costs less than 1e-13 nats, and no weight is zero
SMALL = 1e-6  # nats: smaller divergences are evaluated without cancellation

Line = Callable[[tuple[int, ...]], ProofLine]  # from the selections that it is about


@dataclass
class Kind:
    """One kind of record: its selections as different tuples of rows, one a letter, and what is known about each.

    Attributes
    ----------
    rows : (tuples, letters)
        What each letter selects; in ascending order where the set of laws does not tell letters apart.
    of : (selections,)
        The tuple of each selection.
    bounds, attained : (tuples,)
        In nats.
    laws : (tuples, letters)
        The best law found; uniform before.
    priors : how a certificate writes it for a selection, by tuple; None where it cannot be written
    lines, line_of : output laws, and which of them proves the bound of each tuple
    """

    selections: Selections
    rows: Integers
    of: Integers
    bounds: Floats
    lines: list[Line]
    priors: dict[int, Callable[[int], InputLaw] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.attained, self.laws = np.zeros(len(self.rows)), np.full(self.rows.shape, 1.0 / self.selections.letters)
        self.line_of = np.zeros(len(self.rows), dtype=np.int64)

    @property
    def record(self) -> int:
        return self.selections.record

    @property
    def lower(self) -> float:
        return float(self.attained.max())

    @property
    def upper(self) -> float:
        """That of the laws, or all there is to know."""
        return min(float(self.bounds.max()), math.log(self.selections.letters))

    @property
    def by_letters(self) -> bool:
        """True if the laws say no more than that."""
        return bool(self.bounds.max() > self.upper)

    @property
    def section(self) -> UpperProof:
        """The lines that bound every selection."""
        if self.by_letters:
            return RecordLine(self.record), LettersLine()
        line_of = self.line_of[self.of]
        used = np.unique(line_of).tolist()
        return RecordLine(self.record), *(self.lines[j](tuple(np.flatnonzero(line_of == j).tolist())) for j in used)

    @property
    def record_proof(self) -> RecordProof:
        method, count = ("letters", 1) if self.by_letters else ("selections", len(np.unique(self.line_of)))
        return RecordProof(self.record, self.selections.times, method, count)


@dataclass
class SelectionAudit(RecordsAudit[Kind]):
    """A running audit against independent records, each of a law of a convex set: any law, or a class."""

    def __post_init__(self) -> None:
        laws = self.problem.adversary.record_laws
        assert laws is not None
        self.priors: PriorClass = laws
        self.of_class = not isinstance(laws, AllPriors)
        self.selections = record_selections(self.problem)
        self._know()

    def run(self) -> None:
        """One law for all selections, then what the set's own search makes of those that it does not settle."""
        self.records = self.begun()
        self._search()
        self.report("proving", now=True)

    @abstractmethod
    def _search(self) -> None:
        """Laws of the set, and output laws, where bounds are above what is attained, the most promising first."""

    def exposure(self, slack: float) -> Exposure | None:
        kind = self.best
        if kind is None or kind.lower <= 0.0:
            return None
        selection, law, prior = self._witness(kind, int(np.argmax(kind.attained)))
        if prior is None:
            return None
        return Exposure(kind.record, kind.lower, kind.selections.lift(selection, law), prior)

    def _witness(self, kind: Kind, j: int) -> tuple[int, Floats, InputLaw | None]:
        """A selection that has a tuple, with the best law found on its letters, and how a certificate writes both."""
        selection, prior = int(np.argmax(kind.of == j)), kind.priors[j]
        return selection, kind.laws[j], None if prior is None else prior(selection)

    def begun(self) -> list[Kind]:
        """One law for all selections of a kind, or the entropy of its letters."""
        return [self._start(selections) for selections in self.selections]

    def _start(self, selections: Selections) -> Kind:
        """Every selection bounded by one law."""
        rows, of = self._tuples(selections)
        divergences, line = self._common(selections, rows)
        upper = divergences[rows[:, self.priors.support(selections.letters)]].max(axis=1)
        return Kind(selections, rows, of, upper, [line])

    @property
    def pieces(self) -> int:
        return sum(len(kind.lines) for kind in self.records)

    # ------------------------------------------------------------ what depends on how the channel is known

    def _know(self) -> None:
        """The channel's distinct rows."""
        self._rows, self._row_of_input = distinct_rows(self.problem.channel)
        self._negentropy = x_log_x(self._rows).sum(axis=1)

    def _tuples(self, selections: Selections) -> tuple[Integers, Integers]:
        """Different tuples of rows, and which of them each selection has."""
        return different(self._row_of_input[selections.inputs])

    def _common(self, selections: Selections, rows: Integers) -> tuple[Floats, Line]:
        """Divergences from one law, the average of all rows that occur, and its line; one row is its own, at distance 0 exactly."""
        if selections.letters * self._rows.shape[1] > MAX_NUMBERS:
            raise DaleniusError(
                f"nothing can be proved about this model: record {selections.record} has more than {MAX_NUMBERS} pairs of a letter "
                "and an output (docs/certificate-format.md)"
            )
        if (row := self.problem.constant_row) is not None:
            return np.zeros(len(self._rows)), self._line(exact_text(row))
        law = rounded(self._rows[np.unique(rows)].mean(axis=0))
        return self._divergences(law), self._line(vector_text(law))

    def _divergences(self, laws: Floats) -> Floats:
        """D(row || law) of every law and every distinct row, (..., laws, rows), in nats."""
        laws = laws / laws.sum(axis=-1, keepdims=True)
        found = np.maximum(self._negentropy - np.log(laws) @ self._rows.T, 0.0)
        return np.maximum(relative_entropy(self._rows, laws[..., None, :]), 0.0) if found.max() < SMALL else found

    def _line(self, law: Vector, multipliers: Vector | None = None) -> Line:
        if self.of_class:
            return lambda selections: LawOfClass(selections, law, multipliers)
        return lambda selections: LawOfSelections(selections, law)


def different(rows: Integers) -> tuple[Integers, Integers]:
    """Different ones of some tuples, and which each is."""
    tuples, of = np.unique(rows, axis=0, return_inverse=True)
    return tuples, of.reshape(-1)


def rounded(law: Floats) -> Floats:
    """The weights of an output law as they are written."""
    return np.maximum(law.round(DECIMALS), LEAST)


# Independent records of any law, exactly, by capacities in batches.


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
        for kind in sorted(self.records, key=lambda kind: -float(kind.bounds.max())):
            self._attain(kind, search)
        for kind in sorted(self.records, key=lambda kind: -kind.lower):
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
        order = np.argsort(-kind.bounds, kind="stable")
        size = max(BATCH // (kind.selections.letters * self._rows.shape[1]), 1)
        for batch in np.split(order, range(size, len(order), size)):
            batch = batch[kind.bounds[batch] > self.lower]
            if clock.expired or not batch.size:
                break
            for j, answer in zip(batch, _capacities(self._rows[kind.rows[batch]], clock), strict=True):
                kind.laws[j], kind.attained[j] = answer.input_law, answer.lower
            self.report("selections", kind.selections.record)

    def _cover(self, kind: Kind) -> None:
        """Give selections their own laws, those with the largest bounds first, and every law to all that are better off with it."""
        numbers = max(kind.rows.size, kind.selections.letters * self._rows.shape[1])
        size = min(max(BATCH // numbers, 1), 64)
        while not self.clock.expired:
            enough = self._enough(len(kind.lines))
            worst = np.argsort(-kind.bounds, kind="stable")[:size]
            worst = worst[kind.bounds[worst] > enough]
            if not worst.size or not self._lower(kind, worst, enough):
                break
            self.report("selections", kind.selections.record)

    def _lower(self, kind: Kind, worst: Integers, enough: float) -> bool:
        """Try the own laws of the sets `worst`; whether any of their bounds fell."""
        before = kind.bounds[worst]
        sets = kind.rows
        laws = rounded((kind.laws[worst, None] @ self._rows[sets[worst]])[:, 0])
        upper = self._divergences(laws)[:, sets].max(axis=2)
        for law, bounds, j in zip(laws, upper, worst, strict=True):
            better = bounds < kind.bounds
            if kind.bounds[j] > enough and better[j] and self._room >= 1:
                kind.line_of[better], kind.bounds[better] = len(kind.lines), bounds[better]
                kind.lines.append(self._line(vector_text(law)))
        return bool(np.any(kind.bounds[worst] < before))

    @property
    def _room(self) -> float:
        """Number of laws that a certificate may still get: there must be time left to check them, too."""
        return min(MOST // self._rows.shape[1], self.clock.remaining / self._law_seconds) - self._more_laws

    @property
    def _law_seconds(self) -> float:
        """Seconds that checking a law takes."""
        channel = self.problem.channel
        kept = KEPT * channel.size <= self.search.limits.least[1] - channel.nbytes
        once = (WORK if kept else ANEW) * channel.size + WEIGHT * channel.shape[1]
        return self.clock.pace * self.search.checks * once

    @property
    def _more_laws(self) -> int:
        """The laws besides the first ones, which are reckoned with."""
        return sum(len(kind.lines) - 1 for kind in self.records)

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
